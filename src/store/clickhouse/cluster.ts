// A cluster (CLICKHOUSE_CLUSTER): its tables, and the clauses that reach them. For each table of events, like `marks`:
//
//     marks_shard   on each host, replicated within its shard: the rows     ◀─ erasure, ON CLUSTER
//     marks_final   on each host, a view: marks_shard FINAL
//     marks_raw     Distributed over marks_shard                            ◀─ inserts, copies
//     marks         Distributed over marks_final                            ◀─ questions, Grafana
//
// Rows are sharded by (account, process): all copies of an event and all marks of a run are on one shard, so FINAL and
// pairing per shard are exact. Shards must not change: a repeated insert on another would not merge; use `stint copy`.
import type { Family } from '../../event/event.ts'
import { CHECK_ACCOUNT } from '../sink.ts'
import type { ClickHouseClient } from './client.ts'

export interface Cluster {
  readonly name: string
  readonly database: string
  /** Follows the name in DDL, so that every host gets it. */
  readonly onCluster: string
  /** Begins the path of replicated tables in Keeper. */
  readonly path: string
}

export const SHARDING_KEY = 'cityHash64(account, process)'

/**
 * An insert returns when each shard has the rows on a majority of its replicas; with `distributed_foreground_insert` 0
 * it would before they left the first host. 30 s are below our own timeout; an unknown outcome is a retry.
 */
export const CLUSTER_INSERT_SETTINGS =
  "distributed_foreground_insert = 1, insert_quorum = 'auto', insert_quorum_timeout = 30000"

/** Settings of questions: the conditions on account and process choose the shard. */
export const CLUSTER_SELECT_SETTINGS = 'optimize_skip_unused_shards = 1'

/** Settings of DDL that the hosts run; a host that is down makes it a retry. */
export const CLUSTER_DDL_SETTINGS = 'distributed_ddl_task_timeout = 30'

export const createCluster = (name: string, database: string): Cluster => ({
  name,
  database,
  onCluster: ` ON CLUSTER \`${name}\``,
  // not {uuid}: a CREATE that reached some hosts is repeated, and the others must then join the same replicas
  path: `/clickhouse/tables/${name}/${database}`,
})

/** The rows of a table, on each host. */
export const shardTable = ({ database }: Cluster, table: Family): string => `\`${database}\`.\`${table}_shard\``

/** The statements that create a table of events; `storage` follows its engine, `select` is what questions read. */
export function createOnCluster(
  cluster: Cluster,
  table: Family,
  { columns, storage, select }: { readonly columns: string; readonly storage: string; select(from: string): string },
): string[] {
  const { name, database, onCluster, path } = cluster
  const named = (suffix: string) => `\`${database}\`.\`${table}${suffix}\``
  const distributed = (suffix: string, over: string) =>
    `CREATE TABLE IF NOT EXISTS ${named(suffix)}${onCluster} AS ${named(over)} ENGINE = Distributed('${name}', ` +
    `'${database}', '${table}${over}', ${SHARDING_KEY})`
  return [
    `CREATE TABLE IF NOT EXISTS ${named('_shard')}${onCluster} (${columns}) ENGINE = ` +
      `ReplicatedReplacingMergeTree('${path}/${table}/{shard}', '{replica}') ${storage}`,
    `CREATE VIEW IF NOT EXISTS ${named('_final')}${onCluster} AS ${select(named('_shard'))}`,
    distributed('_raw', '_shard'),
    distributed('', '_final'),
  ]
}

/**
 * Has each shard run a SELECT over its rows; yields the rows of all. Over a Distributed table only the innermost SELECT
 * runs on the shards, and every mark would travel. The SELECT must have no column `account` and one process per row;
 * what it orders or limits must be so again. The outer conditions on the sharding key choose a process's shard.
 */
export function onShards({ name }: Cluster, select: string, hasProcess: boolean): string {
  const chosen = hasProcess ? ' WHERE account = {account:String} AND process = {process:String}' : ''
  return (
    `SELECT * EXCEPT account FROM cluster('${name}', view(SELECT {account:String} AS account, * FROM (${select})), ` +
    `${SHARDING_KEY})${chosen}`
  )
}

/** A process with which the account of checks lies on the shard of this event. Throws ClickHouseFault. */
export async function findCanaryProcess(
  client: ClickHouseClient,
  { name }: Cluster,
  { account, process }: { readonly account: string; readonly process: string },
): Promise<string> {
  // a Distributed table takes the key modulo the sum of the weights
  const slots =
    '(SELECT sum(shard_weight) FROM (SELECT DISTINCT shard_num, shard_weight FROM system.clusters WHERE cluster ' +
    '= {cluster:String}))'
  const key = (values: string) => `${SHARDING_KEY.replace('account, process', values)} % ${slots}`
  const [row] = await client.select<{ canary: string }>(
    `SELECT concat('check-', toString(number)) AS canary FROM numbers(100000) ` +
      `WHERE ${key(`'${CHECK_ACCOUNT}', canary`)} = ${key('{account:String}, {process:String}')} LIMIT 1`,
    { cluster: name, account, process },
  )
  return row?.canary ?? 'check'
}
