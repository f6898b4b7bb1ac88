// The networks of sign-ins within 30 days, from the audit log: passwords from there are checked before those of
// strangers. Read once, the newest 10,000; the sign-ins of this node are added.
import { all, type SqlDatabase } from '../state/database.ts'
import { networkOf } from './networks.ts'

const KNOWN_MS = 30 * 86_400_000
const NETWORKS_MAX = 10_000

export type KnownNetworks = ReturnType<typeof createKnownNetworks>

export function createKnownNetworks(database: Pick<SqlDatabase, 'read'>, nowMs: () => number) {
  /** When somebody last signed in from there; the longest ago first. */
  const seenMs = new Map<string, number>()
  let reading: Promise<void> | undefined

  function note(address: string, ms = nowMs()): void {
    const network = networkOf(address)
    seenMs.delete(network)
    if (seenMs.size >= NETWORKS_MAX) seenMs.delete(seenMs.keys().next().value!)
    seenMs.set(network, ms)
  }

  async function readAudit(): Promise<void> {
    const rows = await database.read(() =>
      all<{ address: string; ms: number }>(
        `SELECT address, max(at_ms) AS ms FROM audit WHERE action = 'signed_in' AND at_ms > $1 GROUP BY address
         ORDER BY ms DESC LIMIT $2`,
        nowMs() - KNOWN_MS,
        NETWORKS_MAX,
      ),
    )
    const since = [...seenMs]
    seenMs.clear()
    for (const { address, ms } of rows.reverse()) note(address, ms)
    for (const [network, ms] of since) note(network, ms)
  }

  return {
    note,
    async has(address: string): Promise<boolean> {
      reading ??= readAudit().catch(() => {
        reading = undefined // the database is away: the next attempt reads again
      })
      await reading
      return nowMs() - (seenMs.get(networkOf(address)) ?? Number.NEGATIVE_INFINITY) < KNOWN_MS
    },
  }
}
