// argon2id by Bun.password, off the main thread. Each hash takes 19 MiB and 30 ms of a core, so only a few run at once, a bounded
// number waits, and the rest is told to come back: a flood of sign-ins cannot take the memory or the cores from the events.
import { Problem } from '../problem.ts'
import { normalizePassword } from './credentials.ts'

const ARGON2 = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const
const QUEUE_PER_SLOT = 16

/** No password has this hash. Comparing with it costs the same as with a real one, so an unknown address answers no faster. */
const NOBODY = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(43)}$${'A'.repeat(43)}`

export interface Passwords {
  /** Throws Problem `rate_limited` when too many wait already. */
  hash(password: string): Promise<string>
  /** `hash` undefined = there is no such account: false, after the same time. Throws like `hash`. */
  verify(password: string, hash: string | undefined): Promise<boolean>
}

/** `atOnce` hashes run at the same time. */
export function createPasswords(atOnce: number): Passwords {
  let running = 0
  const waiting: (() => void)[] = []

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (running < atOnce) running++
    else {
      if (waiting.length >= atOnce * QUEUE_PER_SLOT) {
        throw new Problem('rate_limited', 'Too many passwords are being checked at the moment.', { retryAfterS: 2 })
      }
      // Whoever leaves hands over the place, so `running` stays as it is.
      await new Promise<void>((go) => waiting.push(go))
    }
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }

  return {
    hash: (password) => inTurn(() => Bun.password.hash(normalizePassword(password), ARGON2)),
    verify: (password, hash) => inTurn(() => Bun.password.verify(normalizePassword(password), hash ?? NOBODY)),
  }
}
