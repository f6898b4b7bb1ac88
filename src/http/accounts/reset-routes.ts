// Password reset by e-mail. The answer is the same, and as fast, for unknown addresses: the e-mail is sent afterwards.

import { normalizeEmail, passwordFault } from '../../account/credentials.ts'
import { networkOf } from '../../account/networks.ts'
import { Problem } from '../../problem.ts'
import * as wire from '../../wire/accounts.ts'
import type { Mounts } from '../mount.ts'
import { noteClaims, type PeopleDeps, requirePasswords } from './session-answers.ts'

export function mountReset({ onStranger }: Mounts, deps: PeopleDeps): void {
  const { people, tickets } = deps.accounts
  const { limits, mails, publicUrl, addressOf, audit, mailFailed } = deps

  async function sendLink(email: string): Promise<void> {
    const person = await people.find(email)
    if (person === undefined) return
    await mails?.reset(person.email, async () => {
      const isThere = (await people.find(email))?.id === person.id
      return isThere ? `${publicUrl()}/#/reset?token=${await tickets.issue(person.id)}` : undefined
    })
  }

  onStranger(wire.REQUEST_RESET, (_, { request, body: { email } }) => {
    requirePasswords(deps)
    if (mails === undefined)
      throw new Problem('not_found', 'E-mail is not set up here: ask the operator for a new password.')
    limits.resetsOfCaller.attempt(networkOf(addressOf(request)))
    const normal = normalizeEmail(email)
    if (normal !== undefined) {
      limits.resetsOfPerson.attempt(normal)
      sendLink(normal).catch(mailFailed)
    }
    return { sent: true as const }
  })
  const rules = { new_password: (password: string) => passwordFault(password)?.detail }
  onStranger(wire.RESET_PASSWORD, rules, async (_, { request, body: { token, new_password } }) => {
    requirePasswords(deps)
    limits.resetsOfCaller.attempt(networkOf(addressOf(request)))
    const person = await tickets.redeem(token)
    if (person === undefined)
      throw new Problem('credentials_invalid', 'The link has expired or was already used. Request a new one.')
    const { id, email, disputed } = await people.resetPassword({ id: person }, new_password, true)
    const { account } = await people.landing(id)
    await noteClaims(deps, { disputed, email, address: addressOf(request) })
    await audit('password_reset', { account, actor: email, address: addressOf(request) })
  })
}
