// The audit log of each account: who did what, when, from which address. Kept for 365 days, newest first.
import { toTime } from '../clock.ts'
import { all, get, insert, run, type SqlDatabase } from '../state/database.ts'
import type { AuditEntry } from '../wire/audit.ts'
import type { AuditAction } from '../wire/audit-actions.ts'
import type { KnownNetworks } from './known-networks.ts'

const KEPT_MS = 365 * 86_400_000
const FORGET_EVERY_MS = 3_600_000
const TEXT_MAX = 300

type AuditRecord = Omit<AuditEntry, 'at'> & { readonly account: string }

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
export function createAuditLog(database: SqlDatabase, nowMs: () => number, networks: Pick<KnownNetworks, 'note'>) {
  let forgottenMs = Number.NEGATIVE_INFINITY
  const cut = (text: string | null) => text?.toWellFormed().replaceAll('\0', '').slice(0, TEXT_MAX) ?? null
  return {
    async note({ account, action, actor, key: actor_key, target, detail, address }: AuditRecord): Promise<void> {
      const now = nowMs()
      if (action === 'signed_in') networks.note(address)
      const texts = { actor: cut(actor), target: cut(target), detail: cut(detail), address: cut(address) }
      const forgets = Math.abs(now - forgottenMs) >= FORGET_EVERY_MS
      await database.write(function* () {
        if ((yield* get('SELECT 1 FROM account WHERE id = $1', account)) === undefined) return
        yield* insert('audit', { account, at_ms: now, action, actor_key, ...texts })
        if (forgets) yield* run('DELETE FROM audit WHERE at_ms < $1', now - KEPT_MS)
      })
      if (forgets) forgottenMs = now
    },
    async list(account: string, { action, actor, fromMs, toMs, before, limit }: AuditQuestion) {
      const rows = await database.read(() =>
        all<Omit<AuditEntry, 'at'> & { readonly seq: number; readonly at_ms: number }>(
          `SELECT seq, at_ms, action, actor, actor_key AS "key", target, detail, address
           FROM audit WHERE account = $1 AND at_ms >= $2 AND at_ms < $3 AND seq < $4
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
      return rows.map(({ at_ms, ...row }) => ({ at: toTime(at_ms), ...row }))
    },
  }
}
