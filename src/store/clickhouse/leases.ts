// Leases of NODE_IDs in ClickHouse, in their own table with the server's time.
import { FRESH_S, type Leases } from '../node-lease.ts'
import type { ClickHouseClient } from './client.ts'
import type { Schema } from './schema.ts'

export function createClickHouseLeases(client: ClickHouseClient, { database, nodes, cluster }: Schema): Leases {
  const onCluster = cluster?.onCluster ?? ''
  // each host of a cluster has all of it, whatever its shard
  const engine = cluster
    ? `ReplicatedReplacingMergeTree('${cluster.path}/stint_nodes', '{shard}-{replica}', at)`
    : 'ReplacingMergeTree(at)'
  let isCreated = false

  async function create(): Promise<void> {
    if (isCreated) return
    await client.run(`CREATE DATABASE IF NOT EXISTS ${database}${onCluster}`)
    await client.run(
      `CREATE TABLE IF NOT EXISTS ${nodes}${onCluster} (node UInt8, data_dir String, held Bool, at DateTime64(3, ` +
        `'UTC')) ` +
        `ENGINE = ${engine} ORDER BY (node, data_dir)`,
    )
    isCreated = true
  }

  return {
    store: 'ClickHouse',
    async read(nodeId) {
      await create()
      return await client.select<{ dataDirId: string; ageS: number }>(
        'SELECT data_dir AS dataDirId, toFloat64(toUnixTimestamp64Milli(now64(3)) - ' +
          `toUnixTimestamp64Milli(max(at))) / 1000 AS ageS FROM ${nodes} ` +
          `WHERE node = {node:UInt8} GROUP BY data_dir HAVING argMax(held, at) AND ageS < ${FRESH_S}`,
        { node: nodeId },
      )
    },
    async write(nodeId, dataDirId, isHeld) {
      await create()
      await client.run(
        `INSERT INTO ${nodes} (node, data_dir, held, at) SETTINGS async_insert = 0, insert_deduplicate = 0 ` +
          'SELECT {node:UInt8}, {dir:String}, {held:UInt8} = 1, now64(3)',
        { node: nodeId, dir: dataDirId, held: isHeld ? 1 : 0 },
        1,
      )
    },
  }
}
