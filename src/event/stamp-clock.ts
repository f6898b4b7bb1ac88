// Stamps events at arrival (lane 0). Invariants, over clock steps in either direction and over restarts:
//   1. each stamp is later than every earlier one, and than the floor (the newest one of an earlier run);
//   2. the difference of two stamps is the time that passed: the clock runs at the monotonic rate from its anchor,
//      and is moved only forward, when the wall clock is more than 100 ms ahead of it.
import type { Clock } from '../clock.ts'
import type { Stamp } from './stamp.ts'

const MAX_LAG_US = 100_000

export interface StampClock {
  next(): Stamp
  /** µs since the epoch; no earlier than any stamp given so far. */
  nowUs(): number
  /** How far the stamps are ahead of the wall clock, in µs; negative when behind. */
  leadUs(): number
}

/** `floorUs`: the µs of the newest stamp ever given on this node, 0 when none. */
export function createStampClock(clock: Clock, nodeId: number, floorUs: number): StampClock {
  const sub = 2 * nodeId
  let anchorMonotonicUs = clock.monotonicUs()
  let anchorUs = Math.max(clock.wallUs(), floorUs)
  let lastUs = floorUs

  const nowUs = () => {
    const monotonicUs = clock.monotonicUs()
    const wallUs = clock.wallUs()
    const us = anchorUs + (monotonicUs - anchorMonotonicUs)
    if (wallUs - us <= MAX_LAG_US) return us
    anchorUs = wallUs
    anchorMonotonicUs = monotonicUs
    return wallUs
  }

  return {
    next() {
      lastUs = Math.max(Math.floor(nowUs()), lastUs + 1)
      return { us: lastUs, sub }
    },
    nowUs: () => Math.max(Math.ceil(nowUs()), lastUs),
    leadUs: () => Math.max(nowUs(), lastUs) - clock.wallUs(),
  }
}
