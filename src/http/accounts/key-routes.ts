// API keys over HTTP, for a session, or for a key with the scope `manage`. Owners see and change all keys of the
// account; other members, and keys, those that they created.
import type { IssuedKey, Key } from '../../account/keys.ts'
import type { Person } from '../../account/people/person-rows.ts'
import { invalidBody } from '../../problem.ts'
import * as wire from '../../wire/keys.ts'
import { type Asker, refuseWiderScopes } from '../authorize.ts'
import type { Mounts } from '../mount.ts'
import { readJson } from '../read-json.ts'
import { type PeopleDeps, toTime } from './session-answers.ts'

const maybeTime = (ms: number | null): string | null => (ms === null ? null : toTime(ms))

export const answerIssuedKey = ({ id, name, prefix, scopes, secret }: IssuedKey): wire.IssuedKey => ({
  id,
  name,
  prefix,
  scopes: [...scopes],
  secret,
})

const answerKey = ({
  id,
  name,
  prefix,
  scopes,
  createdMs,
  lastUsedMs,
  expiresMs,
  revokedMs,
  creator,
}: Key): wire.Key => ({
  id,
  name,
  prefix,
  scopes: [...scopes],
  created_at: toTime(createdMs),
  last_used_at: maybeTime(lastUsedMs),
  expires_at: maybeTime(expiresMs),
  revoked_at: maybeTime(revokedMs),
  creator: creator && { id: creator.id, email: creator.email },
})

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

  on(wire.LIST_KEYS, async (asker) => ({
    keys: (await keys.list(asker.account, await limitOf(asker))).map(answerKey),
  }))
  on(wire.CREATE_KEY, async (_, { request, again, noted }) => {
    const { name, scopes = ['write'] } = await readJson(request, wire.CreateKey)
    if (scopes.includes('ping') && scopes.length > 1) throw pingAlone()
    const asker = await again()
    refuseWiderScopes(asker, scopes)
    const key = await keys.create(asker.account, name.trim(), scopes, await personOf(asker))
    noted.detail = key.name
    return { key: answerIssuedKey(key) }
  })
  on(wire.REVOKE_KEY, async (asker, { params }) => {
    await keys.revoke(asker.account, params.id, await limitOf(asker))
  })
  on(wire.ROTATE_KEY, async (_, { request, params, again, noted }) => {
    const { overlap_seconds = 0 } = await readJson(request, wire.RotateKey)
    const asker = await again()
    refuseWiderScopes(asker, (await keys.find(asker.account, params.id))?.scopes ?? [])
    const key = await keys.rotate(asker.account, params.id, overlap_seconds, await limitOf(asker))
    noted.detail = key.id
    return { key: answerIssuedKey(key) }
  })
  on(wire.TAKE_KEY, async ({ account, session }, { params }) => ({
    key: answerKey(await keys.take(account, params.id, { id: session!.person, email: session!.email })),
  }))
}
