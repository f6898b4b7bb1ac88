// A store as 1.1 left it: its tables are partitioned by month.
import { FAMILIES } from '../../../src/event/event.ts'
import type { ClickHouseClient } from '../../../src/store/clickhouse/client.ts'

/** Rewrites the tables that this version made, with their rows; in a cluster those that end in `_shard`. */
export async function partitionByMonth(client: ClickHouseClient, database: string, suffix = '_raw'): Promise<void> {
  for (const family of FAMILIES) {
    const [raw, former] = [`${database}.${family}${suffix}`, `${database}.${family}_former`]
    const [table] = await client.select<{ engine: string }>(
      'SELECT engine_full AS engine FROM system.tables WHERE database = {database:String} AND name = {name:String}',
      { database, name: `${family}${suffix}` },
    )
    const byMonth = table!.engine.replace('PARTITION BY toMonday(at)', 'PARTITION BY toYYYYMM(at)')
    await client.run(`CREATE TABLE ${former} AS ${raw} ENGINE = ${byMonth}`)
    await client.run(`INSERT INTO ${former} SELECT * FROM ${raw}`)
    await client.run(`EXCHANGE TABLES ${raw} AND ${former}`)
    await client.run(`DROP TABLE ${former} SYNC`)
  }
}

/** Table → what it is partitioned by; a table that a rewriting left is there, too. */
export async function partitionsOf(client: ClickHouseClient, database: string): Promise<Record<string, string>> {
  const rows = await client.select<{ name: string; key: string }>(
    "SELECT name, partition_key AS key FROM system.tables WHERE database = {database:String} AND partition_key != ''",
    { database },
  )
  return Object.fromEntries(rows.map(({ name, key }) => [name, key]))
}
