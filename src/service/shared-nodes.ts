// The other nodes of this PostgreSQL, and faults in how several nodes are set up, for /readyz, /api/health and the log.

import type { Logger } from '../log.ts'
import type { Config } from '../settings.ts'
import { openPostgresLeases, type PostgresLeases } from '../state/postgres-leases.ts'
import { FRESH_S, type Leases, type NodeLease } from '../store/node-lease.ts'
import type { KnownNode } from '../watch/nodes/presence.ts'
import type { HealthWarning } from '../wire/operations.ts'

export interface SharedNodes extends Pick<PostgresLeases, 'split' | 'close'> {
  /** None without DATABASE_URL. */
  readonly leases: readonly Leases[]
}

export function openSharedNodes({ databaseUrl: url, clickhouse }: Config, log: Logger): SharedNodes {
  if (url === undefined) return { leases: [], split: () => [], close: async () => {} }
  const isEmbedded = clickhouse === undefined
  const onSplit = (nodes: readonly number[]) => log.warn(splitText(nodes))
  const leases = openPostgresLeases({ url, freshS: FRESH_S, isEmbedded, onSplit })
  return { leases: [leases], split: leases.split, close: leases.close }
}

type Rival = NonNullable<ReturnType<NodeLease['rival']>>

export const rivalText = ({ holder, isOurs }: Rival): string =>
  `Another Stint uses the same NODE_ID: it renewed it in ${holder.store}. Their events may overwrite each other. ` +
  (isOurs
    ? 'Stop the other one, and give it a NODE_ID of its own.'
    : 'This one is not ready until the other one has stopped. Give it a NODE_ID and a DATA_DIR of its own.')

export function nodeWarnings(nodeLease: NodeLease, sharedNodes: SharedNodes): HealthWarning[] {
  const rival = nodeLease.rival()
  const split = sharedNodes.split()
  return [
    ...(rival === undefined ? [] : [{ code: 'node_id_in_use' as const, detail: rivalText(rival) }]),
    ...(split.length === 0 ? [] : [{ code: 'events_split' as const, detail: splitText(split) }]),
  ]
}

/** Nodes that were killed and stay away: they may hold accepted events. */
export const silenceWarnings = (nodes: readonly KnownNode[]): HealthWarning[] =>
  nodes
    .filter(({ isSilent }) => isSilent)
    .map(({ node, seenUs }) => ({
      code: 'node_silent',
      detail:
        `Node ${node} has been silent since ${new Date(seenUs / 1000).toISOString()} and may hold events that are ` +
        'neither stored nor judged. Start Stint on its DATA_DIR until nothing waits.',
    }))

const splitText = (nodes: readonly number[]): string =>
  `The nodes ${nodes.join(', ')} share their accounts, but not all share their events: without CLICKHOUSE_URL a ` +
  'node keeps ' +
  'events in its own embedded engine, and no other node finds them. Set CLICKHOUSE_URL on every node.'
