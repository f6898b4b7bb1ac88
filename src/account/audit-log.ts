// The audit log of each account: who did what, when, from which address. Kept for 365 days, newest first.
import { all, get, run, type SqlDatabase } from '../state/database.ts'
import type { AuditAction } from '../wire/audit-actions.ts'

const KEPT_MS = 365 * 86_400_000
const FORGET_EVERY_MS = 3_600_000
const TEXT_MAX = 300

export interface AuditRecord {
  readonly account: string
  readonly action: AuditAction
  /** The person's e-mail address; null for a failed sign-in of an unknown address. */
  readonly actor: string | null
  /** The id of the key that the actor used. */
  readonly key: string | null
  /** An id or an e-mail address. */
  readonly target: string | null
  readonly detail: string | null
  /** The client's address. */
  readonly address: string
}

export interface AuditEntry extends AuditRecord {
  readonly seq: number
  /** ms since the epoch. */
  readonly atMs: number
}

export interface AuditQuestion {
  readonly action?: AuditAction
  readonly actor?: string
  readonly fromMs: number
  readonly toMs: number
  /** The last entry of the page before. */
  readonly before?: number
  readonly limit: number
}

/** All reject with Problem `store_unavailable`, `note` also with `disk_low` and `disk_failed`. */
export interface AuditLog {
  note(record: AuditRecord): Promise<void>
  list(account: string, question: AuditQuestion): Promise<AuditEntry[]>
}

interface Row {
  seq: number
  account: string
  at_ms: number
  action: AuditAction
  actor: string | null
  actor_key: string | null
  target: string | null
  detail: string | null
  address: string
}

export function createAuditLog(database: SqlDatabase, nowMs: () => number): AuditLog {
  let forgottenMs = Number.NEGATIVE_INFINITY
  const cut = (text: string | null) => text?.toWellFormed().replaceAll('\0', '').slice(0, TEXT_MAX) ?? null
  return {
    async note({ account, action, actor, key, target, detail, address }) {
      const now = nowMs()
      const forgets = Math.abs(now - forgottenMs) >= FORGET_EVERY_MS
      await database.write(function* () {
        if ((yield* get('SELECT 1 FROM account WHERE id = $1', account)) === undefined) return
        yield* run(
          'INSERT INTO audit (account, at_ms, action, actor, actor_key, target, detail, address) VALUES ($1, $2, ' +
            '$3, $4, $5, $6, $7, $8)',
          account,
          now,
          action,
          cut(actor),
          key,
          cut(target),
          cut(detail),
          cut(address),
        )
        if (forgets) yield* run('DELETE FROM audit WHERE at_ms < $1', now - KEPT_MS)
      })
      if (forgets) forgottenMs = now
    },
    async list(account, { action, actor, fromMs, toMs, before, limit }) {
      const rows = await database.read(() =>
        all<Row>(
          `SELECT * FROM audit WHERE account = $1 AND at_ms >= $2 AND at_ms < $3 AND seq < $4
           AND ($5 = '' OR action = $5) AND ($6 = '' OR actor = $6) ORDER BY seq DESC LIMIT $7`,
          account,
          fromMs,
          toMs,
          before ?? Number.MAX_SAFE_INTEGER,
          action ?? '',
          actor ?? '',
          limit,
        ),
      )
      return rows.map(({ at_ms, actor_key, ...row }) => ({ ...row, key: actor_key, atMs: at_ms }))
    },
  }
}
