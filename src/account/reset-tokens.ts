// Links that set a new password: each is good once, for 30 minutes. Only hashes are kept, in memory: a restart ends them.
import type { Clock } from '../clock.ts'
import { createSessionToken, hashSecret } from './secret.ts'

const VALID_US = 30 * 60e6
const MAX_TOKENS = 10_000

export interface ResetTokens {
  issue(email: string): string
  /** The address it was issued for; undefined when it is unknown, used or too old. */
  redeem(token: string): string | undefined
}

export function createResetTokens(clock: Clock): ResetTokens {
  const issued = new Map<string, { readonly email: string; readonly endsUs: number }>()
  return {
    issue(email) {
      const token = createSessionToken()
      issued.set(hashSecret(token), { email, endsUs: clock.monotonicUs() + VALID_US })
      if (issued.size > MAX_TOKENS) issued.delete(issued.keys().next().value!)
      return token
    },
    redeem(token) {
      const hash = hashSecret(token)
      const found = issued.get(hash)
      issued.delete(hash)
      return found !== undefined && clock.monotonicUs() < found.endsUs ? found.email : undefined
    },
  }
}
