// What the panels ask about points. There are two writings, as there are two stores that can hold them, and one set of dashboards.
import type { Variable } from './selection.ts'
import type { Target } from './target.ts'

export interface PointQueries extends AlertQueries {
  /** Marks in each interval: series `starts` and `ends`. A start is a run. Pushed down to the store. */
  marksOverTime(): Target
  /** Points of metrics in each interval: series `metrics`. Pushed down to the store. */
  metricsOverTime(): Target
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
  /** What a variable can be. */
  variable(variable: Variable): VariableQuery
  /** Variables that the queries need and nobody chooses. */
  readonly hidden: readonly VariableQuery[]
}

/** What the alert rules ask, of this moment: no rule has a range or variables. A series an account and process each, of one value in s. */
export interface AlertQueries {
  /** How long the longest run goes on already. */
  longestRunning(): Target
  /** How long nothing (marks, metrics) has come, of those that were heard of within SILENCE_DAYS. */
  silence(): Target
}

export const SILENCE_DAYS = 7

/** As each data source has its queries for variables. */
export interface VariableQuery {
  readonly name: string
  readonly datasource: Target['datasource']
  readonly query: string | { readonly query: string; readonly refId: string }
}

/** The colours of the timeline. */
export const RUN_CODES = { completed: 1, running: 2, abandoned: 3, orphan: 4, failed: 5 } as const

export const TIMELINE_RUNS = 50
export const SLOWEST_RUNS = 20
export const TABLE_ROWS = 100

/** Upper bounds in ms, doubling from 1 ms until no run can be longer. */
export function durationBounds(maxRunNs: bigint): number[] {
  const bounds = [1]
  while (BigInt(bounds.at(-1)!) * 1_000_000n < maxRunNs) bounds.push(bounds.at(-1)! * 2)
  return bounds
}
