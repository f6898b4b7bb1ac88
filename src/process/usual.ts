// How long a run of a process and meta usually takes, and since when it takes longer or shorter. Pure: functions of the
// newest 60 settled runs alone, which the judge and live both keep, so that a watch and Home never differ.
//
//   usual    the median of the completed ones among the last 20 settled runs that ended by then; none below five
//   change   see change.ts; while it is younger than a day, usual is the median before it
//
// The runs of another meta never count: a job of ten seconds says nothing about one of ten minutes.
import { type Change, findChange } from './change.ts'
import { quantile } from './quantile.ts'

/** A run that ended and has a start. Times in µs. */
export interface SettledRun {
  readonly startedUs: number
  readonly endedUs: number
  readonly failed: boolean
}

export interface Usual {
  readonly us: number
  /** Of so many completed runs. */
  readonly of: number
}

export interface Durations {
  readonly usual: Usual | undefined
  readonly change: Change | undefined
}

/** So many settled runs are kept of each process and meta. */
export const SETTLED_KEPT = 60
const LATEST = 20
const FEWEST = 5
const DAY_US = 86_400e6

/** `settled`: in the order of their ends; those that ended after `atUs`, the start of a run, do not count. */
export function findDurations(settled: readonly SettledRun[], atUs: number): Durations {
  const known = settled.filter(({ endedUs }) => endedUs <= atUs)
  const newest = known.slice(-SETTLED_KEPT)
  const change = findChange(
    newest.filter(isCompleted).map(({ startedUs, endedUs }) => [startedUs, endedUs - startedUs]),
  )
  const isNews = change !== undefined && change.atUs > atUs - DAY_US
  return { change, usual: isNews ? { us: change.beforeUs, of: change.of } : medianOf(newest.slice(-LATEST)) }
}

/** In µs; undefined below five completed runs. */
export const usualOf = (settled: readonly SettledRun[], atUs: number): number | undefined =>
  settled.length < FEWEST ? undefined : findDurations(settled, atUs).usual?.us

const isCompleted = ({ failed }: SettledRun) => !failed

function medianOf(settled: readonly SettledRun[]): Usual | undefined {
  const lengths = settled.filter(isCompleted).map(({ startedUs, endedUs }) => endedUs - startedUs)
  return lengths.length < FEWEST ? undefined : { us: quantile(lengths, 0.5), of: lengths.length }
}

/** Twice 3 ms is no reason for concern. */
const LEAST_MORE_US = 1e6

/** The longest duration that is not `times` the usual one. */
export const limitOf = (times: number, usualUs: number): number =>
  Math.round(Math.max(times * usualUs, usualUs + LEAST_MORE_US))

/** A run in progress is overdue once it takes longer than this many times its usual duration. */
export const OVERDUE_TIMES = 2
