// Creates and migrates the tables. Each finished step is recorded after its last statement, so a kill repeats the step.
// Several processes may do this at once.
import type { Destination, Family } from '../../event/event.ts'
import type { Logger } from '../../log.ts'
import { STORED, type WriteResult } from '../sink.ts'
import type { ClickHouseClient } from './client.ts'
import { CLUSTER_INSERT_SETTINGS } from './cluster.ts'
import { ACCESS_DENIED, isFault, judgeFailure, UNKNOWN_DATABASE, UNKNOWN_TABLE } from './judge-failure.ts'
import { MIGRATIONS, type TableOptions, UNRELEASED } from './migrations.ts'
import { applyRetention, type StoredTable } from './retention.ts'
import { TABLES } from './tables.ts'

interface PrepareOptions extends TableOptions {
  readonly database: string
  readonly holds: readonly Destination[]
  readonly tables: readonly Family[]
  /** Nothing was prepared yet: then a table that was dropped is made again, empty. */
  readonly isStart: boolean
  readonly log: Logger
}

/** Never throws for anything that the store answers. */
export async function prepareTables(client: ClickHouseClient, options: PrepareOptions): Promise<WriteResult> {
  let done = new Set<number>()
  try {
    done = await readDone(client, options, 'migrations')
    const foreign = foreignForm(done, options)
    if (foreign !== undefined) return { kind: 'wait', reason: foreign }
    if (options.schema.cluster !== undefined) {
      const other = otherPlacement(await readEngines(client, options), options)
      if (other !== undefined) return other
    }
    done = done.union(await readDone(client, options, 'additions'))
    await migrate(client, options, done, options.isStart ? await findGone(client, options, done) : new Set())
  } catch (error) {
    if (!isFault(error, ACCESS_DENIED)) return judgeFailure(error)
    const missing = await findUnusable(client, options)
    if (missing !== undefined) return missing
    options.log.info('ClickHouse: the user may not create or change tables; the existing tables are used')
  }
  try {
    const engines = await readEngines(client, options)
    const other = otherPlacement(engines, options)
    if (other !== undefined) return other
    await applyRetention(client, engines, options, (table) => isMade(table, done))
  } catch (error) {
    if (!isFault(error, ACCESS_DENIED)) return judgeFailure(error)
  }
  return STORED
}

/** Why this version must not touch the tables; undefined when it may. */
function foreignForm(done: ReadonlySet<number>, { database, embedded }: PrepareOptions): string | undefined {
  const known = new Set(MIGRATIONS.map(({ number }) => number))
  const tables = embedded ? 'the tables of the embedded ClickHouse' : `the tables of database ${database}`
  const another = embedded
    ? 'move the directory clickhouse in DATA_DIR away'
    : 'set CLICKHOUSE_DATABASE to another database'
  for (const number of done) {
    if (UNRELEASED.has(number))
      return `${tables} were created by a version of Stint before the first release: delete them or ${another}`
    if (!known.has(number))
      return `${tables} were changed by a newer version of Stint (step ${number}): run that version or ${another}`
  }
  return undefined
}

async function migrate(
  client: ClickHouseClient,
  options: PrepareOptions,
  done: ReadonlySet<number>,
  gone: ReadonlySet<Family>,
): Promise<void> {
  const { schema, holds, log } = options
  const settings = `async_insert = 0, insert_deduplicate = 0${schema.cluster ? `, ${CLUSTER_INSERT_SETTINGS}` : ''}`
  for (const { number, holds: held, tables, isAddition, statements } of MIGRATIONS) {
    if (!holds.includes(held) || (done.has(number) && !tables.some((table) => gone.has(table)))) continue
    for (const statement of statements(options)) await client.run(statement)
    await client.run(
      `INSERT INTO ${isAddition ? schema.additions : schema.migrations} (number, done_at) SETTINGS ${settings} ` +
        `SELECT ${number}, now('UTC')`,
      {},
      1,
    )
    log.info({ database: options.database, number }, 'ClickHouse: tables created or changed')
  }
}

/** Did Stint make it, by one of these steps? */
const isMade = (table: Family, done: ReadonlySet<number>): boolean =>
  MIGRATIONS.some(({ number, tables }) => done.has(number) && tables.includes(table))

