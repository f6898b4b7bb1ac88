// Stamps events at arrival (lane 0). Invariants, over clock steps in either direction and over restarts:
//   1. each stamp is new: it is later than every earlier one and than the floor, the newest one of earlier runs;
//   2. the difference of two stamps is the time that passed: the clock runs at the monotonic rate, and is moved forward
//      by as much as the wall clock is ahead of it. While it leads the wall clock, which was set back, it runs at 99 %
//      of that rate, until the wall clock has caught up: an hour is gone after four days.
// The wall clock shows whole milliseconds, so a reading may be late by one, and by any pause before the monotonic
// clock is read; no reading is early. The greatest difference of both clocks is therefore the nearest to the true one:
// that of a reading just after a millisecond began.
import type { Clock } from '../clock.ts'
import type { Stamp } from './stamp.ts'

/** At the start both clocks are read until so many beginnings of a millisecond were seen: two nodes differ by µs. */
const BEGINNINGS_SEEN = 2
/** Of a millisecond whose beginning was seen: three readings, the last one in it, took at most so long. */
const SHARP_US = 10
/** Limits for a machine on which this process is always interrupted, and for a clock that stands still. */
const MOST_MILLISECONDS = 50
const MOST_READINGS = 20_000

/** A smaller lead may be a reading that was interrupted. */
const SLEWED_FROM_US = 5000
export const SLEWED = 0.01

export type StampClock = ReturnType<typeof createStampClock>

/** `nodeId` 0 … 249; `floorUs`: the µs of the newest stamp ever given on this node, 0 when none. */
export function createStampClock(clock: Clock, nodeId: number, floorUs: number) {
  const sub = 4 * nodeId
  let newestUs = floorUs
  /** What the wall clock is ahead of the monotonic one. */
  let aheadUs = floorUs - clock.monotonicUs()
  /** Of the reading before: its time, and that difference. */
  let readAtUs = clock.monotonicUs()
  let differenceUs = clock.wallUs() - readAtUs

  const readUs = () => {
    const wallUs = clock.wallUs()
    const monotonicUs = clock.monotonicUs()
    const nowUs = wallUs - monotonicUs
    const targetUs = Math.max(nowUs, differenceUs)
    if (nowUs > aheadUs) aheadUs = nowUs
    else if (aheadUs - targetUs > SLEWED_FROM_US)
      aheadUs = Math.max(targetUs, aheadUs - SLEWED * (monotonicUs - readAtUs))
    readAtUs = monotonicUs
    differenceUs = nowUs
    return monotonicUs + aheadUs
  }
  let [lastWallUs, beforeUs, lastUs] = [clock.wallUs(), clock.monotonicUs(), clock.monotonicUs()]
  for (let i = 0, seen = 0, begun = 0; seen < BEGINNINGS_SEEN && begun < MOST_MILLISECONDS && i < MOST_READINGS; i++) {
    const wallUs = clock.wallUs()
    const monotonicUs = clock.monotonicUs()
    aheadUs = Math.max(aheadUs, wallUs - monotonicUs)
    if (wallUs !== lastWallUs) {
      i = 0
      begun++
      if (monotonicUs - beforeUs <= SHARP_US) seen++
    }
    ;[lastWallUs, beforeUs, lastUs] = [wallUs, lastUs, monotonicUs]
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
