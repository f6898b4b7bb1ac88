// Proves a person's identity by password. Attempts are counted before the password is checked:
// * failures by address, and by account and address: an account is never locked as such, or anyone who knows its e-mail
//   address could lock its owner out. An unknown e-mail address counts like a known one;
// * every attempt by account and address, successful ones too: each costs a hash;
// * with a session, by the session alone: nobody else's failures matter to it.
import type { Clock } from '../clock.ts'
import { Problem } from '../problem.ts'
import { normalizeEmail } from './credentials.ts'
import type { KnownNetworks } from './known-networks.ts'
import { coarserNetwork, networkOf } from './networks.ts'
import type { Asker } from './password-line.ts'
import type { Passwords } from './passwords.ts'
import { createTokenBuckets } from './token-buckets.ts'

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

/** `both`: an account and a network. The same account and the next coarser network. */
function coarserBoth(both: string): string | undefined {
  const network = coarserNetwork(both.slice(both.lastIndexOf(' ') + 1))
  return network && both.slice(0, both.lastIndexOf(' ') + 1) + network
}

/** Resolves when the password is right. Throws Problem `credentials_invalid` or `rate_limited`. */
export type ProvePassword = (attempt: Attempt) => Promise<void>

export function createProvePassword(clock: Clock, passwords: Passwords, networks: KnownNetworks): ProvePassword {
  const limiter = (limit: number, coarser?: (key: string) => string | undefined) =>
    createTokenBuckets({ clock, limit, windowS: WINDOW_S, maxEntries: MAX_ENTRIES, ...(coarser && { coarser }) })
  const byAddress = limiter(FAILURES_PER_ADDRESS, coarserNetwork)
  const byBoth = limiter(FAILURES_PER_ACCOUNT_AND_ADDRESS, coarserBoth)
  const bySession = limiter(FAILURES_PER_SESSION)
  const attempts = limiter(ATTEMPTS, coarserBoth)

  const askerOf = async (attempt: Attempt): Promise<Asker> =>
    'session' in attempt
      ? { name: attempt.session, isKnown: true }
      : { name: networkOf(attempt.address), isKnown: await networks.has(attempt.address) }

  /** Gives what takes the counted failure back. */
  function count(attempt: Attempt, account: string): () => void {
    if ('session' in attempt) {
      bySession.attempt(attempt.session)
      return () => bySession.forgive(attempt.session)
    }
    const stranger = networkOf(attempt.address)
    const both = `${account} ${stranger}`
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
    if (!(await passwords.verify(attempt.password, known, await askerOf(attempt)))) {
      throw new Problem('credentials_invalid', 'No account has this e-mail address and password.')
    }
    forgive()
  }
}
