// The rule of downtime: it delays an alert and never cancels one. Blind time does not count; what may have been lost
// in it is judged one limit after it. Pure; times are µs.
import type { Blind } from './episode.ts'

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
 * later ones only add their length, so that frequent restarts hide no run.
 */
export function exceedsAt(
  { startedUs, isOpen }: { readonly startedUs: number; readonly isOpen: boolean },
  limitUs: number,
  blind: readonly Blind[],
): Exceeded {
  const lost = isOpen ? blind.find(({ fromUs, toUs }) => toUs > startedUs && fromUs <= startedUs + limitUs) : undefined
  return lost === undefined
    ? { atUs: reachUs(blind, startedUs, limitUs) }
    : { atUs: reachUs(blind, lost.toUs, limitUs), lost }
}
