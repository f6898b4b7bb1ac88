// The panels' questions about points, implemented once per store that can hold points, for one set of dashboards.
import { STATE_CODES } from '../../store/influx/pairing.ts'
import type { Scope, Target, Variable } from './target.ts'

export interface PointQueries {
  /** Table per account and process: PROCESS_COLUMNS. The state is a RUN_CODE, times are epoch ms, durations ms. */
  processTable(): Target
  /** Marks per interval: series `starts`, `ends` and `failed`. Counted by the store. */
  marksOverTime(): Target
  /** Points of metrics per interval: series `metrics`. Counted by the store. */
  metricsOverTime(): Target
  /** Starts per interval, a series per process. Counted by the store. */
  startsByProcess(): Target
  /** Failed runs per interval, a series per process. Counted by the store. */
  failedByProcess(scope: Scope): Target
  /** Table, the longest first: account, process, meta, uid, started, running_ms. At this moment, whatever the range. */
  runningNow(): Target
  /** Table: state, runs. */
  runsByState(): Target
  /** Series p50, p95, p99 and max, in ms, of the completed runs that ended in each interval. */
  durationsOverTime(): Target
  /** A series per run, of the newest ones: its RUN_CODE from its start on, and 0 from its end. */
  timeline(): Target
  /** Table: le (upper bound, ms), completed. */
  durationHistogram(): Target
  /** A series per upper bound (ms): runs of that duration by their end. The lowest bound has every interval. */
  durationHeatmap(): Target
  /** Table: account, process, meta, uid, started, ended, took_ms. */
  slowestRuns(): Target
  /** Table, newest first: account, process, meta, uid, state, at. */
  unfinishedRuns(): Target
  /** Means per interval of the chosen metric, a series per process, name and meta. */
  metricValues(): Target
  /** The values of a variable. */
  variable(variable: Variable): VariableQuery
  /** Variables that the queries need and nobody chooses. */
  readonly hidden: readonly VariableQuery[]
}

/** As each data source has its queries for variables. */
export interface VariableQuery {
  readonly name: string
  readonly datasource: Target['datasource']
  readonly query: string | { readonly query: string; readonly refId: string }
}

export const { paired: _, ...RUN_CODES } = STATE_CODES

export const TIMELINE_RUNS = 50
export const SLOWEST_RUNS = 20
export const TABLE_ROWS = 100
export const TABLE_PROCESSES = 1000

/** Upper bounds in ms, doubling from 1 ms until no run can be longer. */
export function durationBounds(maxRunNs: bigint): number[] {
  const bounds = [1]
  while (BigInt(bounds.at(-1)!) * 1_000_000n < maxRunNs) bounds.push(bounds.at(-1)! * 2)
  return bounds
}
