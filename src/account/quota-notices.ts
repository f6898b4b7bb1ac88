// The people to notify of a spent quota, and whether they were: each level once in 24 hours, over all nodes and
// restarts.
import { all, run, type Script, type SqlDatabase } from '../state/database.ts'

const DAY_MS = 86_400_000

/** Addresses that strangers claimed without a proof get no e-mail. */
const OWNERS = `SELECT person.email, verified_ms FROM membership JOIN person ON person.id = membership.person
  WHERE membership.account = $1 AND role = 'owner' AND (coalesce(claim, 0) = 0 OR verified_ms IS NOT NULL)
  ORDER BY email`

/** `taking`: does an address without a proof, for which the inviter may have accepted, get one more e-mail? */
export function createQuotaNotices(
  database: SqlDatabase,
  nowMs: () => number,
  taking: (email: string) => Script<boolean>,
) {
  function* take(account: string, level: 80 | 100): Script<string[]> {
    const noted = yield* run(
      `INSERT INTO quota_notice (account, level, told_ms) SELECT id, $1, $2 FROM account WHERE id = $3
       ON CONFLICT (account) DO UPDATE SET level = excluded.level, told_ms = excluded.told_ms
       WHERE quota_notice.told_ms <= $4 OR quota_notice.level < excluded.level`,
      ...[level, nowMs(), account, nowMs() - DAY_MS],
    )
    if (noted === 0) return []
    const told: string[] = []
    for (const { email, verified_ms } of yield* all<{ email: string; verified_ms: number | null }>(OWNERS, account))
      if (verified_ms !== null || (yield* taking(email))) told.push(email)
    return told
  }
  return {
    /** The owners to be told now; none if they were told in the last 24 hours. */
    take: (account: string, level: 80 | 100): Promise<string[]> => database.write(() => take(account, level)),
  }
}
