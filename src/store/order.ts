// The order of rows, the bounds of times and the buckets, which both stores and the answers share.
import { MAX_AHEAD_US } from '../event/own-time.ts'
import type { Buckets, GroupKey, MetricSummaryRow, Place, TimingSelection } from './source.ts'

/** The order of every list in the answers: times by value, names by code units. */
export const compare = <T extends bigint | string>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0)

/** Places newest first, rows of one time by their tie, which is compared by code points as ClickHouse does. */
export const comparePlaces = (a: Place, b: Place): number =>
  compare(b.ns, a.ns) || Buffer.compare(Buffer.from(a.tie), Buffer.from(b.tie))

/** Oldest bucket first, within it by process, meta and name. */
export const compareMetricRows = (a: MetricSummaryRow, b: MetricSummaryRow): number =>
  compare(a.atNs, b.atNs) ||
  compare(a.process, b.process) ||
  compare(a.meta ?? '', b.meta ?? '') ||
  compare(a.name, b.name)

/** Names a group; orders groups of one time by fingerprint, then process. */
export const groupTie = ({ process, fingerprint }: GroupKey): string => `${fingerprint}\0${process}`

/** The times that both stores and every form of the pairing rule hold: 1970 to 2255-01-01, in ns (53 bits of µs). */
export const FIRST_NS = 0n
export const LAST_NS = 8_993_721_600_000_000_000n

/** A stamp lies less than a second after its event's time: a store that selects by stamp reads that much further. */
export const STAMP_REACH_NS = 1_000_000_000n

const MAX_AHEAD_NS = BigInt(MAX_AHEAD_US) * 1000n

interface Range {
  readonly fromNs: bigint
  readonly toNs: bigint
}

type WindowOf = Range & Pick<TimingSelection, 'maxRunNs' | 'knownToNs'>

/**
 * The range of marks [fromNs, toNs) that decides every timing of the range.
 *
 * A run that reaches into the range started at most MAX_RUN before it; one that starts in it is settled at most MAX_RUN
 * later. A start whose next mark comes more than MAX_RUN later but ahead of now is abandoned: hence the 5 minutes.
 */
export function marksWindow({ fromNs, toNs, maxRunNs, knownToNs = LAST_NS }: WindowOf): Range {
  const lastNs = knownToNs < LAST_NS ? knownToNs : LAST_NS
  return {
    fromNs: fromNs - maxRunNs > FIRST_NS ? fromNs - maxRunNs : FIRST_NS,
    toNs: toNs + maxRunNs + MAX_AHEAD_NS < lastNs ? toNs + maxRunNs + MAX_AHEAD_NS : lastNs,
  }
}

/** The last of the ascending bounds that is not after `at`; the first one is not. */
export function floorTo<T extends bigint | number>(bounds: readonly T[], at: T): T {
  let low = 0
  for (let high = bounds.length; high - low > 1; ) {
    const middle = (low + high) >> 1
    if (bounds[middle]! <= at) low = middle
    else high = middle
  }
  return bounds[low]!
}

/** The start of the bucket that `ns` lies in. */
export const bucketNs = (ns: bigint, { everyNs, bounds }: Buckets): bigint =>
  bounds !== undefined ? floorTo(bounds, ns) : ns - (ns % everyNs!)
