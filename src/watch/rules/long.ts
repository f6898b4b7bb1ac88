// `long`: a run has been running longer than the limit. Every run is judged individually, including overlapping ones.
import { type Episode, type Judgement, reachUs } from './episode.ts'
import { createLostEnds } from './lost-end.ts'
import type { Run } from './runs.ts'

/**
 * One episode per run, from the time it exceeds the limit to the next mark with its uid: its end, or the next start. A run that reaches MAX_RUN
 * without either keeps firing. Blind time does not count, because the end may be in it and may still be sent again; for an end that was probably
 * lost see lost-end.ts.
 */
export function judgeLong(limitUs: number, runs: readonly Run[], { knownUs, blind, sinceUs }: Judgement): Episode[] {
  const withLostEnd = createLostEnds(runs, blind)
  return runs.flatMap((run): Episode[] => {
    const { uid, startedUs, nextUs } = run
    const exceededUs = withLostEnd(run, limitUs, reachUs(blind, startedUs, limitUs))
    if (exceededUs >= Math.min(nextUs ?? Number.POSITIVE_INFINITY, knownUs)) return []
    if (nextUs !== undefined && nextUs <= sinceUs) return []
    const episode = { sinceUs: Math.max(exceededUs, sinceUs), uid, startedUs, limit: limitUs }
    return [nextUs === undefined ? episode : { ...episode, untilUs: nextUs, figure: nextUs - startedUs }]
  })
}
