// Brings the tables to where this version needs them. Done steps are recorded in a table beside them, a step after its last statement: a kill in between repeats it.
// Several may prepare at once. Nothing that is there is ever changed by a setting; a difference is logged.
import type { Destination } from '../../event/event.ts'
import type { Logger } from '../../log.ts'
import type { WriteResult } from '../sink.ts'
import type { ClickHouseClient } from './client.ts'
import { ClickHouseFault } from './fault.ts'
import { judgeFailure } from './judge-failure.ts'
import { MIGRATIONS, type TableOptions } from './migrations.ts'
import { COLUMNS, type Table } from './rows.ts'

export interface PrepareOptions extends TableOptions {
  readonly database: string
  readonly holds: readonly Destination[]
  readonly tables: readonly Table[]
  readonly log: Logger
}

const STORED: WriteResult = { kind: 'stored', expired: 0 }

const UNKNOWN_TABLE = 60
const UNKNOWN_DATABASE = 81
const ACCESS_DENIED = 497

/** Never throws for anything that the store answers. */
export async function prepareTables(client: ClickHouseClient, options: PrepareOptions): Promise<WriteResult> {
  try {
    await migrate(client, options)
  } catch (error) {
    if (!isFault(error, ACCESS_DENIED)) return judgeFailure(error)
    const missing = await findUnusable(client, options)
    if (missing !== undefined) return missing
    options.log.info('ClickHouse: the user may not create tables; those that are there are used')
  }
  try {
    await reportRetention(client, options)
  } catch (error) {
    if (!isFault(error, ACCESS_DENIED)) return judgeFailure(error)
  }
  return STORED
}

async function migrate(client: ClickHouseClient, options: PrepareOptions): Promise<void> {
  const { schema, holds, log } = options
  const done = await readDone(client, options)
  for (const { number, holds: held, statements } of MIGRATIONS) {
    if (!holds.includes(held) || done.has(number)) continue
    for (const statement of statements(options)) await client.run(statement)
    await client.run(
      `INSERT INTO ${schema.migrations} (number, done_at) SETTINGS async_insert = 0, insert_deduplicate = 0 SELECT ${number}, now('UTC')`,
    )
    log.info({ database: options.database, number }, 'ClickHouse: tables created or changed')
  }
}

async function readDone(client: ClickHouseClient, { schema }: PrepareOptions): Promise<Set<number>> {
  const read = async () => {
    const rows = await client.select<{ number: number }>(`SELECT DISTINCT number FROM ${schema.migrations}`)
    return new Set(rows.map(({ number }) => number))
  }
  try {
    return await read()
  } catch (error) {
    if (!isFault(error, UNKNOWN_TABLE, UNKNOWN_DATABASE)) throw error
    if (isFault(error, UNKNOWN_DATABASE)) await client.run(`CREATE DATABASE IF NOT EXISTS ${schema.database}`)
    await client.run(
      `CREATE TABLE IF NOT EXISTS ${schema.migrations} (number UInt32, done_at DateTime('UTC')) ENGINE = ReplacingMergeTree ORDER BY number`,
    )
    return await read() // another may have been faster
  }
}

/** Undefined when all that is needed was created by somebody else. */
async function findUnusable(
  client: ClickHouseClient,
  { schema, tables }: PrepareOptions,
): Promise<WriteResult | undefined> {
  for (const table of tables) {
    try {
      for (const name of [schema.view(table), schema.raw(table)]) {
        await client.select(`SELECT ${COLUMNS[table].join(', ')} FROM ${name} LIMIT 0`)
      }
    } catch (error) {
      return judgeFailure(error)
    }
  }
  return undefined
}

async function reportRetention(client: ClickHouseClient, options: PrepareOptions): Promise<void> {
  const { database, tables, retentionDays, log } = options
  const found = await client.select<{ name: string; engine: string }>(
    "SELECT name, engine_full AS engine FROM system.tables WHERE database = {database:String} AND has(splitByChar(',', {tables:String}), name)",
    { database, tables: tables.map((table) => `${table}_raw`).join(',') },
  )
  for (const { name, engine } of found) {
    const ttl = / TTL (.*?)(?: SETTINGS |$)/s.exec(engine)?.[1]
    const actualDays = ttl === undefined ? 0 : Number(/^toDateTime\(at\) \+ toIntervalDay\((\d+)\)$/.exec(ttl)?.[1])
    if (actualDays === retentionDays) continue
    const retention = { table: name, actual: ttl ?? 'keep for ever', configured_days: retentionDays }
    log.warn(retention, 'ClickHouse: the table keeps another retention than RETENTION_DAYS; it is left as it is')
  }
}

const isFault = (error: unknown, ...codes: number[]): boolean =>
  error instanceof ClickHouseFault && error.code !== undefined && codes.includes(error.code)
