// When requests arrived whose event is not in the spool yet. An event is stamped before its body, so a slow body gives
// an event an earlier stamp than others have that are in the log already. Invariants:
// * `leastUs` is no later than the stamp of any event that is still to be appended with its stamp as its arrival.
// * A request that takes longer than two seconds arrives at its append, so that a trickling upload delays nobody. So in
//   a log no arrival is more than two seconds earlier than one before it.
import type { Stamp } from './stamp.ts'

export const RECEIVED_WITHIN_US = 2e6

/** A request that is received. A list in the order of the stamps: nothing is searched for in the request path. */
export interface Arrival extends Stamp {
  isOpen: boolean
  before: Arrival | undefined
  after: Arrival | undefined
}

export type Arrivals = ReturnType<typeof createArrivals>

/** `next` gives stamps in ascending order, `nowUs` is the clock behind them. */
export function createArrivals({ next, nowUs }: { next(): Stamp; nowUs(): number }) {
  let first: Arrival | undefined
  let last: Arrival | undefined

  function close(arrival: Arrival): void {
    const { before, after } = arrival
    if (before === undefined) first = after
    else before.after = after
    if (after === undefined) last = before
    else after.before = before
    arrival.isOpen = false
    arrival.before = undefined
    arrival.after = undefined
  }
  function giveUp(us: number): void {
    while (first !== undefined && first.us < us - RECEIVED_WITHIN_US) close(first)
  }
  function stamp(): Stamp {
    const given = next()
    giveUp(given.us)
    return given
  }

  return {
    /** For an event that is appended at once. */
    stamp,
    /** The body of an event with this stamp, the newest, is still to be read: `end` or `drop` it. */
    begin({ us, sub }: Stamp): Arrival {
      const arrival: Arrival = { us, sub, isOpen: true, before: last, after: undefined }
      if (last === undefined) first = arrival
      else last.after = arrival
      last = arrival
      return arrival
    },
    /** Returns when the event arrived; append it before anything else is awaited. */
    end(arrival: Arrival): number {
      if (!arrival.isOpen) return stamp().us
      close(arrival)
      return arrival.us
    },
    /** No event will be appended. */
    drop(arrival: Arrival): void {
      if (arrival.isOpen) close(arrival)
    },
    /** The earliest stamp of what is received; undefined if nothing is. */
    leastUs(): number | undefined {
      giveUp(nowUs())
      return first?.us
    },
  }
}
