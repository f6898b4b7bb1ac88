import { afterEach, describe, expect, test } from 'bun:test'
import pino from 'pino'
import { type Event, FAMILIES, type Mark } from '../../../src/event/event.ts'
import { type ClickHouseClient, openClickHouseClient } from '../../../src/store/clickhouse/client.ts'
import { openClickHouse } from '../../../src/store/clickhouse/open.ts'
import { partitionByWeek, type WeeksOptions } from '../../../src/store/clickhouse/partition-by-week.ts'
import { createSchema } from '../../../src/store/clickhouse/schema.ts'
import { ACCOUNTS, FROM_US, someHistory, TO_US } from '../../copy/some-history.ts'
import { engineMissing, freshEmbedded } from '../../support/engine.ts'
import { partitionByMonth, partitionsOf } from './by-month.ts'
import { openStore, readRows, silent } from './subjects.ts'

const STORED = { kind: 'stored', expired: 0 } as const
const WEEK_US = 7 * 86_400_000_000
const [ACCOUNT] = ACCOUNTS

const BY_WEEK = Object.fromEntries(FAMILIES.map((family) => [`${family}_raw`, 'toMonday(at)']))
const BY_MONTH = Object.fromEntries(FAMILIES.map((family) => [`${family}_raw`, 'toYYYYMM(at)']))

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const markAt = (us: number): Mark => ({
  ...{ kind: 'start', account: ACCOUNT, process: 'old', meta: '', uid: `at-${us}` },
  stamp: { us, sub: 0 },
})

/** Events of three weeks twice, and marks of three years. */
async function former(retentionDays = 0) {
  const address = freshEmbedded()
  const { database } = address
  const client = await openClickHouseClient(address, 30_000)
  closing.push(() => client.close())
  const before = await openStore(address, silent, retentionDays)
  const sink = before.createSink()
  expect(await sink.prepare()).toEqual(STORED)
  const events: Event[] = [...someHistory(200)]
  for (const batch of [events, events]) expect(await sink.write(batch)).toEqual(STORED)
  if (retentionDays === 0) {
    const old = Array.from({ length: 4 }, (_, i) => markAt(FROM_US - i * 50 * WEEK_US))
    expect(await sink.write(old)).toEqual(STORED)
  }
  await before.close()
  await partitionByMonth(client, database!)
  expect(await partitionsOf(client, database!)).toMatchObject(BY_MONTH)
  const schema = createSchema(database!)
  const options: WeeksOptions = { schema, database: database!, tables: FAMILIES, log: silent, isClosed: () => false }
  const read = async () =>
    Promise.all(ACCOUNTS.map(async (account) => (await readRows(client, database!, account)).map(toText).toSorted()))
  return { address, database: database!, client, options, read }
}

/** Until then `retry`. */
async function untilPrepared(store: Awaited<ReturnType<typeof openStore>>): Promise<void> {
  const result = await store.createSink().prepare()
  if (result.kind === 'retry') return untilPrepared(store)
  expect(result).toEqual(STORED)
}

const toText = (row: object) => JSON.stringify(row)

const QUESTION = {
  ...{ account: ACCOUNT, fromNs: BigInt(FROM_US) * 1000n, toNs: BigInt(TO_US) * 1000n },
  ...{ maxRunNs: 86_400_000_000_000n, nowNs: BigInt(TO_US) * 1000n },
}

/** Runs so many statements, and then none any more, as if the process were gone. */
function endAfter(client: ClickHouseClient, statements: number): ClickHouseClient & { isEnded(): boolean } {
  let left = statements
  const next = () => {
    if (--left < 0) throw new Error('ended')
  }
  return {
    ...client,
    async run(...args) {
      next()
      return client.run(...args)
    },
    isEnded: () => left < 0,
  }
}

