// The choice about an account that a stranger may have made with the person's address.
import { Problem } from '../../problem.ts'
import type { Watches } from '../../watch/watches.ts'
import * as wire from '../../wire/disputes.ts'
import type { Asker } from '../authorize.ts'
import type { Mounts } from '../mount.ts'
import type { PeopleDeps } from './session-answers.ts'

export function mountDisputes({ on }: Mounts, deps: PeopleDeps, { channels }: Pick<Watches, 'channels'>): void {
  const { accounts, addressOf, audit } = deps
  const { disputes } = accounts

  /** Throws Problem `account_disputed` for everybody else. */
  function seatOf({ account, session }: Asker) {
    const person = accounts.disputedBy(account)
    if (person !== undefined && person !== session!.person)
      throw new Problem('account_disputed', 'The person who proved the address has to choose.')
    return { account, person: session!.person }
  }

  on(wire.SHOW_DISPUTE, async (asker) => {
    const { made, placeOf } = await disputes.made(seatOf(asker))
    const account = (await accounts.get(asker.account))!
    const channelsMade = (await channels.list(asker.account, 'viewer')).map(({ id, name, kind }): wire.Made => {
      const place = placeOf(id)
      const by = place?.target === id ? place.actor : null
      const common = {
        what: 'channel' as const,
        id,
        name: `${name} (${kind})`,
        by,
        last_used_at: null,
        used_from: null,
      }
      return { ...common, at: null, address: place?.target === id ? place.address : null }
    })
    return { account: { id: account.id, name: account.name }, made: [...made, ...channelsMade] }
  })
  on(wire.SETTLE_DISPUTE, async (asker, { request, body: { choice } }) => {
    const seat = seatOf(asker)
    const by = { actor: asker.session!.email, address: addressOf(request) }
    if (choice === 'keep') {
      await disputes.keep(seat)
      await audit('claim_kept', { account: seat.account, ...by })
      return { account: (await accounts.get(seat.account))!, key: null }
    }
    const { account, key, isDeleted } = await disputes.leave(seat, asker.session!.id)
    await audit('claim_left', { account: account.id, ...by, target: seat.account })
    if (isDeleted) deps.onDeleted(seat.account)
    else await audit('claim_left', { account: seat.account, ...by })
    return { account, key }
  })
}
