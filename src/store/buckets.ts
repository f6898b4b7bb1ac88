// Buckets of time, as the sources are asked for them.
import type { Buckets } from './source.ts'

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
