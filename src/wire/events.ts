// The four calls and the batch: what callers send and what they get.
import { type Static, type TProperties, Type } from '@sinclair/typebox'
import { destinationOf, type EndText, pathOf, SENT_KINDS, type SentKind } from '../event/event.ts'
import { LIMITS } from '../event/fields.ts'
import { invalidBody, Problem } from '../problem.ts'
import { DURABLE_PROBLEMS, Fault } from './problem.ts'
import { defineRoute, json } from './route.ts'
import { closed, Time } from './shapes.ts'

export const MAX_BODY_BYTES = 256 * 1024
export const MAX_BATCH_BYTES = 4 * 2 ** 20
export const MAX_BATCH_EVENTS = 1000
export const JSON_LINES = 'application/x-ndjson'

const Common = {
  process: Type.String({
    minLength: 1,
    maxLength: LIMITS.process,
    pattern: '[^\'"%\\\\\\u0000-\\u001f\\u007f]',
    description: 'Process name. The characters \' " % and control characters are stripped.',
    examples: ['nightly import'],
  }),
  meta: Type.Optional(
    Type.String({
      maxLength: LIMITS.meta,
      description: 'Details about the process. Stripped like process; an empty meta equals none.',
      examples: ['region eu'],
    }),
  ),
  uid: Type.Optional(
    Type.String({
      maxLength: LIMITS.uid,
      pattern: '^[a-z0-9_-]*$',
      description: 'Identifies the run among those with the same process and meta. Empty equals none.',
      examples: ['3f2a9c1e-1b2c-4d5e-8f90-123456789abc'],
    }),
  ),
  at: Type.Optional(
    Type.String({
      format: 'date-time',
      description:
        "The event's own time (RFC 3339), for events that are sent late. Sending it again is safe: it is stored once.",
    }),
  ),
}

const MetricName = Type.String({
  minLength: 1,
  maxLength: LIMITS.name,
  pattern: '^[^\'"%\\u0000-\\u001f\\u007f]*[^\'"%\\u0000-\\u001f\\u007f\\\\]$',
})

const Numbers = (options: object) => Type.Record(Type.String(), Type.Number(), options)

export const Items = Type.Union(
  [
    Numbers({ minProperties: 1, maxProperties: LIMITS.items }),
    Type.Array(
      Type.Union([closed({ name: MetricName, value: Type.Number() }), Numbers({ minProperties: 1, maxProperties: 1 })]),
      { minItems: 1, maxItems: LIMITS.items, uniqueItems: true },
    ),
  ],
  {
    description: 'Named numbers: an object, or a list of metrics. Names must not contain \' " or %.',
    examples: [{ rows: 120412, seconds: 12.5 }],
  },
)

const EndTexts = {
  output: Type.Optional(
    Type.String({
      maxLength: LIMITS.output,
      description: 'What the run has said, usually the end of it. It may hold secrets. Empty equals none.',
      examples: ['120412 rows imported, 3 skipped'],
    }),
  ),
} as const satisfies Record<EndText, unknown>

export const EVENT_BODIES = {
  start: closed(Common),
  end: closed({
    ...Common,
    failed: Type.Optional(Type.Boolean({ description: 'true: this run failed. Absent equals false.' })),
    ...EndTexts,
  }),
  metrics: closed({ ...Common, items: Items }),
  exception: closed({
    ...Common,
    exception: Type.String({
      maxLength: LIMITS.exception,
      description: 'The text of the exception, with its stack trace if there is one.',
      examples: ['Error: connection reset\n    at load (import.ts:12:9)'],
    }),
  }),
} as const satisfies Record<SentKind, unknown>

export const Created = closed({ at: Time })

const AT = '2026-11-20T21:52:42.171920000Z'
const MARK = { process: 'nightly import', meta: 'region eu', uid: '3f2a9c1e-1b2c-4d5e-8f90-123456789abc' }

export const bodyTooLarge = (maxBytes: number) =>
  new Problem('body_too_large', `A body has at most ${maxBytes} bytes, after decompression too; send less at once.`)

function eventRoute<K extends SentKind>(
  kind: K,
  words: {
    summary: string
    description: string
    examples: Readonly<Record<string, { readonly value: Static<(typeof EVENT_BODIES)[K]> }>>
    fault: Fault
  },
) {
  return defineRoute(`POST ${pathOf(kind)}`, {
    tag: 'events',
    access: 'send',
    summary: words.summary,
    description: words.description,
    body: { 'application/json': { schema: EVENT_BODIES[kind], examples: words.examples } },
    answers: { 201: json("The event is on this machine's disk; `at` is its time", Created, { at: AT }) },
    problems: [
      'key_invalid',
      'scope_missing',
      'account_suspended',
      bodyTooLarge(MAX_BODY_BYTES),
      new Problem('content_type_unsupported', 'The content type of the body is not supported.', {
        errors: [{ pointer: '', detail: 'must be application/json, in UTF-8' }],
      }),
      new Problem('json_malformed', 'The body could not be read as JSON.', {
        errors: [{ pointer: '', detail: 'is not valid JSON' }],
      }),
      invalidBody([words.fault]),
      ...(destinationOf(kind) === 'points' ? (['series_budget_spent'] as const) : []),
      ...DURABLE_PROBLEMS,
    ],
  })
}

