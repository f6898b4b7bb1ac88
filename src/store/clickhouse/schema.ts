// Quoted names of ClickHouse tables. The database's name is the only identifier that comes from the configuration.
import type { Family } from '../../event/event.ts'
import { type Cluster, createCluster, shardTable } from './cluster.ts'

/** Goes into a quoted identifier and into a string. */
const CLUSTER = /^[A-Za-z_][A-Za-z0-9_-]{0,62}$/

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/

export interface Schema {
  readonly database: string
  /** The table that is written to. */
  raw(table: Family): string
  /** The view that is read: FINAL, so that an event that was sent twice counts once. */
  view(table: Family): string
  /** The table that holds the rows: `raw`, or the table that each host of the cluster has. */
  stored(table: Family): string
  /** What 2.0 left of `raw` where it was killed while it partitioned by week. */
  leftover(table: Family): string
  readonly migrations: string
  /** Steps that older versions need not know. */
  readonly additions: string
  /** Absent: one server, or the embedded engine. */
  readonly cluster: Cluster | undefined
}

/** Throws when a name would need escaping. */
export function createSchema(database: string, clusterName?: string): Schema {
  if (!IDENTIFIER.test(database)) {
    throw new Error('CLICKHOUSE_DATABASE: must be letters, digits and underscores, and not begin with a digit')
  }
  if (clusterName !== undefined && !CLUSTER.test(clusterName)) {
    throw new Error('CLICKHOUSE_CLUSTER: must be letters, digits, _ and -, and begin with a letter or _')
  }
  const qualify = (name: string) => `\`${database}\`.\`${name}\``
  const cluster = clusterName === undefined ? undefined : createCluster(clusterName, database)
  const raw = (table: Family) => qualify(`${table}_raw`)
  return {
    database: `\`${database}\``,
    raw,
    view: (table) => qualify(table),
    stored: cluster === undefined ? raw : (table) => shardTable(cluster, table),
    leftover: (table) => qualify(`${table}_week`),
    migrations: qualify('stint_migrations'),
    additions: qualify('stint_additions'),
    cluster,
  }
}
