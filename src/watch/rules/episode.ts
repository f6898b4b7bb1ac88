// The vocabulary of the rules: a rule turns the history of a process into episodes, the stretches of time in which its alert fires.
// Rules are pure. All times are µs since the epoch; a stretch reaches from its first moment up to, but not including, its last.

export type Condition = 'late' | 'long' | 'failed' | 'metric' | 'slow'

/** One stretch in which an alert fires. */
export interface Episode {
  readonly sinceUs: number
  /** When it was over; absent while it lasts. */
  readonly untilUs?: number
  /** The run that caused it; '' for a run without uid, absent when no run did. */
  readonly uid?: string
  /** The start of the run that caused it. */
  readonly startedUs?: number
  /** A figure for the summary: the duration (µs), the metric's value, or how many failures in a row. */
  readonly figure?: number
  /** A figure to compare with: the limit (µs). */
  readonly limit?: number
  /** Of `failed`: what the last bad event was. */
  readonly cause?: 'failed' | 'abandoned' | 'exception'
}

/** When and with what knowledge a history is judged. */
export interface Judgement {
  /** Everything that happened before this moment is known. Usually a second ago; further back while the spool is behind. */
  readonly knownUs: number
  /** Only what happens after this moment can fire: the watch was created, changed or resumed then. */
  readonly sinceUs: number
  /** Runs that are older are not paired with an end. */
  readonly maxRunUs: number
  /** When Stint accepted no events, in order and without overlaps. */
  readonly blind: readonly Blind[]
}

/** Stint was down or accepted no events, so an event may have happened there that nobody will ever know of. */
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
