// API keys over HTTP, for a session, or for a key with the scope `manage`. Owners see and change all keys of the
// account; other members, and keys, those that they created.
import type { Person } from '../../account/people/person-rows.ts'
import { invalidBody } from '../../problem.ts'
import * as wire from '../../wire/keys.ts'
import { type Asker, refuseWiderScopes } from '../authorize.ts'
import type { Mounts } from '../mount.ts'
import type { PeopleDeps } from './session-answers.ts'

/** An address is logged and shown by many programs: it must not open more than the pings. */
const pingAlone = () => invalidBody([{ pointer: '/scopes', detail: 'ping cannot be combined with other scopes' }])

export function mountKeys({ on }: Mounts, { accounts: { keys } }: PeopleDeps): void {
  /** The person for whom the request acts; undefined for a key without one. */
  async function personOf({ account, key, session }: Asker): Promise<Person | undefined> {
    if (session !== undefined) return { id: session.person, email: session.email }
    const creator = key && (await keys.find(account, key.keyId))?.creator
    return creator?.id ? { id: creator.id, email: creator.email } : undefined
  }

  /** The person whose keys the request may see and change; undefined: all. */
  const limitOf = async (asker: Asker): Promise<string | undefined> =>
    asker.role === 'owner' ? undefined : ((await personOf(asker))?.id ?? '')

  on(wire.LIST_KEYS, async (asker) => ({ keys: await keys.list(asker.account, await limitOf(asker)) }))
  on(wire.CREATE_KEY, async (asker, { body: { name, scopes = ['write' as const] }, noted }) => {
    if (scopes.includes('ping') && scopes.length > 1) throw pingAlone()
    refuseWiderScopes(asker, scopes)
    const key = await keys.create(asker.account, name.trim(), scopes, await personOf(asker))
    noted.detail = key.name
    return { key }
  })
  on(wire.REVOKE_KEY, async (asker, { params }) => {
    await keys.revoke(asker.account, params.id, await limitOf(asker))
  })
  on(wire.ROTATE_KEY, async (asker, { body: { overlap_seconds = 0 }, params, noted }) => {
    refuseWiderScopes(asker, (await keys.find(asker.account, params.id))?.scopes ?? [])
    const key = await keys.rotate(asker.account, params.id, overlap_seconds, await limitOf(asker))
    noted.detail = key.id
    return { key }
  })
  on(wire.TAKE_KEY, async ({ account, session }, { params }) => ({
    key: await keys.take(account, params.id, { id: session!.person, email: session!.email }),
  }))
}
