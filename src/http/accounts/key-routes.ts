// API keys over HTTP, for a session, or for a key with the scope `manage`. Owners see and change all keys of the
// account; other members, and keys, those that they created.
import type { Bound } from '../../account/keys.ts'
import type { Person } from '../../account/people/person-rows.ts'
import { isBroughtSecret } from '../../account/secret.ts'
import { checkProcess, stripText } from '../../event/fields.ts'
import { type Fault, invalidBody, Problem } from '../../problem.ts'
import * as wire from '../../wire/keys.ts'
import type { Scope } from '../../wire/roles.ts'
import { type Asker, refuseWiderScopes } from '../authorize.ts'
import type { Mounts } from '../mount.ts'
import type { PeopleDeps } from './session-answers.ts'

/** An address is logged and shown by many programs: it must not open more than the pings. */
const pingAlone = () => invalidBody([{ pointer: '/scopes', detail: 'ping cannot be combined with other scopes' }])

/** Process and secret of a ping key. Throws Problem `fields_invalid`. */
function readBound(scopes: readonly Scope[], process: string | undefined, secret: string | undefined): Bound {
  const errors: Fault[] = []
  if (process !== undefined) {
    const detail = scopes.includes('ping') ? checkProcess(process)[0] : 'is for a key with the scope ping alone'
    if (detail !== undefined) errors.push({ pointer: '/process', detail })
  }
  if (secret !== undefined) {
    const detail = isBroughtSecret(secret.toLowerCase()) ? undefined : 'must be a v4 UUID'
    const of = process === undefined ? 'is for a key of one process alone: send `process`, too' : detail
    if (of !== undefined) errors.push({ pointer: '/secret', detail: of })
  }
  if (errors.length > 0) throw invalidBody(errors)
  return {
    process: process === undefined ? null : stripText(process),
    ...(secret !== undefined && { secret: secret.toLowerCase() }),
  }
}

export function mountKeys({ on }: Mounts, { accounts }: PeopleDeps): void {
  const { keys } = accounts
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
  on(wire.CREATE_KEY, async (asker, { body, noted }) => {
    const { name, scopes = ['write' as const], process, secret } = body
    if (scopes.includes('ping') && scopes.length > 1) throw pingAlone()
    refuseWiderScopes(asker, scopes)
    const bound = readBound(scopes, process, secret)
    // a stranger could try which secrets are taken, or take one before its owner does
    if (secret !== undefined && accounts.signUpOpen() && !accounts.isOperator(asker.account))
      throw new Problem('operator_only', 'With SIGNUP=open only the operator’s account may bring a secret.')
    const key = await keys.create(asker.account, name.trim(), scopes, await personOf(asker), bound)
    noted.detail = key.name
    return { key }
  })
  on(wire.REVOKE_KEY, async (asker, { params, noted }) => {
    noted.detail = await keys.revoke(asker.account, params.id, await limitOf(asker))
  })
  on(wire.ROTATE_KEY, async (asker, { body: { overlap_seconds = 0 }, params, noted }) => {
    refuseWiderScopes(asker, (await keys.find(asker.account, params.id))?.scopes ?? [])
    const key = await keys.rotate(asker.account, params.id, overlap_seconds, await limitOf(asker))
    noted.detail = key.id
    return { key }
  })
  on(wire.TAKE_KEY, async ({ account, session }, { params, noted }) => {
    const key = await keys.take(account, params.id, { id: session!.person, email: session!.email })
    noted.detail = key.name
    return { key }
  })
}
