// Requests without a valid key, counted against the address they come from. Only where requests are limited at all: a 401 costs less than
// the counting, and no key can be guessed. A valid key always passes, also from an address that has used this up.
import { addressBlock } from '../../account/address-block.ts'
import { createAttemptLimiter } from '../../account/attempt-limiter.ts'
import type { Clock } from '../../clock.ts'
import { Problem } from '../../problem.ts'

const PER_ADDRESS = { limit: 100, windowS: 60, maxEntries: 10_000 }

/** Counts a request without a valid key; the Problem to refuse it with when there were too many, else undefined. */
export type LimitBadKeys = (request: Request) => Problem | undefined

export function createLimitBadKeys(clock: Clock, addressOf: (request: Request) => string): LimitBadKeys {
  const limiter = createAttemptLimiter({ clock, ...PER_ADDRESS })
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
