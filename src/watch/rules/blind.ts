// Blind stretches: Stint was down or accepted no events, so an event may have happened there that nobody will ever know of.

export interface Blind {
  readonly fromUs: number
  readonly toUs: number
}

/** The last stretch that overlaps [fromUs, toUs]. */
export function lastBlind(blind: readonly Blind[], fromUs: number, toUs: number): Blind | undefined {
  return blind.findLast((it) => it.fromUs <= toUs && it.toUs > fromUs)
}

/** The moment when `spanUs` have passed since `startUs`, without the blind time in between. */
export function reachUs(blind: readonly Blind[], startUs: number, spanUs: number): number {
  let reached = startUs + spanUs
  for (const { fromUs, toUs } of blind) {
    if (toUs <= startUs) continue
    if (fromUs >= reached) break
    reached += toUs - Math.max(fromUs, startUs)
  }
  return reached
}
