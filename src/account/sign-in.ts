// Proves a person's identity by password. Attempts are counted before the password is checked:
// * failures by address, and by account and address: an account is never locked as such, or anyone who knows its e-mail
//   address could lock its owner out. An unknown e-mail address counts like a known one;
// * every attempt by account and address, successful ones too: each costs a hash;
// * with a session, by the session alone: nobody else's failures matter to it.
import type { Clock } from '../clock.ts'
import { Problem } from '../problem.ts'
import { normalizeEmail } from './credentials.ts'
import type { Passwords } from './passwords.ts'
import { addressBlock, createTokenBuckets } from './token-buckets.ts'

const WINDOW_S = 15 * 60
const FAILURES_PER_ACCOUNT_AND_ADDRESS = 10
const FAILURES_PER_ADDRESS = 50
const FAILURES_PER_SESSION = 10
const ATTEMPTS = 200
const MAX_ENTRIES = 10_000

export type Attempt = {
  readonly email: string
  readonly password: string
  /** The hash of the person's password; undefined = no such person, or one without a password. */
  hash(normalEmail: string): string | undefined | Promise<string | undefined>
} & (
  | {
      /** The client's address. */
      readonly address: string
    }
  | {
      /** The session that asks. */
      readonly session: string
    }
)

const askerOf = (attempt: Attempt): string => ('session' in attempt ? attempt.session : addressBlock(attempt.address))

/** Resolves when the password is right. Throws Problem `credentials_invalid` or `rate_limited`. */
export type ProvePassword = (attempt: Attempt) => Promise<void>

export function createProvePassword(clock: Clock, passwords: Passwords): ProvePassword {
  const limiter = (limit: number) => createTokenBuckets({ clock, limit, windowS: WINDOW_S, maxEntries: MAX_ENTRIES })
  const byAddress = limiter(FAILURES_PER_ADDRESS)
  const byBoth = limiter(FAILURES_PER_ACCOUNT_AND_ADDRESS)
  const bySession = limiter(FAILURES_PER_SESSION)
  const attempts = limiter(ATTEMPTS)

  /** Gives what takes the counted failure back. */
  function count(attempt: Attempt, account: string): () => void {
    if ('session' in attempt) {
      bySession.attempt(attempt.session)
      return () => bySession.forgive(attempt.session)
    }
    const stranger = addressBlock(attempt.address)
    const both = `${stranger} ${account}`
    attempts.attempt(both)
    byAddress.attempt(stranger)
    byBoth.attempt(both)
    return () => {
      byAddress.forgive(stranger)
      byBoth.forgive(both)
    }
  }

  return async (attempt) => {
    const normal = normalizeEmail(attempt.email)
    const forgive = count(attempt, normal ?? '')
    const known = normal === undefined ? undefined : await attempt.hash(normal)
    if (!(await passwords.verify(attempt.password, known, askerOf(attempt)))) {
      throw new Problem('credentials_invalid', 'No account has this e-mail address and password.')
    }
    forgive()
  }
}
