// Metrics, as sent or aggregated by interval.
import { type Static, Type } from '@sinclair/typebox'
import { defineRoute, json, REPEATED_QUESTION } from './route.ts'
import { Count, orNull, ProcessName, pageOf, Text, Time } from './shapes.ts'

export const MetricPoint = Type.Object({
  at: Time,
  process: ProcessName,
  meta: orNull(Type.String()),
  uid: orNull(Type.String({ description: 'Of the run that sent it.' }), '3f2a9c1e'),
  name: Text('rows'),
  value: Type.Number({ examples: [120412] }),
})
export type MetricPoint = Static<typeof MetricPoint>

/** Figures of one bucket. A sum or mean beyond the largest double is null. */
export const MetricRow = Type.Object({
  at: Time,
  process: Type.String(),
  meta: Type.Optional(orNull(Type.String())),
  name: Type.String(),
  count: Count,
  mean: orNull(Type.Number()),
  min: Type.Number(),
  max: Type.Number(),
  sum: orNull(Type.Number()),
  last: Type.Number(),
})
export type MetricRow = Static<typeof MetricRow>

const MetricAnswer = Type.Union([pageOf('points', MetricPoint), Type.Object({ rows: Type.Array(MetricRow) })])

export const FIND_METRICS = defineRoute('GET /api/metrics', {
  ...REPEATED_QUESTION,
  summary: 'List metrics, as sent or aggregated by interval',
  description:
    'Without `every`: `points`, newest first, and `next`. With `every`: `rows`, oldest first, one per process, ' +
    'name and bucket, with `by=meta` also per meta; `limit` and `cursor` cannot be combined with it.',
  parameters: ['from', 'to', 'process', 'meta', 'uid', 'name', 'by', 'every', 'tz', 'limit', 'cursor'],
  answers: { 200: json('The metrics', MetricAnswer) },
})
