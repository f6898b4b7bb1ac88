// API keys: all of them in the database, usable ones in the key ring. Invariants:
// * A key enters the ring after its row is durable and leaves when it is revoked, so it fails at the next request. With
//   PostgreSQL it enters by what is read back, in the order of changes of all nodes: `ring.set` only restricts there.
// * The ring notes when a key was last used; `flush` stores it once a minute, in a few transactions. Requests that need
//   only a key never wait for the database.
// * Opening writes nothing, so a start on a full disk succeeds: `flush` also removes keys that ended long ago.
import { toTime } from '../clock.ts'
import { Problem } from '../problem.ts'
import { all, get, insert as insertRow, run, type Script, type SqlDatabase } from '../state/database.ts'
import type { IssuedKey, Key } from '../wire/keys.ts'
import { SCOPES, type Scope } from '../wire/roles.ts'
import type { KeyRing, KeyRow, KeyUse } from './key-ring.ts'
import { type Person, selectRole } from './people/person-rows.ts'
import { createId, createKeySecret, hashSecret, visiblePrefix } from './secret.ts'

const KEYS_MAX = 10_000
/** A key that has ended is listed for this long. */
const ENDED_LISTED_MS = 30 * 86_400_000
const FORGET_EVERY_MS = 3_600_000
/** Last uses in one transaction. */
const USES_AT_ONCE = 500

interface Row extends KeyRow {
  readonly name: string
  readonly prefix: string
  readonly creator: string | null
  readonly creator_email: string | null
  readonly created_ms: number
  readonly last_used_ms: number | null
  readonly revoked_ms: number | null
}

/** When a key ended or will end: the earlier one of the two. */
const ENDED = 'CASE WHEN expires_ms IS NULL OR revoked_ms < expires_ms THEN revoked_ms ELSE expires_ms END'

/** A ping key's only process, and a secret that the caller brings, a v4 UUID. */
export interface Bound {
  readonly process: string | null
  readonly secret?: string
}

const UNBOUND: Bound = { process: null }

export type Keys = ReturnType<typeof createKeys>

