// `slow`: a run takes or took over k times the usual: the median of the last 20 runs completed when it started.
// With fewer than 5 of them, or a difference of less than a second, no run is slow.
import { exceedsAt } from './downtime.ts'
import type { Blind, Episode, Judgement } from './episode.ts'
import type { Run } from './runs.ts'

const COMPARED_WITH = 20
const MIN_RUNS = 5
const MIN_DIFFERENCE_US = 1_000_000

interface Slow {
  readonly run: Run
  readonly exceededUs: number
  readonly limitUs: number
  readonly lost?: Blind
}

/** Runs that exceeded their limit, by that time, and completed ones that did not, by their end. */
interface Sorted {
  readonly slow: readonly Slow[]
  readonly calm: readonly Run[]
}

function sortRuns(factor: number, runs: readonly Run[], { knownUs, blind }: Judgement, limitWithoutPastUs?: number) {
  const completed = runs
    .filter((run) => run.state === 'completed')
    .sort((a, b) => a.settledUs - b.settledUs || a.startedUs - b.startedUs)
  const slow: Slow[] = []
  const calm: Run[] = []
  for (const run of runs) {
    const { startedUs, nextUs, settledUs } = run
    const limitUs = limitOf(factor, completed, startedUs) ?? limitWithoutPastUs
    const endUs = Math.min(nextUs ?? Number.POSITIVE_INFINITY, nextUs === undefined ? knownUs : settledUs, knownUs)
    const exceeded = limitUs && exceedsAt(run, limitUs, blind)
    if (exceeded && exceeded.atUs < endUs)
      slow.push({ run, exceededUs: exceeded.atUs, limitUs, ...(exceeded.lost && { lost: exceeded.lost }) })
    else if (run.state === 'completed' && settledUs <= knownUs) calm.push(run)
  }
  slow.sort((a, b) => a.exceededUs - b.exceededUs)
  calm.sort((a, b) => a.settledUs - b.settledUs)
  return { slow, calm }
}

/** The first completed run that started after the slow one and was not slow, when no other run was over its limit. */
const endOf = ({ slow, calm }: Sorted, startedUs: number, exceededUs: number): Run | undefined =>
  calm.find(
    (run) =>
      run.settledUs >= exceededUs &&
      run.startedUs > startedUs &&
      !slow.some((it) => it.exceededUs <= run.settledUs && run.settledUs < it.run.settledUs && it.lost === undefined),
  )

/**
 * The run whose end ends an alert, also if the runs before it are forgotten: the alert's own if its end arrived late
 * and was in time.
 */
export function endOfSlow(
  factor: number,
  runs: readonly Run[],
  judgement: Judgement,
  alert: { readonly uid: string; readonly startedUs: number; readonly sinceUs: number; readonly limitUs?: number },
): Run | undefined {
  const { limitUs } = alert
  const own = runs.find(({ uid, startedUs, ownUs = startedUs }) => uid === alert.uid && ownUs === alert.startedUs)
  const hasEnded = own?.state === 'completed' || own?.state === 'failed'
  // a run that began before the clock was set back ends at a time that says nothing of its duration
  const isComparable = limitUs !== undefined && alert.sinceUs - alert.startedUs >= limitUs
  if (hasEnded && isComparable && exceedsAt(own, limitUs, judgement.blind).atUs >= own.settledUs) return own
  return endOf(sortRuns(factor, runs, judgement, limitUs), alert.startedUs, alert.sinceUs)
}

/** One process and meta. Fires from when a run exceeds its limit until a later start completes within its own. */
export function judgeSlow(factor: number, runs: readonly Run[], judgement: Judgement): Episode[] {
  const { knownUs, sinceUs } = judgement
  const sorted = sortRuns(factor, runs, judgement)
  const { slow, calm } = sorted
  const episodes: Episode[] = []
  let coveredUs = Number.NEGATIVE_INFINITY
  for (const { run, exceededUs, limitUs, lost } of slow) {
    if (exceededUs <= coveredUs || Math.min(run.nextUs ?? Number.POSITIVE_INFINITY, knownUs) <= sinceUs) continue
    // Later runs show that the job works: the end was lost.
    if (lost && calm.some(({ startedUs, settledUs }) => startedUs > run.startedUs && settledUs <= exceededUs)) continue
    const untilUs = endOf(sorted, run.startedUs, exceededUs)?.settledUs
    coveredUs = untilUs ?? Number.POSITIVE_INFINITY
    if (coveredUs <= sinceUs) continue
    episodes.push({
      sinceUs: Math.max(exceededUs, sinceUs),
      uid: run.uid,
      startedUs: run.ownUs ?? run.startedUs,
      limit: limitUs,
      ...(run.settledUs <= knownUs && { figure: run.settledUs - run.startedUs }),
      ...(lost && { lost }),
      ...(untilUs !== undefined && { untilUs }),
    })
  }
  return episodes
}

/** The longest duration (µs) that is not slow for a run that started at that time; undefined with too few runs. */
export function limitOf(factor: number, completed: readonly Run[], startedUs: number): number | undefined {
  const durations: number[] = []
  for (let i = completed.length - 1; i >= 0 && durations.length < COMPARED_WITH; i--) {
    const run = completed[i]!
    if (run.settledUs <= startedUs) durations.push(run.settledUs - run.startedUs)
  }
  if (durations.length < MIN_RUNS) return undefined
  const usualUs = median(durations)
  return Math.round(Math.max(factor * usualUs, usualUs + MIN_DIFFERENCE_US))
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
