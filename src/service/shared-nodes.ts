// The other nodes of this PostgreSQL, and faults in how several nodes are set up, for /readyz, /api/health and the log.
import { join } from 'node:path'
import type { Logger } from '../log.ts'
import type { Config } from '../settings.ts'
import { readDataDirId } from '../state/data-dir-lock.ts'
import { type NodeLease, openNodeLease, type Rival } from '../state/node-lease.ts'
import type { KnownNode } from '../watch/nodes/presence.ts'
import type { HealthWarning } from '../wire/operations.ts'

/** Without DATABASE_URL: the ids of accounts are random, so other Stints never write what this one does. */
const ALONE: NodeLease = { start: async () => {}, rival: () => undefined, split: () => [], stop: async () => {} }

export function openSharedNodes(config: Config, isNew: boolean, log: Logger): NodeLease {
  const { databaseUrl: url, clickhouse, dataDir, nodeId } = config
  if (url === undefined) return ALONE
  const isEmbedded = clickhouse === undefined
  const onSplit = (nodes: readonly number[]) => log.warn(splitText(nodes))
  return openNodeLease({ url, nodeId, dataDirId: readDataDirId(dataDir), isNew, isEmbedded, log, onSplit })
}

/**
 * An accounts.sqlite that was copied into a new DATA_DIR has the accounts of another node, which is number 0 unless
 * NODE_ID says otherwise. Throws an Error for the operator.
 */
export function refuseSecondNodeZero({ nodeId, databaseUrl, influx, clickhouse, dataDir }: Config): void {
  if (nodeId !== 0 || databaseUrl !== undefined || (influx ?? clickhouse) === undefined) return
  throw new Error(
    `DATA_DIR ${dataDir} is new and its accounts come from another Stint: set NODE_ID to a number that no other ` +
      `Stint on these stores has. If none uses 0 any more, write 0 into ${join(dataDir, 'node-id')}`,
  )
}

export const rivalText = ({ ageS }: Rival): string =>
  `Another DATA_DIR uses the same NODE_ID: it renewed it in PostgreSQL ${Math.round(ageS)} s ago. Their events may ` +
  'overwrite each other. This one is not ready until the other one has stopped. Give it a NODE_ID and a DATA_DIR of ' +
  'its own.'

export function nodeWarnings(nodes: NodeLease): HealthWarning[] {
  const rival = nodes.rival()
  const split = nodes.split()
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
