// The marks a question about timings must read, so that its answer does not depend on the window: both sources and the guard against
// questions that are too large use this one range.
import { MAX_AHEAD_US } from '../event/own-time.ts'

/** A stamp lies less than a second after its event's time: a store that selects by stamp reads that much further. */
export const STAMP_REACH_NS = 1_000_000_000n

const MAX_AHEAD_NS = BigInt(MAX_AHEAD_US) * 1000n

/** The times that both stores and every writing of the pairing rule can hold: the epoch to 2255-01-01, in ns (53 bits of µs). No event lies outside it. */
export const FIRST_NS = 0n
export const LAST_NS = 8_993_721_600_000_000_000n

interface Range {
  readonly fromNs: bigint
  readonly toNs: bigint
}

/**
 * The range of marks [fromNs, toNs) that decides every timing of the range.
 *
 * A run that reaches into the range started at most MAX_RUN before it, and one that starts in it is settled by a mark at most MAX_RUN later.
 * The 5 minutes are for a start whose next mark comes more than MAX_RUN later and yet lies ahead of now: it is abandoned, not running.
 */
export const marksWindow = ({ fromNs, toNs, maxRunNs }: Range & { readonly maxRunNs: bigint }): Range => ({
  fromNs: fromNs - maxRunNs > FIRST_NS ? fromNs - maxRunNs : FIRST_NS,
  toNs: toNs + maxRunNs + MAX_AHEAD_NS < LAST_NS ? toNs + maxRunNs + MAX_AHEAD_NS : LAST_NS,
})
