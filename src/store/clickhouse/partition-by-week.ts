// Partitions the embedded engine's tables by week; those of 1.1 are by month. Uids are random and the sorting key ends
// with the time, so a question about an hour reads whatever partition holds it.
//
//     marks_raw by month ── a week per statement ──▶ marks_week    after a kill: dropped, and copied from the beginning
//     marks_raw ◀─ exchange ─▶ marks_week                          one atomic step
//     marks_week, now by month ──▶ dropped                         after a kill: dropped at the next start
//
// Invariants: questions read marks_raw, which has everything at any moment. Nothing is inserted or erased meanwhile
// (`createGate`), so the copy is complete when the last week is copied; only this process has the engine.
import type { Family } from '../../event/event.ts'
import type { Logger } from '../../log.ts'
import { STORED, type WriteResult } from '../sink.ts'
import type { ClickHouseClient } from './client.ts'
import type { Schema } from './schema.ts'

export interface WeeksOptions {
  readonly schema: Schema
  readonly database: string
  readonly tables: readonly Family[]
  readonly log: Logger
  /** The store is closing: no further statement. */
  isClosed(): boolean
  /** Of the disk; asks the engine when absent. */
  readonly freeBytes?: () => Promise<number>
}

const BY_MONTH = 'PARTITION BY toYYYYMM(at)'
export const BY_WEEK = 'PARTITION BY toMonday(at)'

/** Ends the names of copies, as in schema.ts. */
const COPY = '_week'

/** The copy, and the parts that its merges leave for a minute. */
const COPIES = 2
/** Below this, Stint accepts no events. */
const RESERVE_BYTES = 2 ** 26

/** One thread and small blocks: a container of 512 MiB can do it, and requests have the other core. */
const COPY_SETTINGS =
  'max_threads = 1, max_insert_threads = 1, insert_deduplicate = 0, min_insert_block_size_rows = 250000, ' +
  'min_insert_block_size_bytes = 67108864'

const GATE_WAIT_MS = 2_000

interface StoredTable {
  readonly name: string
  readonly engine: string
  readonly bytes: string
  readonly rows: string
}

const isCopy = ({ name }: StoredTable): boolean => name.endsWith(COPY)
const isByMonth = (table: StoredTable): boolean => !isCopy(table) && table.engine.includes(BY_MONTH)

/** Of those to rewrite, and of what an interruption left. */
const findTables = (client: ClickHouseClient, { database, tables }: WeeksOptions): Promise<StoredTable[]> =>
  client.select<StoredTable>(
    'SELECT name, engine_full AS engine, toString(total_bytes) AS bytes, toString(total_rows) AS rows ' +
      "FROM system.tables WHERE database = {database:String} AND has(splitByChar(',', {names:String}), name)",
    { database, names: tables.flatMap((table) => [`${table}_raw`, `${table}${COPY}`]).join(',') },
  )

/** Never throws: a table that cannot be copied stays as it is, which only costs questions time. */
export async function partitionByWeek(client: ClickHouseClient, options: WeeksOptions): Promise<void> {
  const found = await findTables(client, options).catch(() => [])
  for (const table of options.tables) {
    try {
      if (found.some(({ name }) => name === `${table}${COPY}`)) await dropCopy(client, options.schema, table)
      const raw = found.find(({ name }) => name === `${table}_raw`)
      if (raw !== undefined && isByMonth(raw)) await rewrite(client, table, raw, options)
    } catch (err) {
      if (options.isClosed()) return
      options.log.warn(
        { err, table: `${table}_raw` },
        'ClickHouse: partitioning the table by week failed; it stays partitioned by month until the next start',
      )
      await dropCopy(client, options.schema, table).catch(() => {}) // at the next start then
    }
  }
}

/** `raw` has all that the copy has, unless a rewriting is under way. */
export const dropCopy = (client: ClickHouseClient, schema: Schema, table: Family): Promise<void> =>
  client.run(`DROP TABLE IF EXISTS ${schema.copy(table)} SYNC`)

async function rewrite(
  client: ClickHouseClient,
  table: Family,
  { name, engine, bytes, rows }: StoredTable,
  { schema, log, isClosed, freeBytes = () => readFreeBytes(client) }: WeeksOptions,
): Promise<void> {
  const facts = { table: name, rows: Number(rows), needed_bytes: COPIES * Number(bytes) + RESERVE_BYTES }
  const free_bytes = await freeBytes()
  if (free_bytes < facts.needed_bytes) {
    log.warn(
      { ...facts, free_bytes },
      `ClickHouse: partitioning the table by week needs ${facts.needed_bytes} bytes of free disk, and ${free_bytes} are ` +
        'free; it stays partitioned by month, which makes questions slower. Free disk space and restart',
    )
    return
  }
  log.info({ ...facts, free_bytes }, 'ClickHouse: partitioning the table by week; new events wait in the spools')
  const [raw, copy] = [schema.raw(table), schema.copy(table)]
  await client.run(`CREATE TABLE ${copy} AS ${raw} ENGINE = ${engine.replace(BY_MONTH, BY_WEEK)}`)
  const weeks = await client.select<{ week: string }>(
    `SELECT DISTINCT toString(toMonday(at)) AS week FROM ${raw} ORDER BY week`,
  )
  for (const { week } of weeks) {
    if (isClosed()) return
    await client.run(
      `INSERT INTO ${copy} SELECT * FROM ${raw} WHERE toMonday(at) = toDate('${week}') SETTINGS ${COPY_SETTINGS}`,
    )
  }
  if (isClosed()) return
  await client.run(`EXCHANGE TABLES ${raw} AND ${copy}`)
  await dropCopy(client, schema, table)
  log.info(facts, 'ClickHouse: the table is partitioned by week')
}

async function readFreeBytes(client: ClickHouseClient): Promise<number> {
  const [disk] = await client.select<{ free: string }>(
    "SELECT toString(free_space) AS free FROM system.disks WHERE name = 'default'",
  )
  return Number(disk?.free ?? 0)
}

/**
 * Partitions by week at the first call. `stored` when rows may be inserted and erased; while tables are copied `retry`,
 * so that a waiting shipper can be stopped.
 */
export function createGate(client: ClickHouseClient, options: WeeksOptions): () => Promise<WriteResult> {
  const isNeeded = async () => {
    const found = await findTables(client, options).catch(() => []) // then nothing is copied either
    return found.some((table) => isCopy(table) || isByMonth(table))
  }
  let needed: Promise<boolean> | undefined
  let working: Promise<void> | undefined
  let isDone = false
  return async () => {
    needed ??= isNeeded()
    if (isDone || !(await needed)) return STORED
    working ??= partitionByWeek(client, options).finally(() => {
      isDone = true
    })
    await Promise.race([working, Bun.sleep(GATE_WAIT_MS)])
    return isDone ? STORED : { kind: 'retry', reason: 'the tables are being partitioned by week', afterMs: 1_000 }
  }
}
