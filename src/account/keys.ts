// API keys. SQLite holds every key, the Map those that may be used, by the SHA-256 of the secret. Invariants:
// * A key enters the Map after its row is durable and leaves it with its row's revocation, so a revoked key fails at the next request.
// * When a key was last used is noted in memory and written by `flush`, once a minute: all that comes in that moment waits for the one
//   transaction (SQLite runs in the event loop); no other request that is only answered by key waits for this disk.
// * Opening writes nothing, so that a start on a full disk succeeds: keys that ended long ago are removed by `flush`, too.
import type { Clock } from '../clock.ts'
import { Problem } from '../problem.ts'
import type { Scope } from '../wire/keys.ts'
import { SCOPES } from '../wire/keys.ts'
import type { AccountDatabase } from './database.ts'
import { createId, createKeySecret, hashSecret, looksLikeKey, visiblePrefix } from './secret.ts'

const KEYS_MAX = 10_000
const KEYS_IN_USE_MAX = 10_000
/** So long a key that has ended is still listed. */
const ENDED_LISTED_MS = 30 * 86_400_000
const FORGET_EVERY_MS = 3_600_000
/** What a request may do by its key. */
export interface FoundKey {
  readonly keyId: string
  readonly account: string
  readonly write: boolean
  readonly read: boolean
  /** Only pings, by address. */
  readonly ping: boolean
  /** Watches, channels and keys. */
  readonly manage: boolean
}

/** A key as lists show it. Times are ms since the epoch. */
export interface Key {
  readonly id: string
  readonly name: string
  /** The visible start of the secret. */
  readonly prefix: string
  readonly scopes: readonly Scope[]
  readonly createdMs: number
  readonly lastUsedMs: number | null
  /** Set by a rotation: from then on the key fails. */
  readonly expiresMs: number | null
  readonly revokedMs: number | null
}

/** The only time the secret is seen. */
export interface IssuedKey extends Key {
  readonly secret: string
}

export interface Keys {
  /** The hot path: one Map look-up; a SHA-256 and another one for a key that has not been used for a while. */
  find(secret: string): FoundKey | undefined
  /** Newest first, with those that ended in the last 30 days. */
  list(account: string): Key[]
  /** For use inside a `write`; the key works once `admit` is called with the result. */
  insert(account: string, name: string, scopes: readonly Scope[]): IssuedKey
  admit(account: string, key: IssuedKey): void
  create(account: string, name: string, scopes: readonly Scope[]): IssuedKey
  /** A new key with the same name and scopes; the old one lasts `overlapS` more seconds, at most to the end it already had. Throws Problem `not_found`. */
  rotate(account: string, id: string, overlapS: number): IssuedKey
  /** From the next look-up on the key fails. A key that has ended stays as it is. Throws Problem `not_found`. */
  revoke(account: string, id: string): void
  /** Forgets the keys of an account whose rows are gone. */
  dropAccount(account: string): void
  /** Writes down when keys were last used, and now and then removes those that ended too long ago to be listed. */
  flush(): void
}

interface Entry extends FoundKey {
  expiresMs: number
  lastUsedMs: number
  unwritten: boolean
}

interface Row {
  id: string
  account: string
  name: string
  prefix: string
  hash: string
  may_write: number
  may_read: number
  may_ping: number
  may_manage: number
  created_ms: number
  last_used_ms: number | null
  expires_ms: number | null
  revoked_ms: number | null
}

