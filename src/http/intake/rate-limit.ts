// A limit of requests a second for each key: a token bucket that holds one second's worth.
// There is one bucket a valid key that was used; beyond MAX_BUCKETS all are forgotten, and every key begins with a full one.
import type { Clock } from '../../clock.ts'

export interface RateLimit {
  /** Takes a request of this key; 0 when it may pass, else the seconds after which it would. */
  take(key: string): number
  readonly limit: number
  /** Whole requests that the key may still make at once. */
  remaining(key: string): number
}

const MAX_BUCKETS = 100_000

interface Bucket {
  tokens: number
  filledUs: number
}

export function createRateLimit(clock: Clock, perSecond: number): RateLimit {
  const buckets = new Map<string, Bucket>()
  const fill = (key: string): Bucket => {
    const nowUs = clock.monotonicUs()
    let bucket = buckets.get(key)
    if (bucket === undefined) {
      if (buckets.size >= MAX_BUCKETS) buckets.clear()
      bucket = { tokens: perSecond, filledUs: nowUs }
      buckets.set(key, bucket)
    }
    bucket.tokens = Math.min(perSecond, bucket.tokens + ((nowUs - bucket.filledUs) / 1e6) * perSecond)
    bucket.filledUs = nowUs
    return bucket
  }
  return {
    limit: perSecond,
    take(key) {
      if (perSecond === 0) return 0
      const bucket = fill(key)
      if (bucket.tokens < 1) return (1 - bucket.tokens) / perSecond
      bucket.tokens--
      return 0
    },
    remaining: (key) => Math.floor(fill(key).tokens),
  }
}
