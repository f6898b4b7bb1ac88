// The order of every list in the answers: times by value, names by code units, places newest first.
import type { Place } from './source.ts'

export const compare = <T extends bigint | string>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0)

/** Newest first, rows of one time by their tie, which is compared by code points as ClickHouse does. */
export const comparePlaces = (a: Place, b: Place): number =>
  compare(b.ns, a.ns) || Buffer.compare(Buffer.from(a.tie), Buffer.from(b.tie))
