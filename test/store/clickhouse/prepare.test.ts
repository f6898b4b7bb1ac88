// The way to the tables over HTTP, where the statements can be seen and refused; those of the embedded engine are the same.
import { afterEach, describe, expect, test } from 'bun:test'
import pino from 'pino'
import type { Logger } from '../../../src/log.ts'
import { type ClickHouseAddress, openClickHouseClient } from '../../../src/store/clickhouse/client.ts'
import { openClickHouse } from '../../../src/store/clickhouse/open.ts'
import { engineMissing, freshEmbedded } from '../../support/engine.ts'
import { until } from '../../support/until.ts'
import { openStore, placeRemote, silent } from './subjects.ts'

const STORED = { kind: 'stored', expired: 0 } as const
const ALL = [
  ...['exceptions', 'exceptions_raw', 'marks', 'marks_raw', 'metrics', 'metrics_raw', 'outputs', 'outputs_raw'],
  ...['stint_additions', 'stint_migrations'],
]

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const opened = async (...args: Parameters<typeof openStore>) => {
  const store = await openStore(...args)
  closing.push(() => store.close())
  return store
}

const atPlace = async <P extends { leave(): Promise<void> }>(place: () => Promise<P>): Promise<P> => {
  const found = await place()
  closing.push(() => found.leave())
  return found
}

/** name → definition of everything in the database. */
async function tablesAt(address: ClickHouseAddress): Promise<Record<string, string>> {
  const client = await openClickHouseClient(address, 30_000)
  try {
    const rows = await client.select<{ name: string; sql: string }>(
      'SELECT name, create_table_query AS sql FROM system.tables WHERE database = {database:String} ORDER BY name',
      { database: address.database! },
    )
    return Object.fromEntries(rows.map(({ name, sql }) => [name, sql]))
  } finally {
    await client.close()
  }
}

function collectLog() {
  const written: string[] = []
  const log: Logger = pino({ base: null }, { write: (line: string) => void written.push(line) })
  const lines = (): Record<string, unknown>[] => written.map((line) => JSON.parse(line))
  return { log, lines, warnings: () => lines().filter(({ level }) => level === 40) }
}