/** All reject with Problem `store_unavailable`, changes also `disk_low`, `disk_failed`. `of`: only of this creator. */
export function createKeys(database: SqlDatabase, ring: KeyRing, nowMs: () => number) {
  let forgottenMs = Number.NEGATIVE_INFINITY

  function* insert(
    account: string,
    name: string,
    scopes: readonly Scope[],
    creator: Key['creator'] = null,
    { process, secret = createKeySecret() }: Bound = UNBOUND,
  ): Script<IssuedKey> {
    const counted = yield* get<{ n: number }>('SELECT count(*) n FROM api_key WHERE account = $1', account)
    if (counted!.n >= KEYS_MAX) {
      const detail = `An account has at most ${KEYS_MAX} keys, those that ended in the last 30 days included.`
      throw new Problem('fields_invalid', detail, { errors: [{ pointer: '', detail }] })
    }
    const hash = hashSecret(secret)
    if ((yield* get('SELECT 1 AS one FROM api_key WHERE hash = $1', hash)) !== undefined)
      throw new Problem('key_taken', 'A key of this Stint has this secret. Omit `secret` to get a random one.')
    const shown = { id: createId('key'), name, prefix: visiblePrefix(secret) }
    const made = { created_ms: nowMs(), creator: creator?.id ?? null, creator_email: creator?.email ?? null }
    yield* insertRow('api_key', { ...shown, account, hash, ...rightsOf(scopes, process), process, ...made })
    return { ...shown, scopes: SCOPES.filter((scope) => scopes.includes(scope)), ...onlyOf(process), secret }
  }

  function admit(account: string, { id, scopes, secret, ...key }: IssuedKey, is_capped = 0): void {
    const process = key.process ?? null
    const rights = rightsOf(scopes, process)
    ring.set({ id, account, hash: hashSecret(secret), ...rights, process, is_capped, expires_ms: null })
  }

  /** With the last uses, of which some are not written yet. */
  function used(rows: readonly Row[]): Key[] {
    const last = new Map(ring.uses().map(({ keyId, lastUsedMs }) => [keyId, lastUsedMs]))
    return rows.map((row) => toKey({ ...row, last_used_ms: last.get(row.id) ?? row.last_used_ms }))
  }

  const select = (account: string, id: string) =>
    get<Row>('SELECT * FROM api_key WHERE account = $1 AND id = $2', account, id)

  function* find(account: string, id: string, of?: string): Script<Row> {
    const row = yield* select(account, id)
    if (row === undefined || (of !== undefined && row.creator !== of))
      throw new Problem('not_found', 'The account has no key with this id.')
    return row
  }

  async function writeUses(): Promise<void> {
    const uses = ring.uses()
    for (let from = 0; from < uses.length; from += USES_AT_ONCE) {
      const some = uses.slice(from, from + USES_AT_ONCE)
      await database.write(() => noteUses(some))
      ring.usesWritten(some)
    }
  }

  return {
    /** Newest first, including keys that ended in the last 30 days. */
    async list(account: string, of?: string): Promise<Key[]> {
      const rows = await database.read(() =>
        all<Row>(
          `SELECT * FROM api_key WHERE account = $1 AND coalesce(${ENDED} >= $2, true) ORDER BY created_ms DESC, ` +
            'rowid DESC',
          account,
          nowMs() - ENDED_LISTED_MS,
        ),
      )
      const listed = of === undefined ? rows : rows.filter(({ creator }) => creator === of)
      return used(listed)
    },
    async find(account: string, id: string): Promise<Key | undefined> {
      const row = await database.read(() => select(account, id))
      return row && used([row])[0]
    },
    /** For use inside a `write`; the key works once `admit` is called with the result. */
    insert,
    admit,
    /** Throws Problem `role_missing` when the creator is no member any more, or a viewer, and `key_taken`. */
    async create(
      account: string,
      name: string,
      scopes: readonly Scope[],
      creator?: Person,
      bound?: Bound,
    ): Promise<IssuedKey> {
      const key = await database.write(function* () {
        if (creator !== undefined) {
          const role = yield* selectRole({ account, person: creator.id })
          if (role === undefined || role === 'viewer') throw new Problem('role_missing', 'A viewer creates no keys.')
        }
        return yield* insert(account, name, scopes, creator, bound)
      })
      admit(account, key)
      return key
    },
    /**
     * Same name, scopes and process, and a random secret; the old key ends in `overlapS` seconds, or as before if
     * sooner. Throws `not_found`.
     */
    async rotate(account: string, id: string, overlapS: number, of?: string): Promise<IssuedKey> {
      const now = nowMs()
      const { key, old } = await database.write(function* () {
        const row = yield* find(account, id, of)
        if (row.revoked_ms !== null || (row.expires_ms ?? now + 1) <= now) {
          throw new Problem('not_found', 'The key has ended already; make a new one instead.')
        }
        const old = { ...row, expires_ms: Math.min(now + overlapS * 1000, row.expires_ms ?? Number.POSITIVE_INFINITY) }
        yield* run('UPDATE api_key SET expires_ms = $1 WHERE id = $2', old.expires_ms, id)
        const key = yield* insert(account, old.name, toKey(old).scopes, creatorOf(old), { process: old.process })
        yield* run('UPDATE api_key SET is_capped = $1 WHERE id = $2', old.is_capped, key.id)
        return { old, key }
      })
      admit(account, key, old.is_capped)
      ring.set(old)
      return key
    },
    /** The key fails from the next look-up on; an ended one stays as it is. Returns its name. Throws `not_found`. */
    async revoke(account: string, id: string, of?: string): Promise<string> {
      const { hash, name } = await database.write(function* () {
        const row = yield* find(account, id, of)
        yield* run('UPDATE api_key SET revoked_ms = coalesce(revoked_ms, $1) WHERE id = $2', nowMs(), id)
        return row
      })
      ring.delete(hash)
      return name
    },
    /** The key counts as created by `heir`, an owner, from now on. Throws Problem `not_found` or `role_missing`. */
    async take(account: string, id: string, heir: Person): Promise<Key> {
      const row = await database.write(function* () {
        if ((yield* selectRole({ account, person: heir.id })) !== 'owner')
          throw new Problem('role_missing', 'Only an owner takes keys over.')
        const row = yield* find(account, id)
        const take = 'UPDATE api_key SET creator = $1, creator_email = $2, is_capped = 0 WHERE id = $3'
        yield* run(take, heir.id, heir.email, id)
        return { ...row, creator: heir.id, creator_email: heir.email, is_capped: 0 }
      })
      if (row.revoked_ms === null) ring.set(row)
      return used([row])[0]!
    },
    dropAccount: ring.dropAccount,
    /** Stores when keys were last used, and sometimes removes those that ended too long ago to be listed. */
    async flush(): Promise<void> {
      await writeUses()
      const now = nowMs()
      if (Math.abs(now - forgottenMs) < FORGET_EVERY_MS) return
      const forget = `DELETE FROM api_key WHERE ${ENDED} < $1 RETURNING hash`
      const gone = await database.write(() => all<{ hash: string }>(forget, now - ENDED_LISTED_MS))
      for (const { hash } of gone) ring.delete(hash)
      forgottenMs = now
    },
  }
}

function* noteUses(uses: readonly KeyUse[]): Script<void> {
  for (const { keyId, lastUsedMs, usedFrom } of uses)
    yield* run(
      `UPDATE api_key SET last_used_ms = $1, last_used_from = coalesce($2, last_used_from)
       WHERE id = $3 AND (last_used_ms IS NULL OR last_used_ms < $1)`,
      lastUsedMs,
      usedFrom ?? null,
      keyId,
    )
}

/** A key of one process may ping by that column alone: see BOUND_KEYS. */
const rightsOf = (scopes: readonly Scope[], process: string | null) => ({
  may_write: Number(scopes.includes('write')),
  may_read: Number(scopes.includes('read')),
  may_ping: Number(scopes.includes('ping') && process === null),
  may_manage: Number(scopes.includes('manage')),
})

const toKey = (row: Row): Key => ({
  id: row.id,
  name: row.name,
  prefix: row.prefix,
  scopes: row.process === null ? SCOPES.filter((scope) => row[`may_${scope}`] === 1) : ['ping'],
  ...onlyOf(row.process),
  created_at: toTime(row.created_ms),
  last_used_at: maybeTime(row.last_used_ms),
  expires_at: maybeTime(row.expires_ms),
  revoked_at: maybeTime(row.revoked_ms),
  creator: creatorOf(row),
})

const onlyOf = (process: string | null): { readonly process?: string } => (process === null ? {} : { process })

const maybeTime = (ms: number | null) => (ms === null ? null : toTime(ms))

const creatorOf = ({ creator, creator_email }: Row): Key['creator'] =>
  creator_email === null ? null : { id: creator, email: creator_email }
