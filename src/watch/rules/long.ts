// `long`: a run has been running longer than the limit. Every run is judged individually, including overlapping ones.
import { exceedsAt } from './downtime.ts'
import type { Blind, Episode, Judgement, RunName } from './episode.ts'
import { compareMarks, type Run, type WatchMark } from './runs.ts'

/**
 * One episode per run, from the time it exceeds the limit to the next mark with its uid: its end, or the next start.
 * A run without either keeps firing past MAX_RUN. Open runs whose end one downtime may have lost are one episode.
 */
export function judgeLong(limitUs: number, runs: readonly Run[], { knownUs, blind, sinceUs }: Judgement): Episode[] {
  const across = new Map<Blind, { run: Run; atUs: number }[]>()
  const episodes = runs.flatMap((run): Episode[] => {
    const { uid, startedUs, ownUs = startedUs, nextUs } = run
    if (nextUs !== undefined && nextUs <= sinceUs) return []
    const { atUs, lost } = exceedsAt(run, limitUs, blind)
    if (atUs >= Math.min(nextUs ?? Number.POSITIVE_INFINITY, knownUs)) return []
    if (lost !== undefined) {
      across.set(lost, [...(across.get(lost) ?? []), { run, atUs }])
      return []
    }
    const episode = { sinceUs: Math.max(atUs, sinceUs), uid, startedUs: ownUs, limit: limitUs }
    if (nextUs === undefined) return [episode]
    const endedAs = endOfRun(run)
    return [{ ...episode, untilUs: nextUs, figure: nextUs - startedUs, ...(endedAs && { endedAs }) }]
  })
  for (const [lost, open] of across) {
    open.sort((a, b) => a.run.startedUs - b.run.startedUs)
    const named = open.map(({ run }) => ({ uid: run.uid, startedUs: run.ownUs ?? run.startedUs }))
    const firstUs = Math.max(Math.min(...open.map(({ atUs }) => atUs)), sinceUs)
    const isFollowed = runs.some((run) => run.startedUs > lost.toUs)
    episodes.push({ sinceUs: firstUs, ...named[0], limit: limitUs, lost, runs: named, isFollowed })
  }
  return episodes
}

/** Unknown after MAX_RUN: its state is no longer that of its next mark. */
const endOfRun = ({ state, isDoubtful }: Run): Episode['endedAs'] =>
  isDoubtful ? 'started again' : state === 'completed' || state === 'failed' ? state : undefined

/** When the last of these runs got its next mark; undefined while one of them has none. `marks` are sorted. */
export function endOfLong(marks: readonly WatchMark[], runs: readonly RunName[]): number | undefined {
  const ends = runs.map(({ uid, startedUs }) => {
    const moved = marks.find((mark) => mark.uid === uid && mark.ownUs === startedUs)
    const start: WatchMark = moved ?? { mark: 'start', uid, atUs: startedUs }
    return marks.find((mark) => mark.uid === uid && compareMarks(mark, start) > 0)?.atUs
  })
  return ends.every((us) => us !== undefined) ? Math.max(...ends) : undefined
}
