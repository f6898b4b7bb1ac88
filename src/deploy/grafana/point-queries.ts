// What the panels ask about points. There are two writings, as there are two stores that can hold them, and one set of dashboards.
import type { Scope, Variable } from './selection.ts'
import type { Target } from './target.ts'

export interface PointQueries {
  /** Marks in each interval: series `starts` and `ends`. A start is a run. Pushed down to the store. */
  marksOverTime(scope: Scope): Target
  /** Points of metrics in each interval: series `metrics`. Pushed down to the store. */
  metricsOverTime(scope: Scope): Target
  /** Starts in each interval, a series a process. Pushed down to the store. */
  startsByProcess(): Target
  /** Table, the longest first: account, process, meta, uid, started, running_ms. Of this moment, whatever the range. */
  runningNow(): Target
  /** Table: state, runs. */
  runsByState(): Target
  /** Series p50, p95, p99 and max, in ms, of what ended in each interval. */
  durationsOverTime(): Target
  /** A series a run, of the newest ones: RUN_CODES from its start on, and 0 from its end. */
  timeline(): Target
  /** Table: le (upper bound, ms), runs. */
  durationHistogram(): Target
  /** A series an upper bound (ms): how many of that duration ended in each interval. */
  durationHeatmap(): Target
  /** Table: account, meta, uid, started, ended, took_ms. */
  slowestRuns(): Target
  /** Table, newest first: account, meta, uid, state, at. */
  unfinishedRuns(): Target
  /** Means in each interval, a series a name and meta. */
  metricValues(): Target
  /** What a variable can be, as the data source's own query for variables. */
  variable(variable: Variable): { readonly datasource: Target['datasource']; readonly query: string | object }
}

/** The colours of the timeline. */
export const RUN_CODES = { completed: 1, running: 2, abandoned: 3, orphan: 4 } as const

export const TIMELINE_RUNS = 50
export const SLOWEST_RUNS = 20
export const TABLE_ROWS = 100

/** Upper bounds in ms, doubling from 1 ms until no run can be longer. */
export function durationBounds(maxRunNs: bigint): number[] {
  const bounds = [1]
  while (BigInt(bounds.at(-1)!) * 1_000_000n < maxRunNs) bounds.push(bounds.at(-1)! * 2)
  return bounds
}
