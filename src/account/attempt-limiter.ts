// How often somebody may try: `limit` attempts at once, regained evenly over `windowS` (the generic cell rate algorithm: one number a key).
// Memory is bounded: beyond `maxEntries` the key that tried longest ago is forgotten.
import type { Clock } from '../clock.ts'
import { Problem } from '../problem.ts'

export interface AttemptLimiter {
  /** Counts an attempt. Throws Problem `rate_limited` with the seconds to wait when it is one too many; such an attempt is not counted. */
  attempt(key: string): void
  /** Takes one attempt back: it turned out to be a good one. */
  forgive(key: string): void
}

export interface AttemptLimiterOptions {
  readonly clock: Clock
  readonly limit: number
  readonly windowS: number
  readonly maxEntries: number
}

export function createAttemptLimiter({ clock, limit, windowS, maxEntries }: AttemptLimiterOptions): AttemptLimiter {
  const windowUs = windowS * 1e6
  const stepUs = windowUs / limit
  /** When all attempts of a key will be regained, by the monotonic clock; the Map's order is that of the last attempt. */
  const regainedUs = new Map<string, number>()

  return {
    attempt(key) {
      const nowUs = clock.monotonicUs()
      const next = Math.max(regainedUs.get(key) ?? 0, nowUs) + stepUs
      // The µs is for what the sums were rounded by.
      const waitUs = next - nowUs - windowUs
      if (waitUs > 1) {
        throw new Problem('rate_limited', 'Too many attempts. Wait before the next one.', {
          retryAfterS: Math.ceil(waitUs / 1e6),
        })
      }
      regainedUs.delete(key)
      if (regainedUs.size >= maxEntries) regainedUs.delete(regainedUs.keys().next().value!)
      regainedUs.set(key, next)
    },
    forgive(key) {
      const at = regainedUs.get(key)
      if (at !== undefined) regainedUs.set(key, at - stepUs)
    },
  }
}