/** Tables and views that were made and are not there. */
async function findGone(
  client: ClickHouseClient,
  { database, tables, schema, log }: PrepareOptions,
  done: ReadonlySet<number>,
): Promise<Set<Family>> {
  const rows = await client
    .select<{ name: string }>('SELECT name FROM system.tables WHERE database = {database:String}', { database })
    .catch((denied: unknown) => {
      if (!isFault(denied, ACCESS_DENIED)) throw denied
    })
  if (rows === undefined) return new Set()
  const names = new Set(rows.map(({ name }) => name))
  const stored = schema.cluster === undefined ? 'raw' : 'shard'
  const made = tables.filter((table) => isMade(table, done))
  const gone = made.filter((table) => ['', '_raw', `_${stored}`].some((suffix) => !names.has(`${table}${suffix}`)))
  const lost = gone.filter((table) => !names.has(`${table}_${stored}`))
  if (lost.length > 0)
    log.warn({ database, tables: lost }, 'ClickHouse: tables are missing and made again, without their history')
  return new Set(gone)
}

/** The steps that one of the two tables notes; it is created if it is missing. */
async function readDone(
  client: ClickHouseClient,
  { schema }: PrepareOptions,
  table: 'migrations' | 'additions',
): Promise<Set<number>> {
  const read = async () => {
    const rows = await client.select<{ number: number }>(`SELECT DISTINCT number FROM ${schema[table]}`)
    return new Set(rows.map(({ number }) => number))
  }
  try {
    return await read()
  } catch (error) {
    if (!isFault(error, UNKNOWN_TABLE, UNKNOWN_DATABASE)) throw error
    const { cluster } = schema
    const isMissing = isFault(error, UNKNOWN_DATABASE)
    // of a cluster this host may have the database while others lack it
    if (isMissing || cluster !== undefined)
      await client
        .run(`CREATE DATABASE IF NOT EXISTS ${schema.database}${cluster?.onCluster ?? ''}`)
        .catch((denied: unknown) => {
          if (isMissing || !isFault(denied, ACCESS_DENIED)) throw denied
        })
    // each host of a cluster has all of it, whatever its shard
    const engine = cluster
      ? `ReplicatedReplacingMergeTree('${cluster.path}/stint_${table}', '{shard}-{replica}')`
      : 'ReplacingMergeTree'
    await client.run(
      `CREATE TABLE IF NOT EXISTS ${schema[table]}${cluster?.onCluster ?? ''} (number UInt32, done_at ` +
        `DateTime('UTC')) ENGINE = ${engine} ORDER BY number`,
    )
    return await read() // another process may have been faster
  }
}

/** Undefined when somebody else created all that is needed. */
async function findUnusable(
  client: ClickHouseClient,
  { schema, tables }: PrepareOptions,
): Promise<WriteResult | undefined> {
  for (const table of tables) {
    for (const name of [schema.view(table), schema.raw(table)]) {
      try {
        await client.select(`SELECT ${TABLES[table].columns.join(', ')} FROM ${name} LIMIT 0`)
      } catch (error) {
        if (!isFault(error, UNKNOWN_TABLE)) return judgeFailure(error)
        const reason =
          `the table ${name.replaceAll('`', '')} is missing and the user may not create it: grant CREATE, or ` +
          'create it as src/deploy/existing.md says'
        return { kind: 'wait', reason }
      }
    }
  }
  return undefined
}

const readEngines = (client: ClickHouseClient, { database, tables, schema }: PrepareOptions): Promise<StoredTable[]> =>
  client.select<StoredTable>(
    'SELECT name, engine_full AS engine FROM system.tables WHERE database = {database:String} AND ' +
      "has(splitByChar(',', {tables:String}), name)",
    {
      database,
      tables: tables.flatMap((table) => [`${table}_raw`, ...(schema.cluster ? [`${table}_shard`] : [])]).join(','),
    },
  )

/** Tables of a cluster where one server is configured, or vice versa: inserts would be missed or acknowledged early. */
function otherPlacement(found: readonly StoredTable[], { schema, database }: PrepareOptions): WriteResult | undefined {
  const isCluster = schema.cluster !== undefined
  const raw = found.filter(({ name }) => name.endsWith('_raw'))
  if (raw.every(({ engine }) => engine.startsWith('Distributed') === isCluster)) return undefined
  const reason = isCluster
    ? `the tables of database ${database} are those of a single server: ` +
      'set CLICKHOUSE_DATABASE to another database and copy the events with stint copy'
    : `the tables of database ${database} belong to a cluster: set CLICKHOUSE_CLUSTER`
  return { kind: 'wait', reason }
}
