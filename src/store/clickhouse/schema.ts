// Quoted names of ClickHouse tables. The database's name is the only identifier that comes from the configuration.
import type { Family } from '../../event/event.ts'
import { createCluster, shardTable } from './cluster.ts'

/** Goes into a quoted identifier and into a string. */
const CLUSTER = /^[A-Za-z_][A-Za-z0-9_-]{0,62}$/

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/

export type Schema = ReturnType<typeof createSchema>

/** Throws when a name would need escaping. */
export function createSchema(database: string, clusterName?: string) {
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
    /** The table that is written to. */
    raw,
    /** The view that is read: FINAL, so that an event that was sent twice counts once. */
    view: (table: Family): string => qualify(table),
    /** The table that holds the rows: `raw`, or the table that each host of the cluster has. */
    stored: cluster === undefined ? raw : (table: Family) => shardTable(cluster, table),
    /** What 2.0 left of `raw` where it was killed while it partitioned by week. */
    leftover: (table: Family): string => qualify(`${table}_week`),
    migrations: qualify('stint_migrations'),
    /** Steps that older versions need not know. */
    additions: qualify('stint_additions'),
    /** Absent: one server, or the embedded engine. */
    cluster,
  }
}
