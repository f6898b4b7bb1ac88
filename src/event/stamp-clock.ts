// Stamps events at arrival (lane 0). Invariants, over clock steps in either direction and over restarts:
//   1. each stamp is new: it is later than every earlier one and than the floor, the newest one of earlier runs;
//   2. the difference of two stamps is the time that passed: the clock runs at the monotonic rate, and is moved only
//      forward, by as much as the wall clock is ahead of it.
// So a wall clock that is set back is waited for, however far: until it has caught up, the stamps lead it.
// The wall clock shows whole milliseconds, so a reading may be late by one, and by any pause before the monotonic
// clock is read; no reading is early. The greatest difference of both clocks is therefore the nearest to the true one:
// that of a reading just after a millisecond began.
import type { Clock } from '../clock.ts'
import type { Stamp } from './stamp.ts'

/** At the start both clocks are read until so many milliseconds began, or so often: two nodes then differ by µs. */
const FIRST_MILLISECONDS = 3
const FIRST_READINGS = 20_000

export type StampClock = ReturnType<typeof createStampClock>

/** `nodeId` 0 … 249; `floorUs`: the µs of the newest stamp ever given on this node, 0 when none. */
export function createStampClock(clock: Clock, nodeId: number, floorUs: number) {
  const sub = 4 * nodeId
  let newestUs = floorUs
  /** What the wall clock is ahead of the monotonic one. */
  let aheadUs = floorUs - clock.monotonicUs()

  const readUs = () => {
    const wallUs = clock.wallUs()
    const monotonicUs = clock.monotonicUs()
    aheadUs = Math.max(aheadUs, wallUs - monotonicUs)
    return monotonicUs + aheadUs
  }
  for (let begun = 0, last = clock.wallUs(), i = 0; begun < FIRST_MILLISECONDS && i < FIRST_READINGS; i++) {
    readUs()
    const wallUs = clock.wallUs()
    if (wallUs !== last) begun++
    last = wallUs
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
