// Usable keys in memory, by the SHA-256 of their secrets. A key enters after its row is durable and leaves when the row
// is revoked, so a revoked key fails at the next request. The time of last use stays here until `flush` stores it.
import type { Database } from 'bun:sqlite'
import type { Clock } from '../clock.ts'
import type { Role } from '../wire/roles.ts'
import { hashSecret, looksLikeKey } from './secret.ts'

const KEYS_IN_USE_MAX = 10_000
const LOOKED_AT_ONCE = 5_000

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** The rights that a key gives a request. */
export interface FoundKey {
  readonly keyId: string
  readonly account: string
  readonly write: boolean
  readonly read: boolean
  /** Only pings, by address. */
  readonly ping: boolean
  /** The only process that its pings may name; null: any. */
  readonly process: string | null
  /** Watches, channels and the creator's keys. */
  readonly manage: boolean
  /** `viewer`: its creator is a viewer now, or has left. */
  readonly role: Exclude<Role, 'owner'>
  /** The operator suspended its account. */
  readonly isSuspended: boolean
  /** An address that used it since its last use was stored; undefined: nobody noted one yet. */
  usedFrom: string | undefined
}

/** The part of a key's row that decides about a request. */
export interface KeyRow {
  readonly id: string
  readonly account: string
  readonly hash: string
  readonly may_write: number
  readonly may_read: number
  /** 0 for a key of one process, which may ping by `process`. */
  readonly may_ping: number
  readonly may_manage: number
  /** 1: its creator is a viewer now, or has left. */
  readonly is_capped: number
  /** The process that a ping key is for; null: any. */
  readonly process: string | null
  /** ms since the epoch. */
  readonly expires_ms: number | null
}

export const KEY_COLUMNS = [
  ...([
    'id',
    'account',
    'hash',
    'may_write',
    'may_read',
    'may_ping',
    'may_manage',
    'is_capped',
    'expires_ms',
    'process',
  ] as const),
] satisfies (keyof KeyRow)[]

export interface KeyUse {
  readonly keyId: string
  /** ms since the epoch. */
  readonly lastUsedMs: number
  readonly usedFrom: string | undefined
}

interface Entry extends FoundKey {
  /** The last sweep that met it. */
  sweep: number

  role: Exclude<Role, 'owner'>
  isSuspended: boolean
  expiresMs: number
  lastUsedMs: number
  unwritten: boolean
}

export type KeyRing = ReturnType<typeof loadKeyRing>

/** Holds what the table `api_key` of `db` holds. */
export function loadKeyRing(db: Database, clock: Clock) {
  const nowMs = () => Math.floor(clock.wallUs() / 1000)
  const byHash = new Map<string, Entry>()
  /** Keys in use by their exact text, which saves the hash. Emptied whenever a key ends. */
  const bySecret = new Map<string, Entry>()
  const unwritten = new Map<string, Entry>()
  /** The hashes of each account's keys: an account that goes does not search all of them. */
  const byAccount = new Map<string, Set<string>>()
  const suspended = new Set<string>()
  let sweep = 0

  function set(row: KeyRow): void {
    const expiresMs = row.expires_ms ?? Number.POSITIVE_INFINITY
    const role = row.is_capped === 1 ? 'viewer' : 'member'
    const known = byHash.get(row.hash)
    if (known !== undefined) {
      known.expiresMs = expiresMs
      known.role = role
      known.sweep = sweep
    } else {
      const hashes = byAccount.get(row.account) ?? new Set()
      byAccount.set(row.account, hashes.add(row.hash))
      byHash.set(row.hash, {
        sweep,
        keyId: row.id,
        account: row.account,
        write: row.may_write === 1,
        read: row.may_read === 1,
        ping: row.may_ping === 1 || row.process !== null,
        process: row.process,
        manage: row.may_manage === 1,
        isSuspended: suspended.has(row.account),
        usedFrom: undefined,
        role,
        expiresMs,
        lastUsedMs: 0,
        unwritten: false,
      })
    }
  }

  function forget(hash: string): void {
    const account = byHash.get(hash)?.account
    if (account === undefined) return
    byHash.delete(hash)
    const hashes = byAccount.get(account)
    hashes?.delete(hash)
    if (hashes?.size === 0) byAccount.delete(account)
  }

  function remove(hash: string): void {
    forget(hash)
    bySecret.clear()
  }

  function findByHash(secret: string): Entry | undefined {
    if (!looksLikeKey(secret)) return undefined
    const entry = byHash.get(hashSecret(secret))
    if (bySecret.size >= KEYS_IN_USE_MAX) bySecret.clear()
    if (entry !== undefined) bySecret.set(secret, entry)
    return entry
  }

  const live = db.query<KeyRow, [number]>(
    `SELECT ${KEY_COLUMNS} FROM api_key
     WHERE revoked_ms IS NULL AND (expires_ms IS NULL OR expires_ms > ?)`,
  )
  for (const row of live.iterate(nowMs())) set(row)

  return {
    /** The hot path: one Map look-up; a SHA-256 and another one for a key that has not been used for a while. */
    find(secret: string): FoundKey | undefined {
      const entry = bySecret.get(secret) ?? findByHash(secret)
      if (entry === undefined) return undefined
      const now = nowMs()
      if (now >= entry.expiresMs) {
        remove(hashSecret(secret))
        return undefined
      }
      entry.lastUsedMs = now
      if (!entry.unwritten) {
        entry.unwritten = true
        unwritten.set(entry.keyId, entry)
      }
      return entry
    },
    /** Adds a key, or changes when it ends and what it may. */
    set,
    /** Removes the rights that the row lacks and adds none: the row may be older than the ring. */
    restrict({ hash, expires_ms, is_capped }: KeyRow): void {
      const known = byHash.get(hash)
      if (known === undefined) return
      known.expiresMs = Math.min(known.expiresMs, expires_ms ?? Number.POSITIVE_INFINITY)
      if (is_capped === 1) known.role = 'viewer'
    },
    /** Also of the keys that the account gets later. */
    setSuspended(account: string, isSuspended: boolean): void {
      if (isSuspended) suspended.add(account)
      else suspended.delete(account)
      for (const hash of byAccount.get(account) ?? []) byHash.get(hash)!.isSuspended = isSuspended
    },
    /** The key fails from the next look-up on. */
    delete: remove,
    dropAccount(account: string): void {
      for (const hash of byAccount.get(account) ?? []) byHash.delete(hash)
      byAccount.delete(account)
      bySecret.clear()
    },
    /** Uses that are not written down yet. */
    uses: (): readonly KeyUse[] =>
      Array.from(unwritten.values(), ({ keyId, lastUsedMs, usedFrom }) => ({ keyId, lastUsedMs, usedFrom })),
    usesWritten(uses: readonly KeyUse[]): void {
      for (const { keyId, lastUsedMs } of uses) {
        const entry = unwritten.get(keyId)
        if (entry?.lastUsedMs !== lastUsedMs) continue // it was used again meanwhile
        entry.unwritten = false
        entry.usedFrom = undefined
        unwritten.delete(keyId)
      }
    },
    /** Begins to read all keys: `endSweep` removes those that are not `set` until then. */
    beginSweep(): void {
      sweep++
    },
    /** Removes, in slices, the keys that were not met. */
    async endSweep(): Promise<void> {
      let looked = 0
      for (const [hash, entry] of byHash) {
        if (entry.sweep !== sweep) forget(hash)
        if (++looked % LOOKED_AT_ONCE === 0) await nextTurn()
      }
      bySecret.clear()
    },
  }
}
