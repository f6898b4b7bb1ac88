// `slow`: a run takes, or took, longer than k times the usual duration, which is the median of the last 20 runs that were completed when it started.
// With fewer than 5 of them, or a difference of less than a second, no run is slow.
import { type Episode, type Judgement, reachUs } from './episode.ts'
import { createLostEnds } from './lost-end.ts'
import type { Run } from './runs.ts'

const COMPARED_WITH = 20
const MIN_RUNS = 5
const MIN_DIFFERENCE_US = 1_000_000

interface Slow {
  readonly run: Run
  readonly exceededUs: number
  readonly limitUs: number
}

/** For one process and meta. Fires from the time a run exceeds its limit until another run completes within its limit and no run exceeds its own. */
export function judgeSlow(factor: number, runs: readonly Run[], { knownUs, sinceUs, blind }: Judgement): Episode[] {
  const completed = runs
    .filter((run) => run.state === 'completed')
    .sort((a, b) => a.settledUs - b.settledUs || a.startedUs - b.startedUs)
  const withLostEnd = createLostEnds(runs, blind)
  const slow: Slow[] = []
  const calm: number[] = []
  for (const run of runs) {
    const limitUs = limitOf(factor, completed, run.startedUs)
    const exceededUs =
      limitUs === undefined
        ? Number.POSITIVE_INFINITY
        : withLostEnd(run, limitUs, reachUs(blind, run.startedUs, limitUs))
    if (limitUs !== undefined && exceededUs < Math.min(run.settledUs, knownUs)) slow.push({ run, exceededUs, limitUs })
    else if (run.state === 'completed' && run.settledUs <= knownUs) calm.push(run.settledUs)
  }
  slow.sort((a, b) => a.exceededUs - b.exceededUs)
  calm.sort((a, b) => a - b)

  const episodes: Episode[] = []
  let i = 0
  while (i < slow.length) {
    const { run, exceededUs, limitUs } = slow[i]!
    const untilUs = calm.find(
      (us) => us >= exceededUs && !slow.some((it) => it.exceededUs <= us && us < it.run.settledUs),
    )
    if ((untilUs ?? Number.POSITIVE_INFINITY) > sinceUs && Math.min(run.settledUs, knownUs) > sinceUs) {
      episodes.push({
        sinceUs: Math.max(exceededUs, sinceUs),
        uid: run.uid,
        startedUs: run.startedUs,
        limit: limitUs,
        ...(run.settledUs <= knownUs && { figure: run.settledUs - run.startedUs }),
        ...(untilUs !== undefined && { untilUs }),
      })
      if (untilUs === undefined) break
      i = slow.findIndex((it) => it.exceededUs > untilUs)
      if (i === -1) break
    } else i++
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
