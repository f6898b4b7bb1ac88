// Stamps events at arrival (lane 0). Invariants, over clock steps in either direction and over restarts:
//   1. each stamp is new: it is later than every earlier one and than the floor, the newest one of earlier runs;
//   2. the difference of two stamps is the time that passed: the clock runs at the monotonic rate from its anchor, and
//      is moved only forward, when the wall clock is more than 100 ms ahead of it.
// So a wall clock that is set back is waited for, however far: until it has caught up, the stamps lead it.
import type { Clock } from '../clock.ts'
import type { Stamp } from './stamp.ts'

const MAX_LAG_US = 100_000

export type StampClock = ReturnType<typeof createStampClock>

/** `nodeId` 0 … 249; `floorUs`: the µs of the newest stamp ever given on this node, 0 when none. */
export function createStampClock(clock: Clock, nodeId: number, floorUs: number) {
  const sub = 4 * nodeId
  let newestUs = floorUs
  let anchorUs = Math.max(clock.wallUs(), floorUs)
  let anchorMonotonicUs = clock.monotonicUs()

  const passedUs = () => anchorUs + (clock.monotonicUs() - anchorMonotonicUs)
  const readUs = () => {
    const us = passedUs()
    const wallUs = clock.wallUs()
    if (wallUs - us <= MAX_LAG_US) return us
    // A pause between both readings looks like a lag, too.
    if (wallUs - passedUs() <= MAX_LAG_US) return passedUs()
    anchorUs = wallUs
    // Read last: after a pause between both readings the stamps are behind, never ahead.
    anchorMonotonicUs = clock.monotonicUs()
    return wallUs
  }
  /** µs since the epoch; no earlier than any stamp given. */
  const nowUs = () => Math.max(Math.ceil(readUs()), newestUs)

  return {
    next(): Stamp {
      newestUs = Math.max(Math.floor(readUs()), newestUs + 1)
      return { us: newestUs, sub }
    },
    nowUs,
    /** How far the stamps are ahead of the wall clock, in µs; negative when behind. */
    leadUs: (): number => Math.max(readUs(), newestUs) - clock.wallUs(),
  }
}
