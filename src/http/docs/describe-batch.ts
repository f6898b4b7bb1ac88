// What /swagger/json says of POST /v1/batch.
import type { TObject } from '@sinclair/typebox'
import type { DocumentDecoration } from 'elysia'
import { EVENT_KINDS, type EventKind } from '../../event/event.ts'
import { Problem } from '../../problem.ts'
import { withKind } from '../intake/body-fields.ts'
import { JSON_LINES, MAX_BATCH_BYTES, MAX_BATCH_EVENTS } from '../intake/read-batch.ts'
import { bodyTooLarge } from '../intake/read-body.ts'
import type { DescribedRequest } from './correct-openapi.ts'
import { type Answer, problemAnswers, type Schema } from './describe-answers.ts'

const EXAMPLE = [
  { kind: 'start', process: 'nightly import', meta: 'region eu' },
  { kind: 'metrics', process: 'nightly import', items: { rows: 120412 } },
]
const AT = '2026-11-20T21:52:42.171920000Z'
const REFUSED_ITEM = {
  status: 422,
  code: 'fields_invalid',
  detail: 'The event is not right.',
  errors: [{ pointer: '/1/items/rows', detail: 'must be a finite number' }],
}

const ANSWER: Schema = {
  type: 'object',
  properties: {
    accepted: { type: 'integer', minimum: 1 },
    refused: { type: 'integer', minimum: 0 },
    items: {
      type: 'array',
      description: 'One answer an event, in their order: its stamp, or the problem with it.',
      items: {
        anyOf: [
          { type: 'object', properties: { at: { type: 'string', format: 'date-time' } }, required: ['at'] },
          {
            type: 'object',
            properties: {
              status: { type: 'integer' },
              code: { type: 'string' },
              detail: { type: 'string' },
              errors: { type: 'array', items: { type: 'object' } },
            },
            required: ['status', 'code', 'detail'],
          },
        ],
      },
    },
  },
  required: ['accepted', 'refused', 'items'],
}

const answer = (description: string, example: unknown): Answer => ({
  description,
  content: { 'application/json': { schema: ANSWER, example } },
})

export function describeBatch(schemas: Readonly<Record<EventKind, TObject>>): DocumentDecoration {
  const event = { anyOf: EVENT_KINDS.map((kind) => withKind(kind, schemas[kind])) }
  return {
    tags: ['events'],
    summary: 'Send many events at once',
    description:
      `A JSON array of at most ${MAX_BATCH_EVENTS} events, or JSON lines, plain or with content-encoding gzip or zstd; ` +
      `at most ${MAX_BATCH_BYTES} bytes, unpacked too. Each event has its \`kind\` and the fields of that kind's own call. ` +
      'The good ones are accepted whatever the others are.',
    security: [{ apiKey: [] }],
    'x-request': {
      'application/json': {
        schema: { type: 'array', minItems: 1, maxItems: MAX_BATCH_EVENTS, items: event },
        examples: { 'two events': { value: EXAMPLE } },
      },
      [JSON_LINES]: {
        schema: { type: 'string', minLength: 1, description: 'One event a line.' },
        examples: { 'two events': { value: EXAMPLE.map((one) => JSON.stringify(one)).join('\n') } },
      },
    } satisfies Record<string, DescribedRequest>,
    responses: {
      201: answer('All events are on disk', { accepted: 2, refused: 0, items: [{ at: AT }, { at: AT }] }),
      207: answer('Some events are on disk, the others are named', {
        accepted: 1,
        refused: 1,
        items: [{ at: AT }, REFUSED_ITEM],
      }),
      ...problemAnswers(
        'key_invalid',
        'scope_missing',
        bodyTooLarge(MAX_BATCH_BYTES),
        'content_type_unsupported',
        'json_malformed',
        new Problem('fields_invalid', 'No event of the batch could be taken.', {
          errors: [{ pointer: '/0/process', detail: 'is required' }],
        }),
        'series_budget_spent',
        'rate_limited',
        'internal',
        'disk_failed',
        'busy',
        'spool_full',
        'disk_low',
      ),
    },
  } as DocumentDecoration
}