export function loadKeys({ db, write }: AccountDatabase, clock: Clock): Keys {
  const nowMs = () => Math.floor(clock.wallUs() / 1000)
  const byHash = new Map<string, Entry>()
  /** Keys in use by their exact text, which saves the hash. Emptied whenever a key ends. */
  const bySecret = new Map<string, Entry>()
  let unwritten: Entry[] = []
  let forgottenMs = Number.NEGATIVE_INFINITY

  const ended = 'coalesce(min(revoked_ms, expires_ms), revoked_ms, expires_ms)'
  const live = db.query<Row, [number]>(
    'SELECT * FROM api_key WHERE revoked_ms IS NULL AND coalesce(expires_ms, ?1 + 1) > ?1',
  )
  for (const row of live.iterate(nowMs())) byHash.set(row.hash, toEntry(row))

  const selectOne = db.query<Row, [string, string]>('SELECT * FROM api_key WHERE account = ? AND id = ?')
  const selectAll = db.query<Row, [string, number]>(
    `SELECT * FROM api_key WHERE account = ? AND coalesce(${ended} >= ?, true) ORDER BY created_ms DESC, rowid DESC`,
  )
  const insertRow = db.query<null, (string | number)[]>(
    'INSERT INTO api_key (id, account, name, prefix, hash, may_write, may_read, may_ping, may_manage, created_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const forget = db.query<{ hash: string }, [number]>(`DELETE FROM api_key WHERE ${ended} < ? RETURNING hash`)
  const countRows = db.query<{ n: number }, [string]>('SELECT count(*) n FROM api_key WHERE account = ?')

  function insert(account: string, name: string, scopes: readonly Scope[]): IssuedKey {
    if (countRows.get(account)!.n >= KEYS_MAX) {
      const detail = `An account has at most ${KEYS_MAX} keys, those that ended in the last 30 days included.`
      throw new Problem('fields_invalid', detail, { errors: [{ pointer: '', detail }] })
    }
    const secret = createKeySecret()
    const key = {
      id: createId('key'),
      name,
      prefix: visiblePrefix(secret),
      scopes: SCOPES.filter((scope) => scopes.includes(scope)),
      createdMs: nowMs(),
      lastUsedMs: null,
      expiresMs: null,
      revokedMs: null,
      secret,
    }
    const may = (scope: Scope) => Number(scopes.includes(scope))
    const hash = hashSecret(secret)
    const scoped = [may('write'), may('read'), may('ping'), may('manage')]
    insertRow.run(key.id, account, name, key.prefix, hash, ...scoped, key.createdMs)
    return key
  }

  function admit(account: string, key: IssuedKey): void {
    byHash.set(hashSecret(key.secret), {
      keyId: key.id,
      account,
      write: key.scopes.includes('write'),
      read: key.scopes.includes('read'),
      ping: key.scopes.includes('ping'),
      manage: key.scopes.includes('manage'),
      expiresMs: Number.POSITIVE_INFINITY,
      lastUsedMs: 0,
      unwritten: false,
    })
  }

  function get(account: string, id: string): Row {
    const row = selectOne.get(account, id)
    if (row === null) throw new Problem('not_found', 'The account has no key with this id.')
    return row
  }

  function flush(): void {
    writeUses()
    const now = nowMs()
    if (Math.abs(now - forgottenMs) < FORGET_EVERY_MS) return
    const gone = write(() => forget.all(now - ENDED_LISTED_MS))
    for (const { hash } of gone) byHash.delete(hash)
    bySecret.clear()
    forgottenMs = now
  }

  function writeUses(): void {
    if (unwritten.length === 0) return
    const entries = unwritten
    const update = db.query<null, [number, string]>('UPDATE api_key SET last_used_ms = ? WHERE id = ?')
    write(() => {
      for (const { keyId, lastUsedMs } of entries) update.run(lastUsedMs, keyId)
    })
    for (const entry of entries) entry.unwritten = false
    unwritten = []
  }

  function findByHash(secret: string): Entry | undefined {
    if (!looksLikeKey(secret)) return undefined
    const entry = byHash.get(hashSecret(secret))
    if (bySecret.size >= KEYS_IN_USE_MAX) bySecret.clear()
    if (entry !== undefined) bySecret.set(secret, entry)
    return entry
  }

  return {
    find(secret) {
      const entry = bySecret.get(secret) ?? findByHash(secret)
      if (entry === undefined) return undefined
      const now = nowMs()
      if (now >= entry.expiresMs) {
        byHash.delete(hashSecret(secret))
        bySecret.clear()
        return undefined
      }
      entry.lastUsedMs = now
      if (!entry.unwritten) {
        entry.unwritten = true
        unwritten.push(entry)
      }
      return entry
    },
    list(account) {
      const used = new Map(unwritten.map((entry) => [entry.keyId, entry.lastUsedMs]))
      return selectAll
        .all(account, nowMs() - ENDED_LISTED_MS)
        .map((row) => toKey({ ...row, last_used_ms: used.get(row.id) ?? row.last_used_ms }))
    },
    insert,
    admit,
    create(account, name, scopes) {
      const key = write(() => insert(account, name, scopes))
      admit(account, key)
      return key
    },
    rotate(account, id, overlapS) {
      const now = nowMs()
      const { key, old } = write(() => {
        const old = get(account, id)
        if (old.revoked_ms !== null || (old.expires_ms ?? now + 1) <= now) {
          throw new Problem('not_found', 'The key has ended already; make a new one instead.')
        }
        old.expires_ms = Math.min(now + overlapS * 1000, old.expires_ms ?? Number.POSITIVE_INFINITY)
        db.query('UPDATE api_key SET expires_ms = ? WHERE id = ?').run(old.expires_ms, id)
        return { old, key: insert(account, old.name, toKey(old).scopes) }
      })
      admit(account, key)
      const entry = byHash.get(old.hash)
      if (entry) entry.expiresMs = old.expires_ms!
      return key
    },
    revoke(account, id) {
      const { hash } = get(account, id)
      write(() => db.query('UPDATE api_key SET revoked_ms = coalesce(revoked_ms, ?) WHERE id = ?').run(nowMs(), id))
      byHash.delete(hash)
      bySecret.clear()
    },
    dropAccount(account) {
      bySecret.clear()
      for (const [hash, entry] of byHash) if (entry.account === account) byHash.delete(hash)
    },
    flush,
  }
}

const toEntry = (row: Row): Entry => ({
  keyId: row.id,
  account: row.account,
  write: row.may_write === 1,
  read: row.may_read === 1,
  ping: row.may_ping === 1,
  manage: row.may_manage === 1,
  expiresMs: row.expires_ms ?? Number.POSITIVE_INFINITY,
  lastUsedMs: row.last_used_ms ?? 0,
  unwritten: false,
})

const toKey = (row: Row): Key => ({
  id: row.id,
  name: row.name,
  prefix: row.prefix,
  scopes: SCOPES.filter((scope) => row[`may_${scope}`] === 1),
  createdMs: row.created_ms,
  lastUsedMs: row.last_used_ms,
  expiresMs: row.expires_ms,
  revokedMs: row.revoked_ms,
})