describe.skipIf(engineMissing !== undefined)('preparing', () => {
  test('creates the database, the tables and their views once, also when several processes do so', async () => {
    const { address } = await atPlace(placeRemote)
    const stores = await Promise.all([opened(address), opened(address)])
    const sinks = stores.flatMap((store) => [store.createSink(), store.createSink()])
    expect(await Promise.all(sinks.map((sink) => sink.prepare()))).toEqual(sinks.map(() => STORED))
    const created = await tablesAt(address)
    expect(Object.keys(created)).toEqual(ALL)
    const keys = {
      exceptions_raw: '(account, process, at, stamp_rest, content)',
      marks_raw: '(account, process, meta, uid, at, stamp_rest, content)',
      metrics_raw: '(account, process, name, meta, at, stamp_rest, content)',
    }
    for (const [name, key] of Object.entries(keys)) {
      expect(created[name]).toContain(`ENGINE = ReplacingMergeTree PARTITION BY toMonday(at) ORDER BY ${key}`)
      expect(created[name]).toContain("`at` DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1))")
    }

    const { log, warnings } = collectLog()
    expect(await (await opened(address, log)).createSink().prepare()).toEqual(STORED)
    expect(await tablesAt(address)).toEqual(created)
    expect(warnings()).toEqual([])
    expect(created.marks_raw).not.toContain('TTL')
  })

  test.each([
    ['of a version before the first release', 2, 'before the first release'],
    ['of a newer version', 99, 'by a newer version of Stint (step 99)'],
  ])('does not change tables %s and reports what to do', async (_, number, reason) => {
    const { address } = await atPlace(placeRemote)
    const client = await openClickHouseClient(address, 30_000)
    closing.push(() => client.close())
    await client.run(`CREATE DATABASE ${address.database}`)
    const migrations = `${address.database}.stint_migrations`
    await client.run(
      `CREATE TABLE ${migrations} (number UInt32, done_at DateTime('UTC')) ENGINE = MergeTree ORDER BY number`,
    )
    await client.run(`INSERT INTO ${migrations} SELECT ${number}, now('UTC')`)
    const before = await tablesAt(address)
    const result = await (await opened(address)).createSink().prepare()
    if (result.kind !== 'wait') throw new Error(`prepare answered ${result.kind}`)
    expect(result.reason).toContain(reason)
    expect(result.reason).toMatch(/CLICKHOUSE_DATABASE|DATA_DIR/)
    expect(await tablesAt(address)).toEqual(before)
  })

  test('never writes into an unrecorded table of the old layout', async () => {
    const { address } = await atPlace(placeRemote)
    const client = await openClickHouseClient(address, 30_000)
    closing.push(() => client.close())
    await client.run(`CREATE DATABASE ${address.database}`)
    await client.run(
      `CREATE TABLE ${address.database}.marks_raw (account String, process String, meta String, uid String, mark Enum8('start' = 1, 'end' = 2), at DateTime64(9, 'UTC')) ENGINE = ReplacingMergeTree ORDER BY (account, process, meta, uid, at)`,
    )
    const sink = (await opened(address)).createSink()
    expect(await sink.prepare()).toMatchObject({ kind: 'wait' })
    const mark = {
      kind: 'start',
      account: 'a',
      process: 'p',
      meta: '',
      uid: '',
      stamp: { us: 1_795_200_000_000_000, sub: 0 },
    } as const
    expect(await sink.write([mark])).toMatchObject({ kind: 'wait' })
    const [row] = await client.select<{ rows: number }>(`SELECT count() AS rows FROM ${address.database}.marks_raw`)
    expect(Number(row!.rows)).toBe(0)
  })

  test('creates tables for points only in a store of points, also later', async () => {
    const { address } = await atPlace(placeRemote)
    const store = await openClickHouse({ address, holds: ['exceptions'], retentionDays: 0, log: silent })
    closing.push(() => store.close())
    expect(await store.createSink().prepare()).toEqual(STORED)
    expect(Object.keys(await tablesAt(address))).toEqual([
      ...['exceptions', 'exceptions_raw', 'outputs', 'outputs_raw', 'stint_additions', 'stint_migrations'],
    ])
    expect(await (await opened(address)).createSink().prepare()).toEqual(STORED)
    expect(Object.keys(await tablesAt(address))).toEqual(ALL)
  })

  test('a change of the retention changes the tables that Stint made, and what they hold', async () => {
    const { address } = await atPlace(placeRemote)
    const sink = (await opened(address)).createSink()
    expect(await sink.prepare()).toEqual(STORED)
    const [oldUs, newUs] = [40, 1].map((days) => Date.now() * 1000 - days * 86_400_000_000)
    const mark = { kind: 'start', account: 'a', process: 'p', meta: '', uid: '' } as const
    expect(await sink.write([oldUs!, newUs!].map((us) => ({ ...mark, stamp: { us, sub: 0 } })))).toEqual(STORED)
    const client = await openClickHouseClient(address, 30_000)
    closing.push(() => client.close())
    const held = async () =>
      Number((await client.select<{ n: string }>(`SELECT count() AS n FROM ${address.database}.marks_raw`))[0]!.n)
    expect(await held()).toBe(2)

    const { log, warnings } = collectLog()
    expect(await (await opened(address, log, 30)).createSink().prepare()).toEqual(STORED)
    const changed = await tablesAt(address)
    for (const table of ['exceptions_raw', 'marks_raw', 'metrics_raw', 'outputs_raw'])
      expect(changed[table]).toContain('TTL toDateTime(at) + toIntervalDay(30)')
    expect(warnings()).toHaveLength(4)
    await until('the old part is gone', async () => (await held()) === 1)

    expect(await (await opened(address, log, 0)).createSink().prepare()).toEqual(STORED)
    expect((await tablesAt(address)).marks_raw).not.toContain('TTL toDateTime')
  })

  test('weeks that expired go as a whole, also in tables of 2.0', async () => {
    const { address } = await atPlace(placeRemote)
    expect(await (await opened(address, silent, 30)).createSink().prepare()).toEqual(STORED)
    const created = await tablesAt(address)
    const client = await openClickHouseClient(address, 30_000)
    closing.push(() => client.close())
    for (const table of ['exceptions_raw', 'marks_raw', 'metrics_raw', 'outputs_raw']) {
      expect(created[table]).toContain('ttl_only_drop_parts = 1')
      await client.run(`ALTER TABLE ${address.database}.${table} RESET SETTING ttl_only_drop_parts`)
    }
    expect((await tablesAt(address)).marks_raw).not.toContain('ttl_only_drop_parts')
    expect(await (await opened(address, silent, 30)).createSink().prepare()).toEqual(STORED)
    for (const [name, sql] of Object.entries(await tablesAt(address)))
      if (name.endsWith('_raw')) expect(sql).toContain('ttl_only_drop_parts = 1')
  })

  test('a TTL of somebody else, or without the right to alter, is logged with the statements in one line', async () => {
    const { address, refuse } = await atPlace(placeRemote)
    expect(await (await opened(address)).createSink().prepare()).toEqual(STORED)
    const client = await openClickHouseClient(address, 30_000)
    closing.push(() => client.close())
    await client.run(`ALTER TABLE ${address.database}.marks_raw MODIFY TTL toDateTime(at) + INTERVAL 1 YEAR`)
    refuse(/^ALTER TABLE `\w+`\.`metrics_raw` MODIFY TTL/, { code: 497, type: 'ACCESS_DENIED', message: 'no' })
    const { log, warnings } = collectLog()
    expect(await (await opened(address, log, 30)).createSink().prepare()).toEqual(STORED)
    const [line, ...others] = warnings().filter(({ statements }) => statements !== undefined)
    expect(others).toEqual([])
    expect(line!.statements).toEqual(
      ['marks', 'metrics'].map(
        (table) => `ALTER TABLE \`${address.database}\`.\`${table}_raw\` MODIFY TTL toDateTime(at) + INTERVAL 30 DAY`,
      ),
    )
    expect((await tablesAt(address)).marks_raw).toContain('toIntervalYear(1)')
  })

  test('a table that was dropped is made again at the start, with a warning, and not while Stint runs', async () => {
    const { address } = await atPlace(placeRemote)
    const running = (await opened(address)).createSink()
    expect(await running.prepare()).toEqual(STORED)
    const before = await tablesAt(address)
    const client = await openClickHouseClient(address, 30_000)
    closing.push(() => client.close())
    await client.run(`DROP TABLE ${address.database}.marks_raw`)
    await client.run(`DROP VIEW ${address.database}.outputs`)
    expect(await running.prepare()).toEqual(STORED)
    expect(Object.keys(await tablesAt(address))).not.toContain('marks_raw')
    const mark = {
      kind: 'start',
      account: 'a',
      process: 'p',
      meta: '',
      uid: '',
      stamp: { us: 1.7e15, sub: 0 },
    } as const
    const lost = await running.write([mark])
    expect(lost).toMatchObject({ kind: 'wait', reason: expect.stringContaining('restart Stint') })

    const { log, warnings } = collectLog()
    const restarted = (await opened(address, log)).createSink()
    expect(await restarted.prepare()).toEqual(STORED)
    expect(await tablesAt(address)).toEqual(before)
    expect(warnings().map(({ tables }) => tables)).toEqual([['marks']])
    expect(await restarted.write([mark])).toEqual(STORED)
  })

  test('resumes after an interruption at any statement', async () => {
    const whole = await atPlace(placeRemote)
    await (await opened(whole.address)).createSink().prepare()
    const changes = whole.statements.filter((sql) => /^(CREATE|INSERT|ALTER)/.test(sql))
    expect(changes.length).toBeGreaterThan(12)

    const { address, refuse } = await atPlace(placeRemote)
    for (const change of changes) {
      const sink = (await opened(address)).createSink()
      const pattern = new RegExp(`^${RegExp.escape(change.replaceAll(whole.address.database, address.database))}`)
      refuse(pattern, { code: 210, type: 'NETWORK_ERROR', message: 'broken' })
      expect([change, (await sink.prepare()).kind]).toEqual([change, 'retry'])
      refuse(pattern, undefined)
    }
    expect(await (await opened(address)).createSink().prepare()).toEqual(STORED)
    expect(Object.keys(await tablesAt(address))).toEqual(ALL)
  })

  test('a user without the CREATE right waits for the tables and uses a database and tables of others', async () => {
    const { address, refuse } = await atPlace(placeRemote)
    const sink = (await opened(address)).createSink()
    const denied = { code: 497, type: 'ACCESS_DENIED', message: 'Not enough privileges' }
    refuse(/^CREATE/, denied)
    expect((await sink.prepare()).kind).toBe('wait')
    refuse(/^CREATE/, undefined)
    const client = await openClickHouseClient(address, 30_000)
    await client.run(`CREATE DATABASE ${address.database}`)
    await client.close()
    refuse(/^CREATE DATABASE/, denied)
    expect(await sink.prepare()).toEqual(STORED)

    refuse(/stint_migrations/, denied)
    refuse(/system\.tables/, denied)
    expect(await sink.prepare()).toEqual(STORED)
    refuse(/FROM `\w+`\.`metrics_raw`/, { code: 60, type: 'UNKNOWN_TABLE', message: 'gone' })
    expect(await sink.prepare()).toEqual({
      kind: 'wait',
      reason: expect.stringMatching(/^the table \w+\.metrics_raw is missing and the user may not create it: /),
    })
  })

  test('a user without the ALTER right uses the tables of 2.0, and each start says so', async () => {
    const { address, refuse } = await atPlace(placeRemote)
    refuse(/^ALTER/, { code: 497, type: 'ACCESS_DENIED', message: 'Not enough privileges' })
    const { log, lines } = collectLog()
    const sink = (await opened(address, log)).createSink()
    expect(await sink.prepare()).toEqual(STORED)
    const before = await tablesAt(address)
    expect(before.marks_raw).not.toContain('CODEC')
    expect(lines().map(({ msg }) => msg)).toContain(
      'ClickHouse: the user may not create or change tables; the existing tables are used',
    )
    refuse(/^ALTER/, undefined)
    expect(await (await opened(address)).createSink().prepare()).toEqual(STORED)
    expect((await tablesAt(address)).marks_raw).toContain('CODEC')
  })

  test('embedded tables are synced to disk', async () => {
    const address = freshEmbedded()
    await (await opened(address)).createSink().prepare()
    const { marks_raw } = await tablesAt(address)
    for (const setting of [
      'fsync_after_insert = 1',
      'fsync_part_directory = 1',
      'min_rows_to_fsync_after_merge = 1',
      'min_compressed_bytes_to_fsync_after_merge = 1',
    ])
      expect(marks_raw).toContain(setting)
  })

  test('what 2.0 left where it was killed while it partitioned by week is gone after the first start', async () => {
    const address = freshEmbedded()
    const client = await openClickHouseClient(address, 30_000)
    closing.push(() => client.close())
    await client.run(`CREATE DATABASE ${address.database}`)
    for (const family of ['marks', 'metrics', 'exceptions'])
      await client.run(
        `CREATE TABLE ${address.database}.${family}_week (account String) ENGINE = MergeTree ORDER BY account`,
      )
    expect(await (await opened(address)).createSink().prepare()).toEqual(STORED)
    expect(Object.keys(await tablesAt(address))).toEqual(ALL)
  })

  test.each(['', 'a b', '1a', 'a`b', 'a.b', 'ä', `a${'b'.repeat(200)}`])(
    'rejects %p as the name of a database',
    async (database) => {
      const address = { url: 'http://127.0.0.1:1', user: 'u', password: 'p', database }
      await expect(openStore(address)).rejects.toThrow('CLICKHOUSE_DATABASE')
    },
  )
})
