// Password reset by e-mail. The answer is the same, and as fast, for unknown addresses: the e-mail is sent afterwards.
import type { Accounts } from '../../account/accounts.ts'
import type { AttemptLimiter } from '../../account/attempt-limiter.ts'
import { normalizeEmail, passwordFault } from '../../account/credentials.ts'
import type { Logger } from '../../log.ts'
import { Problem } from '../../problem.ts'
import * as wire from '../../wire/accounts.ts'
import type { Mounts } from '../mount.ts'
import { requirePasswords } from './session-answers.ts'

export interface ResetRoutesDeps {
  readonly accounts: Pick<Accounts, 'people' | 'tickets'>
  /** Keyed by the client's address and by the e-mail address. */
  readonly limiter: AttemptLimiter
  /** May people sign in by a password? */
  readonly passwordSignIn: boolean
  /** Absent without SMTP. */
  readonly send: ((to: string, url: string) => Promise<void>) | undefined
  publicUrl(): string
  addressOf(request: Request): string
  /** Called after someone has set a new password. */
  audit(email: string, request: Request): Promise<void>
  readonly log: Logger
}

export function mountReset({ onStranger }: Mounts, deps: ResetRoutesDeps): void {
  const { accounts, limiter, send, publicUrl, addressOf, log } = deps

  async function sendLink(email: string): Promise<void> {
    const person = await accounts.people.find(email)
    if (send === undefined || person === undefined) return
    const { token } = await accounts.tickets.issue('reset', person.id)
    await send(person.email, `${publicUrl()}/#/reset?token=${token}`)
  }

  onStranger(wire.REQUEST_RESET, (_, { request, body: { email } }) => {
    requirePasswords(deps)
    if (send === undefined)
      throw new Problem('not_found', 'E-mail is not set up here: ask the operator for a new password.')
    limiter.attempt(addressOf(request))
    const normal = normalizeEmail(email)
    if (normal !== undefined) {
      limiter.attempt(normal)
      sendLink(normal).catch((err: unknown) => log.warn({ err }, 'a password reset could not be sent'))
    }
    return { sent: true as const }
  })
  const rules = { new_password: (password: string) => passwordFault(password)?.detail }
  onStranger(wire.RESET_PASSWORD, rules, async (_, { request, body: { token, new_password } }) => {
    requirePasswords(deps)
    limiter.attempt(addressOf(request))
    const ticket = await accounts.tickets.redeem('reset', token)
    if (ticket === undefined)
      throw new Problem('credentials_invalid', 'The link has expired or was already used. Request a new one.')
    const { email } = await accounts.people.resetPassword({ id: ticket.person }, new_password, true)
    await deps.audit(email, request)
  })
}
