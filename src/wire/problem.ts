// Problems (RFC 9457): the body of every answer that refuses or fails, and the problems that many routes share.
import { type Static, Type } from '@sinclair/typebox'
import { Problem, type ProblemCode, problemTable } from '../problem.ts'
import { choice } from './shapes.ts'

export const Fault = Type.Object({
  pointer: Type.String({ description: 'JSON pointer into the body, or `/name` of a query parameter.' }),
  detail: Type.String(),
})
export type Fault = Static<typeof Fault>

export const ProblemBody = Type.Object(
  {
    type: Type.String({ format: 'uri' }),
    title: Type.String(),
    status: Type.Integer(),
    code: choice(Object.keys(problemTable) as ProblemCode[]),
    detail: Type.String(),
    errors: Type.Optional(Type.Array(Fault)),
    items: Type.Optional(
      Type.Array(Type.Object({}), {
        description: 'Of a batch of which no event was accepted: the problem of each, in order.',
      }),
    ),
  },
  { description: 'A problem (RFC 9457). `code` is permanent; `errors` names every fault with a JSON pointer.' },
)
export type ProblemBody = Static<typeof ProblemBody>

/** With a parameter that most questions have. */
export const QUESTION_INVALID = new Problem('question_invalid', 'The parameters of the question are incorrect.', {
  errors: [
    {
      pointer: '/from',
      detail: 'must be an RFC 3339 time, a time ago such as -90m or now-1h, or milliseconds since the epoch',
    },
  ],
})

export const QUESTION_TOO_LARGE = new Problem(
  'question_too_large',
  'The question would read 3,120,000 marks; at most 2,000,000 are possible. ' +
    'Ask for a shorter range or for one process.',
)

/** Problems of a route for people without a session. */
export const STRANGER_PROBLEMS = ['cross_site', 'rate_limited', 'internal', 'store_unavailable'] as const

/** Problems of a route that takes a JSON body. */
export const BODY_PROBLEMS = ['body_too_large', 'content_type_unsupported', 'json_malformed', 'fields_invalid'] as const

/** Problems of a route that puts events on the disk. */
export const DURABLE_PROBLEMS = [
  'quota_spent',
  'rate_limited',
  'internal',
  'disk_failed',
  'busy',
  'spool_full',
  'disk_low',
  'stopping',
] as const

/** Problems of any other route that writes to the disk. */
export const WRITE_PROBLEMS = ['disk_failed', 'disk_low'] as const
