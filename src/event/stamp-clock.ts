// Stamps events at arrival (lane 0). Invariants, over clock steps in either direction and over restarts:
//   1. each stamp is new: within a turn it is later than every earlier one and than the turn's floor, the newest one of
//      earlier runs;
//   2. the difference of two stamps of a turn is the time that passed: the clock runs at the monotonic rate from its
//      anchor, and is moved only forward, when the wall clock is more than 100 ms ahead of it.
// A wall clock that was far ahead for a moment must not be followed forever. So there are two turns, told apart by a
// digit of the stamp: when the stamps lead the wall clock by more than a minute, the clock continues in the other turn
// from the wall clock, if that turn leads it by at most a minute. Otherwise it stays ahead. A wall clock that is at
// least as far ahead again is followed in the turn that was there before, so the other one still can return; one that
// is less far takes it along. A run that is open across the return is abandoned, and its end has no start.
import type { Clock } from '../clock.ts'
import type { Stamp } from './stamp.ts'

const MAX_LAG_US = 100_000
/** A smaller step back is waited out, so that a ten-second job still measures ten seconds. */
const MAX_LEAD_US = 60_000_000

type Turn = 0 | 1

/** The µs of the newest stamp ever given in each turn on this node, 0 when none. */
export type Floors = readonly [number, number]

/** The turn of a stamp of lane 0. */
export const turnOf = ({ sub }: Stamp): Turn => (sub % 4 === 2 ? 1 : 0)

export type StampClock = ReturnType<typeof createStampClock>

/** `nodeId` 0 … 249. */
export function createStampClock(clock: Clock, nodeId: number, floors: Floors) {
  const newest: [number, number] = [...floors]
  let turn = turnToStart(floors, clock.wallUs())
  let anchorUs = Math.max(clock.wallUs(), newest[turn])
  let anchorMonotonicUs = clock.monotonicUs()

  /** The monotonic clock is read last: after a pause between both readings the stamps are behind, never ahead. */
  const anchor = (us: number) => {
    anchorUs = us
    anchorMonotonicUs = clock.monotonicUs()
    return us
  }
  const passedUs = () => anchorUs + (clock.monotonicUs() - anchorMonotonicUs)
  const nowUs = () => {
    const us = passedUs()
    const wallUs = clock.wallUs()
    // a pause between both readings looks like a lag, too
    const lagUs = wallUs - us > MAX_LAG_US ? wallUs - passedUs() : 0
    const other = turn === 0 ? 1 : 0
    const isNearer = lagUs > MAX_LEAD_US ? newest[other] > newest[turn] : us - wallUs > MAX_LEAD_US
    if (isNearer && newest[other] - wallUs <= MAX_LEAD_US) turn = other
    else if (lagUs <= MAX_LAG_US) return lagUs === 0 ? us : passedUs()
    return anchor(Math.max(wallUs, newest[turn]))
  }

  return {
    next(): Stamp {
      const us = Math.floor(nowUs())
      newest[turn] = Math.max(us, newest[turn] + 1)
      return { us: newest[turn], sub: 4 * nodeId + 2 * turn }
    },
    /** µs since the epoch; no earlier than any stamp given in this turn. */
    nowUs(): number {
      const us = Math.ceil(nowUs())
      return Math.max(us, newest[turn])
    },
    /** How far the stamps are ahead of the wall clock, in µs; negative when behind. */
    leadUs(): number {
      const us = nowUs()
      return Math.max(us, newest[turn]) - clock.wallUs()
    },
  }
}

/** The one that was used last, unless it is far ahead and the other one is not. */
function turnToStart([first, second]: Floors, wallUs: number): Turn {
  const last = second > first ? 1 : 0
  const isFarAhead = Math.max(first, second) - wallUs > MAX_LEAD_US
  return isFarAhead ? (last === 1 ? 0 : 1) : last
}
