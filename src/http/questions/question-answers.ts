// The answers of the questions as /swagger/json describes them, each with an example; a test holds real answers against the schemas.
import type { QuestionKind } from '../../query/question.ts'
import type { Schema } from '../docs/describe-answers.ts'

const text: Schema = { type: 'string' }
const time: Schema = { type: 'string', format: 'date-time', description: 'RFC 3339, nine digits of a second.' }
const number: Schema = { type: 'number' }
const count: Schema = { type: 'integer' }
const orNull = (schema: Schema): Schema => ({ ...schema, nullable: true })
const list = (items: Schema): Schema => ({ type: 'array', items })
const object = (properties: Record<string, Schema>, optional: readonly string[] = []): Schema => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
})
const page = (name: string, item: Schema) =>
  object({ [name]: list(item), next: orNull({ ...text, description: 'The `cursor` of the next page.' }) })

const timing = object({
  process: text,
  meta: orNull(text),
  uid: orNull(text),
  state: { ...text, enum: ['completed', 'running', 'abandoned', 'orphan'] },
  started_at: orNull(time),
  ended_at: orNull(time),
  duration_ms: orNull(number),
})
const aTiming = {
  process: 'nightly import',
  meta: 'region eu',
  uid: '3f2a9c1e',
  state: 'completed',
  started_at: '2026-11-20T21:52:42.171920000Z',
  ended_at: '2026-11-20T21:53:02.421120000Z',
  duration_ms: 20249.2,
}

interface Answer {
  readonly summary: string
  readonly description: string
  readonly schema: Schema
  readonly example: unknown
}

export const ANSWERS: Readonly<Record<QuestionKind, Answer>> = {
  timings: {
    summary: 'Timings: each start with its end',
    description:
      'Newest first by first mark. A timing is in the range when any part of its run is; a running one reaches to now, an abandoned start and an orphan end count at their mark.',
    schema: page('timings', timing),
    example: {
      timings: [aTiming],
      next: null,
    },
  },
  latest: {
    summary: 'The newest timings of each process',
    description:
      'At most `each` timings per process, newest first by first mark, and at most 10,000 in all: `cut` says whether older ones were left out.',
    schema: object({ timings: list(timing), cut: { type: 'boolean' } }),
    example: { timings: [aTiming], cut: false },
  },
  summary: {
    summary: 'Counts, mean and percentiles of timings',
    description:
      '`count` and the figures are of completed timings. One row a process; `by=meta` splits it; with `every` one row also a bucket, which counts what was settled in it: a completed timing at its end, any other at its mark.',
    schema: object({
      rows: list(
        object(
          {
            process: text,
            meta: orNull(text),
            at: time,
            count,
            mean_ms: orNull(number),
            p50_ms: orNull(number),
            p95_ms: orNull(number),
            p99_ms: orNull(number),
            max_ms: orNull(number),
            running: count,
            abandoned: count,
            orphan: count,
          },
          ['meta', 'at'],
        ),
      ),
    }),
    example: {
      rows: [
        {
          process: 'nightly import',
          count: 3,
          mean_ms: 20,
          p50_ms: 20,
          p95_ms: 29,
          p99_ms: 29.8,
          max_ms: 30,
          running: 1,
          abandoned: 0,
          orphan: 0,
        },
      ],
    },
  },
  metrics: {
    summary: 'Metrics, as sent or aggregated by interval',
    description:
      'Without `every`: `points`, newest first, and `next`. With `every`: `rows`, oldest first, one a process, name and bucket; `limit` and `cursor` do not go with it.',
    schema: {
      oneOf: [
        page('points', object({ at: time, process: text, meta: orNull(text), name: text, value: number })),
        object({
          rows: list(
            object({
              at: time,
              process: text,
              name: text,
              count,
              mean: orNull(number), // of numbers near the largest there is, sum and mean are beyond it
              min: number,
              max: number,
              sum: orNull(number),
              last: number,
            }),
          ),
        }),
      ],
    },
    example: {
      points: [
        { at: '2026-11-20T21:52:42.171920000Z', process: 'nightly import', meta: null, name: 'rows', value: 120412 },
      ],
      next: null,
    },
  },
  exceptions: {
    summary: 'Exceptions',
    description: 'Newest first.',
    schema: page(
      'exceptions',
      object({ at: time, process: text, meta: orNull(text), exception: text, fingerprint: text }),
    ),
    example: {
      exceptions: [
        {
          at: '2026-11-20T21:52:42.171920000Z',
          process: 'nightly import',
          meta: null,
          exception: 'Error: connection reset\n    at load (import.ts:12:9)',
          fingerprint: 'v1:5f0c1e2d3b4a6978',
        },
      ],
      next: null,
    },
  },
  groups: {
    summary: 'Exceptions grouped by fingerprint',
    description:
      'Most recent first; `example` is the newest text. With `every` also `counts`, oldest bucket first and without empty ones; with `fingerprint` also `normalized`: what the fingerprint is made of.',
    schema: object({
      groups: list(
        object(
          {
            fingerprint: text,
            process: text,
            count,
            first_at: time,
            last_at: time,
            example: text,
            counts: list(object({ at: time, count })),
            normalized: text,
          },
          ['counts', 'normalized'],
        ),
      ),
    }),
    example: {
      groups: [
        {
          fingerprint: 'v1:5f0c1e2d3b4a6978',
          process: 'nightly import',
          count: 12,
          first_at: '2026-11-20T20:10:00.000000000Z',
          last_at: '2026-11-20T21:52:42.171920000Z',
          example: 'Error: connection reset\n    at load (import.ts:12:9)',
        },
      ],
    },
  },
  processes: {
    summary: 'Processes that sent anything',
    description: 'Most recent first. `metas` is in order and holds at most 100; null stands for events without one.',
    schema: object({
      processes: list(
        object({
          process: text,
          metas: list(orNull(text)),
          last_at: time,
          kinds: list({ type: 'string', enum: ['mark', 'metric', 'exception'] }),
        }),
      ),
    }),
    example: {
      processes: [
        {
          process: 'nightly import',
          metas: [null, 'region eu'],
          last_at: '2026-11-20T21:52:42.171920000Z',
          kinds: ['mark', 'exception'],
        },
      ],
    },
  },
  series: {
    summary: 'The budget of series',
    description:
      'How many distinct (process, meta, metric name) the account has used; a `max` of 0 means no limit. `warning`: 80 % or more are used; beyond the budget what would begin a new series is refused.',
    schema: object({ used: count, max: count, warning: { type: 'boolean' } }),
    example: { used: 42, max: 10000, warning: false },
  },
  dead: {
    summary: 'Dead letters',
    description: 'Events that their store will never take, with the reason, newest first; `event` is what was sent.',
    schema: page(
      'dead',
      object({
        id: text,
        kind: { type: 'string', enum: ['start', 'end', 'metrics', 'exception'] },
        process: text,
        meta: orNull(text),
        at: time,
        reason: text,
        buried_at: time,
        event: { type: 'object', additionalProperties: true },
      }),
    ),
    example: {
      dead: [
        {
          id: '17',
          kind: 'metrics',
          process: 'nightly import',
          meta: null,
          at: '2026-11-20T21:52:42.171920000Z',
          reason: 'field type conflict',
          buried_at: '2026-11-20T21:52:43.000000000Z',
          event: { process: 'nightly import', meta: null, items: { rows: 1 }, at: '2026-11-20T21:52:42.171920000Z' },
        },
      ],
      next: null,
    },
  },
}
