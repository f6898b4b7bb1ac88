// Limits of events per second: one token bucket per account, which holds one second's worth. A batch takes one token
// before its body is read and the rest afterwards, as debt: a batch above the limit passes, then the account waits.
// Requests without a valid key are counted by address, only where requests are limited at all: a 401 costs less than
// the counting, and keys cannot be guessed. A valid key always passes, also from an address over this limit.
import { addressBlock, createAttemptLimiter } from '../../account/attempt-limiter.ts'
import type { Clock } from '../../clock.ts'
import { Problem } from '../../problem.ts'

const MAX_BUCKETS = 100_000

interface Bucket {
  tokens: number
  filledUs: number
}

export type RateLimit = ReturnType<typeof createRateLimit>

/** `perSecond` 0 = no limit. Beyond MAX_BUCKETS accounts all are forgotten, and each begins with a full bucket. */
export function createRateLimit(clock: Clock, perSecond: number) {
  const buckets = new Map<string, Bucket>()
  const fill = (account: string): Bucket => {
    const nowUs = clock.monotonicUs()
    let bucket = buckets.get(account)
    if (bucket === undefined) {
      if (buckets.size >= MAX_BUCKETS) buckets.clear()
      bucket = { tokens: perSecond, filledUs: nowUs }
      buckets.set(account, bucket)
    }
    bucket.tokens = Math.min(perSecond, bucket.tokens + ((nowUs - bucket.filledUs) / 1e6) * perSecond)
    bucket.filledUs = nowUs
    return bucket
  }
  return {
    limit: perSecond,
    /** Takes one event of this account; 0 when it may pass, else the seconds after which it would. */
    take(account: string): number {
      if (perSecond === 0) return 0
      const bucket = fill(account)
      if (bucket.tokens < 1) return (1 - bucket.tokens) / perSecond
      bucket.tokens--
      return 0
    },
    /** So many more events of a request that has passed. */
    owe(account: string, events: number): void {
      if (perSecond === 0 || events <= 0) return
      fill(account).tokens -= events
    },
  }
}

const BAD_KEYS_PER_ADDRESS = { limit: 100, windowS: 60, maxEntries: 10_000 }

/** Counts a request without a valid key; returns the Problem to refuse it with when there were too many. */
export type LimitBadKeys = (request: Request) => Problem | undefined

export function createLimitBadKeys(clock: Clock, addressOf: (request: Request) => string): LimitBadKeys {
  const limiter = createAttemptLimiter({ clock, ...BAD_KEYS_PER_ADDRESS })
  return (request) => {
    try {
      limiter.attempt(addressBlock(addressOf(request)))
      return undefined
    } catch (error) {
      if (error instanceof Problem) return error
      throw error
    }
  }
}
