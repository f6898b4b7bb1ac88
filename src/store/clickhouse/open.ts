// One ClickHouse store, remote or embedded: its connections, sinks and source. A chDB connection runs one statement at
// a time, so writes, questions and the rewriting of parts have their own and do not delay each other.
import { totalmem } from 'node:os'
import { type Destination, familiesIn } from '../../event/event.ts'
import type { Logger } from '../../log.ts'
import type { Scan } from '../scan.ts'
import type { Sink, WriteResult } from '../sink.ts'
import { type ClickHouseAddress, isEmbedded, openClickHouseClient } from './client.ts'
import { prepareTables } from './prepare.ts'
import { createClickHouseScan } from './scan.ts'
import { createSchema } from './schema.ts'
import { createClickHouseSink } from './sink.ts'
import { createClickHouseSource } from './source.ts'

/** Longer than a question may take (selection.ts), so that the engine's own answer comes first. */
const TIMEOUT_MS = 35_000

const SCAN_TIMEOUT_MS = 610_000

const EMBEDDED_DATABASE = 'stint'

/** Questions that the embedded engine runs at once; an account has at most one long and one short one. */
const QUESTIONS_AT_ONCE = 3

/** SQL pairs 10 million marks in 2.2 s of CPU. A series is only text in rows. */
export const CLICKHOUSE_FACTS = { maxMarks: 50_000_000, seriesCost: false }

interface ClickHouseOptions {
  readonly address: ClickHouseAddress
  /** `points` only where no InfluxDB takes them: their tables are created only then. */
  readonly holds: readonly Destination[]
  /** 0 = keep forever. */
  readonly retentionDays: number
  readonly log: Logger
  readonly timeoutMs?: number
  /** What this process may take, for the embedded engine; the limit of its container when absent. */
  readonly memoryBytes?: number
}

const limitOfMemory = (): number => process.constrainedMemory() || totalmem()

export type ClickHouseStore = Awaited<ReturnType<typeof openClickHouse>>

/** Throws EngineUnavailableError (embedded), and an Error for an invalid database name; not if a server is down. */
export async function openClickHouse(options: ClickHouseOptions) {
  const { address, holds, retentionDays, log, timeoutMs = TIMEOUT_MS, memoryBytes = limitOfMemory() } = options
  const { database = EMBEDDED_DATABASE } = address
  const schema = createSchema(database, isEmbedded(address) ? undefined : address.cluster)
  const tables = holds.flatMap(familiesIn)
  const writer = await openClickHouseClient(address, timeoutMs)
  const reader = await openClickHouseClient(address, timeoutMs, QUESTIONS_AT_ONCE)
  const keeper = await openClickHouseClient(address, timeoutMs)

  let isStart = true
  let preparing: Promise<WriteResult> | undefined
  const prepareOnce = async () => {
    const prepared = await prepareTables(keeper, {
      isStart,
      schema,
      database,
      tables,
      embedded: isEmbedded(address),
      holds,
      retentionDays,
      log,
    })
    if (prepared.kind === 'stored') isStart = false
    return prepared
  }
  const prepare = () => {
    preparing ??= prepareOnce().finally(() => {
      preparing = undefined
    })
    return preparing
  }

  return {
    /** One for each destination it holds; they share a connection. */
    createSink: (): Sink =>
      createClickHouseSink({ writer, keeper, schema, tables, isEmbedded: isEmbedded(address), prepare }),
    source: createClickHouseSource(reader, schema, isEmbedded(address) ? { memoryBytes } : {}),
    /** Closes sinks and source with it. */
    async close(): Promise<void> {
      await Promise.all([reader.close(), keeper.close(), writer.close()])
    },
  }
}

/** Opens a store for a copy: reads everything and creates nothing. Throws like `openClickHouse`. */
export async function openClickHouseScan(address: ClickHouseAddress): Promise<Scan> {
  const schema = createSchema(address.database ?? EMBEDDED_DATABASE)
  const client = await openClickHouseClient(address, SCAN_TIMEOUT_MS)
  return { ...createClickHouseScan(client, schema), close: () => client.close() }
}
