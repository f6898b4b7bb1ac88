// Proving who somebody is by e-mail and password. Attempts are counted before the password is looked at, by address and by account
// (an unknown e-mail counts like a known one), and taken back when it was right: only failures use them up.
import type { Clock } from '../clock.ts'
import { Problem } from '../problem.ts'
import { addressBlock } from './address-block.ts'
import { createAttemptLimiter } from './attempt-limiter.ts'
import { normalizeEmail } from './credentials.ts'
import type { Passwords } from './passwords.ts'

const WINDOW_S = 15 * 60
const FAILURES_PER_ACCOUNT = 10
const FAILURES_PER_ADDRESS = 50
const MAX_ENTRIES = 10_000

/** Resolves when the password is that of `hash` (undefined = no such account). Throws Problem `credentials_invalid` or `rate_limited`. */
export type ProvePassword = (attempt: {
  email: string
  password: string
  /** Where the attempt comes from. */
  address: string
  hash: (normalEmail: string) => string | undefined
}) => Promise<void>

export function createProvePassword(clock: Clock, passwords: Passwords): ProvePassword {
  const limiter = (limit: number) => createAttemptLimiter({ clock, limit, windowS: WINDOW_S, maxEntries: MAX_ENTRIES })
  const byAddress = limiter(FAILURES_PER_ADDRESS)
  const byAccount = limiter(FAILURES_PER_ACCOUNT)

  return async ({ email, password, address, hash }) => {
    const normal = normalizeEmail(email)
    const account = normal ?? ''
    const stranger = addressBlock(address)
    byAddress.attempt(stranger)
    byAccount.attempt(account)
    const known = normal === undefined ? undefined : hash(normal)
    if (!(await passwords.verify(password, known))) {
      throw new Problem('credentials_invalid', 'No account has this e-mail address and password.')
    }
    byAddress.forgive(stranger)
    byAccount.forgive(account)
  }
}
