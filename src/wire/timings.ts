// Timings: each start with its end, and the figures over them.
import { type Static, Type } from '@sinclair/typebox'
import { defineRoute, json, REPEATED_QUESTION } from './route.ts'
import { Count, choice, orNull, ProcessName, pageOf, TIMING_STATES, Time } from './shapes.ts'

const Figure = orNull(Type.Number())

export const Timing = Type.Object({
  process: ProcessName,
  meta: orNull(Type.String(), 'region eu'),
  uid: orNull(Type.String(), '3f2a9c1e'),
  state: choice(TIMING_STATES),
  started_at: orNull(Time, '2026-11-20T21:52:42.171920000Z'),
  ended_at: orNull(Time, '2026-11-20T21:53:02.421120000Z'),
  duration_ms: orNull(Type.Number(), 20249.2),
  exceptions: orNull(
    Type.Integer({
      minimum: 0,
      description:
        'Exceptions between start and end (of a running timing: until now) that belong to this run or may belong ' +
        'to it; null for abandoned starts, for ends without start and uid, for orphan ends, and when unknown.',
    }),
    0,
  ),
  metrics: Type.Optional(
    Type.Record(Type.String(), Figure, {
      description:
        'With `metric`: the newest value of each, by the rule of `exceptions`; null if the run sent none, and ' +
        'when unknown.',
    }),
  ),
})
export type Timing = Static<typeof Timing>
export type TimingState = Timing['state']

export const TimingPage = pageOf('timings', Timing)
export type TimingPage = Static<typeof TimingPage>

const LatestTimings = Type.Object({ timings: Type.Array(Timing), cut: Type.Boolean() })

const Figures = Type.Object({
  count: Type.Integer({ minimum: 0, examples: [3] }),
  mean_ms: orNull(Type.Number(), 20),
  p50_ms: orNull(Type.Number(), 20),
  p95_ms: orNull(Type.Number(), 29),
  p99_ms: orNull(Type.Number(), 29.8),
  max_ms: orNull(Type.Number(), 30),
  percentiles: Type.Optional(
    Type.Record(Type.String(), Figure, { description: 'With `percentiles`: ms of each, by its text.' }),
  ),
  failed: Count,
  failure_rate: orNull(
    Type.Number({ minimum: 0, maximum: 1, description: 'The failed ones of all that ended; null without any.' }),
    0,
  ),
  running: Type.Integer({ minimum: 0, examples: [1] }),
  abandoned: Count,
  orphan: Count,
})
export type Figures = Static<typeof Figures>

export const SummaryRow = Type.Object({
  process: ProcessName,
  meta: Type.Optional(orNull(Type.String())),
  at: Type.Optional(Type.String({ format: 'date-time', description: 'With `every`: the start of the bucket.' })),
  at_once: Type.Optional(
    Type.Integer({ minimum: 1, description: 'With `every` and `as_of`: the most that ran at the same moment.' }),
  ),
  ...Figures.properties,
  before: Type.Optional(Figures),
})
export type SummaryRow = Static<typeof SummaryRow>

export const Summary = Type.Object({ rows: Type.Array(SummaryRow) })
export type Summary = Static<typeof Summary>

export const FIND_TIMINGS = defineRoute('GET /api/timings', {
  ...REPEATED_QUESTION,
  summary: 'List timings: each start with its end',
  description:
    'Newest first by first mark. A timing is in the range when any part of its run is; a running one reaches to ' +
    'now, an abandoned start and an end without a start count at their mark.',
  parameters: ['from', 'to', 'process', 'meta', 'uid', 'state', 'as_of', 'metric', 'limit', 'cursor'],
  ownParameters: {
    sort: choice(['duration'], {
      description: '`duration`: the longest timings first, of completed and failed ones; others have no duration.',
    }),
  },
  answers: { 200: json('The timings', TimingPage) },
})

export const FIND_LATEST_TIMINGS = defineRoute('GET /api/timings/latest', {
  ...REPEATED_QUESTION,
  summary: 'List the newest timings of each process',
  description:
    'At most `each` timings per process, newest first by first mark, and at most 10,000 in all: `cut` says ' +
    'whether that limit left older ones out; those beyond `each` do not count. With `by=meta` also the last one ' +
    'of each process and meta that is over (completed, failed or abandoned), even beyond `each`.',
  parameters: ['from', 'to', 'process', 'meta', 'by', 'each'],
  answers: { 200: json('The timings', LatestTimings) },
})

export const SUMMARIZE_TIMINGS = defineRoute('GET /api/timings/summary', {
  ...REPEATED_QUESTION,
  summary: 'Count timings and compute mean and percentiles',
  description:
    '`count` and the figures are of completed timings. One row per process; `by=meta` splits it; with `every`, ' +
    'one row per bucket too. Every timing counts once, where it was settled: a completed or failed one at its ' +
    'end, any other at its mark. So a run across midnight counts on the day it ended, and the counts of the ' +
    'buckets add up to those without `every`. A run that started before the range and still runs is not counted: ' +
    '`/api/timings?state=running` lists it; with `as_of` it counts, in the first bucket. With `compare_from` every ' +
    'process of either range has a row.',
  parameters: [
    ...(['from', 'to', 'process', 'meta', 'uid', 'as_of', 'by', 'every', 'tz'] as const),
    ...(['percentiles', 'compare_from', 'compare_to'] as const),
  ],
  answers: { 200: json('The rows', Summary) },
})