const MARK_EXAMPLES = { 'all fields': { value: MARK }, 'required fields only': { value: { process: MARK.process } } }

export const EVENT_ROUTES = {
  start: eventRoute('start', {
    summary: 'Start a timed process',
    description: 'Call it when the process begins, and `/v1/end` with the same fields when it finishes.',
    examples: MARK_EXAMPLES,
    fault: { pointer: '/uid', detail: 'may only hold a-z, 0-9, - and _' },
  }),
  end: eventRoute('end', {
    summary: 'End a timed process',
    description: 'Ends the run that the start immediately before it began, with the same process, meta and uid.',
    examples: MARK_EXAMPLES,
    fault: { pointer: '/process', detail: 'is required' },
  }),
  metrics: eventRoute('metrics', {
    summary: 'Send metrics',
    description: 'One to fifty named numbers, as an object or as a list.',
    examples: {
      'an object': { value: { process: 'nightly import', items: { rows: 120412, seconds: 12.5 } } },
      'a list': { value: { process: 'nightly import', items: [{ name: 'rows', value: 120412 }, { seconds: 12.5 }] } },
    },
    fault: { pointer: '/items/rows', detail: 'must be a finite number' },
  }),
  exception: eventRoute('exception', {
    summary: 'Send an exception',
    description: 'Any text, usually the message with its stack trace.',
    examples: {
      'with a stack trace': {
        value: { process: 'nightly import', exception: 'Error: connection reset\n    at load (import.ts:12:9)' },
      },
    },
    fault: { pointer: '/exception', detail: 'is required' },
  }),
}

const withKind = <P extends TProperties>(kind: SentKind, properties: P) =>
  closed({ kind: Type.Literal(kind), ...properties })

const BatchBody = Type.Array(Type.Union(SENT_KINDS.map((kind) => withKind(kind, EVENT_BODIES[kind].properties))), {
  minItems: 1,
  maxItems: MAX_BATCH_EVENTS,
})

const RefusedItem = Type.Object({
  status: Type.Integer(),
  code: Type.String(),
  detail: Type.String(),
  errors: Type.Optional(Type.Array(Fault)),
})

const BatchAnswer = Type.Object({
  accepted: Type.Integer({ minimum: 1 }),
  refused: Type.Integer({ minimum: 0 }),
  items: Type.Array(Type.Union([Type.Object({ at: Time }), RefusedItem]), {
    description: 'One answer per event, in order: its time, or the problem with it.',
  }),
})

const TWO_EVENTS = [
  { kind: 'start', process: 'nightly import', meta: 'region eu' },
  { kind: 'metrics', process: 'nightly import', items: { rows: 120412 } },
]

export const SEND_BATCH = defineRoute('POST /v1/batch', {
  tag: 'events',
  access: 'send',
  summary: 'Send many events at once',
  description:
    `A JSON array of at most ${MAX_BATCH_EVENTS} events, or JSON lines, plain or with content-encoding gzip or zstd; ` +
    `at most ${MAX_BATCH_BYTES} bytes, before and after decompression. Each event has its \`kind\` and the ` +
    `fields of that kind's own call. ` +
    'Valid events are accepted even if others are refused.',
  body: {
    'application/json': { schema: BatchBody, examples: { 'two events': { value: TWO_EVENTS } } },
    [JSON_LINES]: {
      schema: Type.String({ minLength: 1, description: 'One event per line.' }),
      examples: { 'two events': { value: TWO_EVENTS.map((event) => JSON.stringify(event)).join('\n') } },
    },
  },
  answers: {
    201: json('All events are on disk', BatchAnswer, { accepted: 2, refused: 0, items: [{ at: AT }, { at: AT }] }),
    207: json('Some events are on disk, the others are named', BatchAnswer, {
      accepted: 1,
      refused: 1,
      items: [
        { at: AT },
        {
          status: 422,
          code: 'fields_invalid',
          detail: 'The event is invalid.',
          errors: [{ pointer: '/1/items/rows', detail: 'must be a finite number' }],
        },
      ],
    }),
  },
  problems: [
    'key_invalid',
    'scope_missing',
    'account_suspended',
    bodyTooLarge(MAX_BATCH_BYTES),
    'content_type_unsupported',
    'json_malformed',
    new Problem('fields_invalid', 'No event of the batch was accepted.', {
      errors: [{ pointer: '/0/process', detail: 'is required' }],
    }),
    'series_budget_spent',
    ...DURABLE_PROBLEMS,
  ],
})
