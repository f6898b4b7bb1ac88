// Leases of NODE_IDs in PostgreSQL, by its clock (../store/node-lease.ts): the nodes that share it, and where each
// keeps its events. Also noticed when no store is shared.
import { all, run } from './database.ts'
import { openPostgres } from './postgres.ts'

interface PostgresLeasesOptions {
  readonly url: string
  /** An older lease counts as given back. */
  readonly freshS: number
  /** Does this node keep events in an embedded engine? */
  readonly isEmbedded: boolean
  /** Called when `split` returns other nodes than before, and some. */
  onSplit(nodes: readonly number[]): void
}

interface LeaseRow {
  readonly dataDirId: string
  readonly ageS: number
}

const NOW_US = '(extract(epoch FROM clock_timestamp()) * 1000000)::bigint'

export type PostgresLeases = ReturnType<typeof openPostgresLeases>

/** Opens no connection yet. */
export function openPostgresLeases({ url, freshS, isEmbedded, onSplit }: PostgresLeasesOptions) {
  const postgres = openPostgres(url, 'leases')
  let split: readonly number[] = []
  return {
    store: 'PostgreSQL',
    async read(nodeId: number): Promise<readonly LeaseRow[]> {
      const rows = await postgres.read(() =>
        all<LeaseRow & { node: number; embedded: number }>(
          `SELECT data_dir AS "dataDirId", (${NOW_US} - at_us) / 1000000 AS "ageS", node, embedded FROM node_lease
           WHERE held = 1 AND at_us > ${NOW_US} - $1::bigint ORDER BY node`,
          freshS * 1_000_000,
        ),
      )
      const before = split.join()
      split = rows.length > 1 && rows.some(({ embedded }) => embedded === 1) ? rows.map(({ node }) => node) : []
      if (split.length > 0 && split.join() !== before) onSplit(split)
      return rows.filter(({ node }) => node === nodeId).map(({ dataDirId, ageS }) => ({ dataDirId, ageS }))
    },
    async write(nodeId: number, dataDirId: string, isHeld: boolean): Promise<void> {
      await postgres.read(() =>
        run(
          `WITH old AS (DELETE FROM node_lease WHERE at_us < ${NOW_US} - 86400000000)
           INSERT INTO node_lease VALUES ($1, $2, $3, $4, ${NOW_US}) ON CONFLICT (data_dir) DO UPDATE
           SET node = excluded.node, held = excluded.held, embedded = excluded.embedded, at_us = excluded.at_us`,
          dataDirId,
          nodeId,
          isHeld ? 1 : 0,
          isEmbedded ? 1 : 0,
        ),
      )
    },
    /**
     * At the last `read`: all nodes if there are several and one of them keeps events where others do not read them.
     */
    split: (): readonly number[] => split,
    close: postgres.close,
  }
}
