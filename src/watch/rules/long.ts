// `long`: a run has been running longer than the limit. Every run is judged by itself, also overlapping ones.
import { reachUs } from './blind.ts'
import type { Episode, Judgement } from './episode.ts'
import type { Run } from './runs.ts'

/**
 * One episode per run, from the moment it exceeds the limit to the next mark with its uid: its end, or the next start. A run that reaches MAX_RUN
 * without either keeps firing. Time in which Stint was blind does not count, because the end may have been lost there and may still be sent again.
 */
export function judgeLong(limitUs: number, runs: readonly Run[], { knownUs, blind, sinceUs }: Judgement): Episode[] {
  return runs.flatMap(({ uid, startedUs, nextUs }): Episode[] => {
    const exceededUs = reachUs(blind, startedUs, limitUs)
    if (exceededUs >= Math.min(nextUs ?? Number.POSITIVE_INFINITY, knownUs)) return []
    if (nextUs !== undefined && nextUs <= sinceUs) return []
    const run = { sinceUs: Math.max(exceededUs, sinceUs), uid, startedUs, limit: limitUs }
    return [nextUs === undefined ? run : { ...run, untilUs: nextUs, figure: nextUs - startedUs }]
  })
}