describe.skipIf(engineMissing !== undefined)('tables by month', () => {
  test('are partitioned by week at the first use of the store, with every event once', async () => {
    const { address, database, client, read } = await former()
    const expected = await read()
    expect(expected.every((rows) => rows.length > 0 && new Set(rows).size === rows.length)).toBe(true)
    const store = await openStore(address)
    closing.push(() => store.close())
    await untilPrepared(store)
    expect(await partitionsOf(client, database)).toEqual(BY_WEEK)
    expect(await read()).toEqual(expected)
  })

  test('follow RETENTION_DAYS and keep their settings', async () => {
    const { address, database, client } = await former(10_000)
    const store = await openStore(address, silent, 30)
    closing.push(() => store.close())
    await untilPrepared(store)
    const [table] = await client.select<{ engine: string }>(
      `SELECT engine_full AS engine FROM system.tables WHERE database = '${database}' AND name = 'marks_raw'`,
    )
    expect(table!.engine).toMatch(
      /PARTITION BY toMonday\(at\) ORDER BY \(.*\) TTL toDateTime\(at\) \+ toIntervalDay\(30\) SETTINGS (ttl_only_drop_parts = 1, )?fsync_after/,
    )
  })

  test('have everything whatever statement was the last, and are then partitioned', async () => {
    const { database, client, options, read } = await former()
    const expected = await read()
    let interruptions = 0
    for (let statements = 0; ; statements++) {
      const dying = endAfter(client, statements)
      await partitionByWeek(dying, options)
      expect(await read()).toEqual(expected)
      if (!dying.isEnded()) break
      interruptions++
    }
    expect(interruptions).toBeGreaterThan(8)
    expect(await partitionsOf(client, database)).toEqual(BY_WEEK)
  })

  test('are dropped at the next start if only dropping them was interrupted', async () => {
    const { database, client, options, read } = await former()
    const expected = await read()
    const marksOnly = { ...options, tables: ['marks'] as const }
    let statements = 0
    const counting = { ...client, run: (sql: string) => (/^EXCHANGE/.test(sql) ? stopAfter(sql) : client.run(sql)) }
    const stopAfter = async (sql: string) => {
      await client.run(sql)
      statements++
      counting.run = async () => {
        throw new Error('ended')
      }
    }
    await partitionByWeek(counting, marksOnly)
    expect(statements).toBe(1)
    expect(await partitionsOf(client, database)).toMatchObject({
      ...{ marks_raw: 'toMonday(at)', marks_week: 'toYYYYMM(at)', metrics_raw: 'toYYYYMM(at)' },
    })
    expect(await read()).toEqual(expected)
    await partitionByWeek(client, marksOnly)
    expect(Object.keys(await partitionsOf(client, database))).not.toContain('marks_week')
    expect(await read()).toEqual(expected)
  })

  test('stay by month where the disk cannot hold the copy, and the log names the figures', async () => {
    const { database, client, options, read } = await former()
    const expected = await read()
    const lines: string[] = []
    const log = pino({ base: null }, { write: (line: string) => void lines.push(line) })
    await partitionByWeek(client, { ...options, log, freeBytes: async () => 2 ** 26 })
    expect(await partitionsOf(client, database)).toEqual(BY_MONTH)
    expect(await read()).toEqual(expected)
    const warnings = lines.map((line) => JSON.parse(line))
    expect(warnings).toHaveLength(FAMILIES.length)
    for (const { level, msg, needed_bytes, free_bytes } of warnings) {
      expect([level, free_bytes]).toEqual([40, 2 ** 26])
      expect(needed_bytes).toBeGreaterThan(2 ** 26)
      expect(msg).toContain(`needs ${needed_bytes} bytes of free disk, and ${free_bytes} are free`)
    }
  })

  test('get no event while they are copied: it waits, and then it is there', async () => {
    const { address, read } = await former()
    const expected = await read()
    const store = await openClickHouse({ address, holds: ['points', 'exceptions'], retentionDays: 0, log: silent })
    closing.push(() => store.close())
    const sink = store.createSink()
    const late = markAt(TO_US)
    const write = async (): Promise<void> => {
      const result = await sink.write([late])
      if (result.kind === 'retry') return write()
      expect(result).toEqual(STORED)
    }
    const [written, prepared, ...answers] = await Promise.all([
      write(),
      sink.prepare(),
      ...Array.from({ length: 20 }, () => store.source.findTimings(QUESTION, { limit: 1000 })),
    ])
    expect([written, prepared.kind]).toEqual([undefined, expect.stringMatching(/^(stored|retry)$/)])
    const [first] = answers
    expect(first!.length).toBeGreaterThan(25)
    for (const answer of answers) expect(answer).toEqual(first!)
    const after = await read()
    expect(after.map((rows) => rows.length)).toEqual([expected[0]!.length + 1, expected[1]!.length])
  })

  test('have nothing left of an account that is erased after an interruption', async () => {
    const { address, database, client, options } = await former()
    await partitionByWeek(endAfter(client, 5), { ...options, tables: ['marks'] })
    expect(Object.keys(await partitionsOf(client, database))).toContain('marks_week')
    const store = await openClickHouse({ address, holds: [], retentionDays: 0, log: silent })
    closing.push(() => store.close())
    expect(await store.createSink().erase(ACCOUNT)).toEqual(STORED)
    expect(Object.keys(await partitionsOf(client, database))).not.toContain('marks_week')
    expect(await readRows(client, database, ACCOUNT)).toEqual([])
  })
})
