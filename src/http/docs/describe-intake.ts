// What /swagger/json says of the four calls: every status they can answer with, each with an example.
import type { DocumentDecoration } from 'elysia'
import type { EventKind } from '../../event/event.ts'
import { Problem } from '../../problem.ts'
import { bodyTooLarge, MAX_BODY_BYTES } from '../intake/read-body.ts'
import type { DescribedRequest } from './correct-openapi.ts'
import { jsonAnswer, problemAnswers, type Schema } from './describe-answers.ts'

interface Call {
  readonly summary: string
  readonly description: string
  /** Bodies to try, by what they show. */
  readonly examples: NonNullable<DescribedRequest['examples']>
  readonly fault: { readonly pointer: string; readonly detail: string }
}

const MARK = { process: 'nightly import', meta: 'region eu', uid: '3f2a9c1e-1b2c-4d5e-8f90-123456789abc' }
const MARKS = { 'with all fields': { value: MARK }, 'the least': { value: { process: 'nightly import' } } }

const CALLS: Readonly<Record<EventKind, Call>> = {
  start: {
    summary: 'Start a timed process',
    description: 'Call it when the process begins, and `/v1/end` with the same fields when it finishes.',
    examples: MARKS,
    fault: { pointer: '/uid', detail: 'may only hold a-z, 0-9, - and _' },
  },
  end: {
    summary: 'End a timed process',
    description: 'Belongs to the start immediately before it of the same process, meta and uid.',
    examples: MARKS,
    fault: { pointer: '/process', detail: 'is required' },
  },
  metrics: {
    summary: 'Send metrics',
    description: 'One to fifty named numbers, as an object or as a list.',
    examples: {
      'an object': { value: { process: 'nightly import', items: { rows: 120412, seconds: 12.5 } } },
      'a list': { value: { process: 'nightly import', items: [{ name: 'rows', value: 120412 }, { seconds: 12.5 }] } },
    },
    fault: { pointer: '/items/rows', detail: 'must be a finite number' },
  },
  exception: {
    summary: 'Send an exception',
    description: 'Any text, as a rule the message with its stack trace.',
    examples: {
      'with a stack trace': {
        value: { process: 'nightly import', exception: 'Error: connection reset\n    at load (import.ts:12:9)' },
      },
    },
    fault: { pointer: '/exception', detail: 'is required' },
  },
}

const STAMP: Schema = {
  type: 'object',
  properties: {
    at: {
      type: 'string',
      format: 'date-time',
      description: "The event's stamp: its time and its identity, nine digits.",
    },
  },
  required: ['at'],
  additionalProperties: false,
}

const refusals = (kind: EventKind, fault: Call['fault']) => [
  'key_invalid' as const,
  'scope_missing' as const,
  bodyTooLarge(MAX_BODY_BYTES),
  new Problem('content_type_unsupported', 'The body is of a type that is not accepted.', {
    errors: [{ pointer: '', detail: 'must be application/json, in UTF-8' }],
  }),
  new Problem('json_malformed', 'The body could not be read as JSON.', {
    errors: [{ pointer: '', detail: 'is not valid JSON' }],
  }),
  new Problem('fields_invalid', 'The body has a fault.', { errors: [fault] }),
  ...(kind === 'exception' ? [] : ['series_budget_spent' as const]),
  'rate_limited' as const,
  'internal' as const,
  'disk_failed' as const,
  'busy' as const,
  'spool_full' as const,
  'disk_low' as const,
]

export function describeIntake(kind: EventKind): DocumentDecoration {
  const { summary, description, examples, fault } = CALLS[kind]
  return {
    tags: ['events'],
    summary,
    description,
    security: [{ apiKey: [] }],
    'x-request': { 'application/json': { examples } } satisfies Record<string, DescribedRequest>,
    responses: {
      201: jsonAnswer("The event is on this machine's disk", STAMP, { at: '2026-11-20T21:52:42.171920000Z' }),
      ...problemAnswers(...refusals(kind, fault)),
    },
  } as DocumentDecoration
}
