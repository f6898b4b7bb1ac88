// The rule of downtime: it delays an alert and never cancels one. What may have been lost in it is judged one limit
// after it; a run that ended is as long as its marks say. Pure; times are µs.
import type { Blind } from './episode.ts'
import type { Run } from './runs.ts'

/** The last stretch that overlaps [fromUs, toUs]. */
export function lastBlind(blind: readonly Blind[], fromUs: number, toUs: number): Blind | undefined {
  return blind.findLast((it) => it.fromUs <= toUs && it.toUs > fromUs)
}

/** The time at which `spanUs` have passed since `startUs`, not counting blind time. */
export function reachUs(blind: readonly Blind[], startUs: number, spanUs: number): number {
  let reached = startUs + spanUs
  for (const { fromUs, toUs } of blind) {
    if (toUs <= startUs) continue
    if (fromUs >= reached) break
    reached += toUs - Math.max(fromUs, startUs)
  }
  return reached
}

export interface Exceeded {
  readonly atUs: number
  /** The downtime in which the end of the run may have been lost. */
  readonly lost?: Blind
}

/**
 * When a run exceeds its limit. An open run within it before a downtime exceeds it one limit after the first downtime;
 * later ones only add their length, so that frequent restarts hide no run. Of a run that ended only blind time that
 * may hide the end of one run and the start of another does not count, and a clock that jumped ahead.
 */
export function exceedsAt(
  { startedUs, nextUs, hiddenUs }: Pick<Run, 'startedUs' | 'nextUs' | 'hiddenUs'>,
  limitUs: number,
  blind: readonly Blind[],
): Exceeded {
  if (nextUs !== undefined) {
    const hiding = blind.filter(({ fromUs, toUs, isJump }) => isJump || toUs - fromUs >= hiddenUs)
    return { atUs: reachUs(hiding, startedUs, limitUs) }
  }
  const lost = blind.find(({ fromUs, toUs }) => toUs > startedUs && fromUs <= startedUs + limitUs)
  return lost === undefined
    ? { atUs: reachUs(blind, startedUs, limitUs) }
    : { atUs: reachUs(blind, lost.toUs, limitUs), lost }
}
