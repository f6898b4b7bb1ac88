// Protocols of others that Stint takes: OpenTelemetry's over HTTP (https://opentelemetry.io/docs/specs/otlp/), and
// pings.
import { Type } from '@sinclair/typebox'
import { MAX_BATCH_BYTES } from './events.ts'
import { DURABLE_PROBLEMS } from './problem.ts'
import { defineRoute, json, jsonBody } from './route.ts'

/** A ping's body is kept at its end only, so it may be longer than what is kept whole. */
export const MAX_PING_BYTES = 8 * 2 ** 20
export const PROTOBUF = 'application/x-protobuf'

const Answer = Type.Object({
  partialSuccess: Type.Optional(
    Type.Object({
      rejectedSpans: Type.Optional(Type.String()),
      rejectedLogRecords: Type.Optional(Type.String()),
      rejectedDataPoints: Type.Optional(Type.String()),
      errorMessage: Type.String(),
    }),
  ),
})

const describe = <const P extends `/${string}`>(
  path: P,
  summary: string,
  description: string,
  example: Record<string, unknown>,
) =>
  defineRoute(`POST ${path}` as const, {
    tag: 'events',
    access: 'send',
    summary,
    description:
      `${description} OTLP/HTTP in JSON or protobuf, plain or gzipped; at most ${MAX_BATCH_BYTES} bytes, before ` +
      'and after decompression. Of each item the first 1,000 attributes are read. A refusal of protobuf is a ' +
      'google.rpc.Status in protobuf, with the same status code.',
    body: {
      ...jsonBody(Type.Object({}, { additionalProperties: true }), example),
      [PROTOBUF]: { schema: Type.String({ format: 'binary' }) },
    },
    answers: { 200: json('Everything accepted is on disk; rejected items are counted', Answer, {}) },
    problems: [
      'key_invalid',
      'scope_missing',
      'account_suspended',
      'body_too_large',
      'content_type_unsupported',
      'otlp_malformed',
      'fields_invalid',
      ...DURABLE_PROBLEMS,
    ],
  })

export const EXPORT_TRACES = describe(
  '/otlp/v1/traces',
  'Take spans of OpenTelemetry as runs',
  'A root span, or one with the attribute `stint.process`, becomes a start and an end, its exceptions exceptions.',
  {
    resourceSpans: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: 'import' } }] },
        scopeSpans: [
          {
            spans: [
              {
                traceId: '5b8efff798038103d269b633813fc60c',
                spanId: 'eee19b7ec3c1b174',
                name: 'nightly',
                startTimeUnixNano: '1795302000000000000',
                endTimeUnixNano: '1795302060000000000',
                status: { code: 1 },
              },
            ],
          },
        ],
      },
    ],
  },
)

export const EXPORT_LOGS = describe(
  '/otlp/v1/logs',
  'Take log records of OpenTelemetry as exceptions',
  'Records from the severity ERROR on, or with attributes of an exception.',
  {
    resourceLogs: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: 'import' } }] },
        scopeLogs: [
          {
            logRecords: [
              { timeUnixNano: '1795302060000000000', severityNumber: 17, body: { stringValue: 'The feed is empty' } },
            ],
          },
        ],
      },
    ],
  },
)

export const EXPORT_METRICS = describe(
  '/otlp/v1/metrics',
  'Take gauges and sums of OpenTelemetry as metrics',
  'The attributes of a data point become part of its name.',
  {
    resourceMetrics: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: 'import' } }] },
        scopeMetrics: [
          {
            metrics: [
              { name: 'rows', gauge: { dataPoints: [{ timeUnixNano: '1795302060000000000', asDouble: 48210 }] } },
            ],
          },
        ],
      },
    ],
  },
)

// Ping addresses as Healthchecks has them (https://healthchecks.io/docs/http_api/): for cron lines and simple programs.
const PING_DESCRIPTION =
  'TOKEN is the secret of a key whose only scope is `ping`. A key of one process whose secret is a UUID has the ' +
  'addresses of Healthchecks instead: `/ping/UUID` or `/UUID`, with the same endings. Without more, or with the exit ' +
  'code 0: the run has ended; `/start`: it has begun; `/fail` or another exit code: it has failed, with the end of ' +
  'the body (15,000 characters) as exception; `/log`: a word in between. Of each body but that of a failed run the ' +
  'last 4 kB are kept as output of the run. `rid` tells overlapping runs apart. The parameters of Cronitor, Sentry, ' +
  'Dead Man’s Snitch, Uptime Kuma and Gatus are read, too; an unknown one, an unknown word and a contradiction are a ' +
  '422. A body may have 8 MiB.'

const describePing = <const M extends 'GET' | 'POST'>(method: M) =>
  defineRoute(`${method} /ping/*` as const, {
    tag: 'events',
    access: 'anyone',
    summary: '/ping/TOKEN/PROCESS[/start|/fail|/log|/EXIT_CODE][?rid=ID]',
    description: PING_DESCRIPTION,
    answers: { 200: { description: 'On disk', body: 'OK' } },
    problems: ['not_found', 'body_too_large', 'fields_invalid', 'series_budget_spent', ...DURABLE_PROBLEMS],
  })

export const PING_BY_GET = describePing('GET')
export const PING_BY_POST = describePing('POST')
