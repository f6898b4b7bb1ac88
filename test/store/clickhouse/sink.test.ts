// What the sink does beyond the contract of all sinks, which contract.slow.ts asks of it over HTTP as well.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Event, Exception, Mark, Metrics } from '../../../src/event/event.ts'
import { contentOf } from '../../../src/event/identity.ts'
import { type ClickHouseClient, openClickHouseClient } from '../../../src/store/clickhouse/client.ts'
import type { Sink } from '../../../src/store/sink.ts'
import { engineMissing } from '../../support/engine.ts'
import { openStore, placeEmbedded, placeRemote, readRows } from './subjects.ts'

const US = 1_795_211_562_171_920
const STORED = { kind: 'stored', expired: 0 } as const
const SECRET = 'the text that no log may hold'

const common = (account: string, us: number) => ({ account, process: 'p', meta: '', stamp: { us, sub: 0 } })
const start = (account: string, us = US): Mark => ({ kind: 'start', ...common(account, us), uid: '' })
const exception = (account: string, text: string, us = US): Exception => ({
  kind: 'exception',
  ...common(account, us),
  exception: text,
})
const metrics = (account: string, items: Metrics['items'], us = US): Metrics => ({
  kind: 'metrics',
  ...common(account, us),
  items,
})

describe.skipIf(engineMissing !== undefined)('embedded', () => {
  let sink: Sink
  let client: ClickHouseClient
  let database: string
  let count: (table: string, account: string) => Promise<number>
  const closing: (() => Promise<void>)[] = []

  beforeAll(async () => {
    const { address } = await placeEmbedded()
    database = address.database!
    const store = await openStore(address)
    client = await openClickHouseClient(address, 30_000)
    closing.push(
      () => store.close(),
      () => client.close(),
    )
    sink = store.createSink()
    expect(await sink.prepare()).toEqual(STORED)
    count = async (table, account) => {
      const sql = `SELECT count() AS n FROM ${database}.${table} WHERE account = {account:String}`
      const [row] = await client.select<{ n: number }>(sql, { account })
      return Number(row!.n)
    }
  })
  afterAll(async () => {
    for (const close of closing) await close()
  })

  test('stores a repeated batch once, before and after a merge', async () => {
    const batch: Event[] = [
      start('twice'),
      exception('twice', 'boom'),
      metrics('twice', [
        ['a', 1],
        ['b', 2],
      ]),
    ]
    for (let i = 0; i < 3; i++) expect(await sink.write(batch)).toEqual(STORED)
    const once = await readRows(client, database, 'twice')
    expect(once.map((row) => row.kind).toSorted()).toEqual(['exception', 'metric', 'metric', 'start'])
    for (const table of ['marks', 'metrics', 'exceptions'])
      await client.run(`OPTIMIZE TABLE ${database}.${table}_raw FINAL`)
    expect(await readRows(client, database, 'twice')).toEqual(once)
  })

  test('stores every column of a mixed batch, whatever its events have in common', async () => {
    const pick = <T>(values: readonly T[], i: number): T => values[i % values.length]!
    const texts = ['', 'p', '$lines$', "a'b\\", 'ü "😀"', '[1,2]']
    const stamps = [
      { us: US, sub: 0 },
      { us: US, sub: 5 },
      { us: US + 999, sub: 993 },
      { us: US + 828_079, sub: 997 },
    ]
    const batch = Array.from({ length: 600 }, (_, i): Event => {
      const stamp = pick(stamps, i)
      const who = { account: pick(['mixed', 'mixed 2'], i >> 3), process: pick(texts, i), meta: pick(texts, i >> 2) }
      const own = { ...who, uid: i % 5 === 0 ? '' : `u${i}`, stamp: { ...stamp, us: stamp.us + i * 1_000_000 } }
      if (i % 4 === 0) return { kind: 'metrics', ...own, items: texts.slice(i % 3).map((name, n) => [name, i / 7 - n]) }
      return pick<Event>(
        [
          { kind: 'start', ...own },
          { kind: 'end', ...own },
          { kind: 'end', ...own, failed: true },
        ],
        i,
      )
    })
    const expected = batch.flatMap((event) => {
      const { us, sub } = event.stamp
      const [at, rest] =
        sub % 10 === 3
          ? [us - (us % 1000), (us % 1000) * 1000 + sub]
          : sub % 10 === 7
            ? [us - (us % 1e6), (us % 1e6) * 1000 + sub]
            : [us, sub]
      const who = [event.account, event.process, event.meta, event.uid]
      const when = [`${at}000`, String(rest), sub % 2 === 0 ? '0' : String(contentOf(event))]
      if (event.kind === 'metrics') return event.items.map(([name, value]) => [...who, name, String(value), ...when])
      return event.kind === 'exception'
        ? []
        : [[...who, event.kind === 'end' && event.failed ? 'failed' : event.kind, '', ...when]]
    })

    expect(await sink.write(batch)).toEqual(STORED)
    const when = 'toString(toUnixTimestamp64Nano(at)) AS ns, toString(stamp_rest) AS rest, toString(content) AS hash'
    const columns = (own: string, table: string) =>
      `SELECT account, process, meta, uid, ${own}, ${when} FROM ${database}.${table}_raw FINAL WHERE account LIKE 'mixed%'`
    const rows = [
      ...(await client.selectArrays<string[]>(columns("toString(mark) AS name, '' AS value", 'marks'))),
      ...(await client.selectArrays<string[]>(columns('name, toString(value) AS text', 'metrics'))),
    ]
    const text = (row: readonly unknown[]) => JSON.stringify(row)
    expect(rows.map(text).toSorted()).toEqual(expected.map(text).toSorted())
  })

  test('refuses a value that fits no column without repeating it', async () => {
    const result = await sink.write([metrics('poison', [[SECRET, SECRET as unknown as number]])])
    expect(result.kind).toBe('refused')
    expect(JSON.stringify(result)).not.toContain(SECRET.slice(0, 12))
    expect((await sink.write([start('poison', 9_999_999_999_000_000)])).kind).toBe('refused')
  })

  test('a check writes one row per day that no account sees', async () => {
    const like = [start('checked'), exception('checked', 'x'), metrics('checked', [['a', 1]])]
    for (const event of like) for (let i = 0; i < 2; i++) expect(await sink.check(event)).toEqual(STORED)
    expect(await readRows(client, database, 'checked')).toEqual([])
    expect((await readRows(client, database, '_check')).map((row) => row.kind).toSorted()).toEqual([
      'exception',
      'metric',
      'start',
    ])
  })

  test('asks to split a batch over more weeks than an INSERT may hold, and stores three years in halves', async () => {
    const week = 7 * 86_400_000_000
    const batch = Array.from({ length: 157 }, (_, i) => exception('weeks', 'x', US - i * week))
    expect((await sink.write(batch)).kind).toBe('too_large')
    expect(await sink.write(batch.slice(0, 79))).toEqual(STORED)
    expect(await sink.write(batch.slice(79))).toEqual(STORED)
    expect(await count('exceptions', 'weeks')).toBe(157)
  })
})

describe.skipIf(engineMissing !== undefined)('what a server answers', () => {
  let bridge: Awaited<ReturnType<typeof placeRemote>>
  let sink: Sink
  let close: () => Promise<void>
  beforeAll(async () => {
    bridge = await placeRemote()
    const store = await openStore(bridge.address)
    close = () => store.close()
    sink = store.createSink()
    expect(await sink.prepare()).toEqual(STORED)
  })
  afterAll(async () => {
    await close()
    await bridge.leave()
  })

  const INSERT = /^INSERT INTO/
  test.each([
    [241, 'MEMORY_LIMIT_EXCEEDED', 'retry'],
    [243, 'NOT_ENOUGH_SPACE', 'wait'],
    [16, 'NO_SUCH_COLUMN_IN_TABLE', 'wait'],
    [7777, 'NOBODY_KNOWS', 'wait'],
  ] as const)('%i %s: %s', async (code, type, kind) => {
    bridge.refuse(INSERT, { code, type, message: `no, '${SECRET}'` })
    const result = await sink.write([start('a')])
    bridge.refuse(INSERT, undefined)
    const advice = code === 16 ? ' The table was changed: add the column again .+' : ''
    expect(result).toEqual({ kind, reason: expect.stringMatching(new RegExp(`^${code} ${type}: no, '…'${advice}$`)) })
    expect(await sink.write([start('a')])).toEqual(STORED)
  })

  test('the check of a table that refuses even the plainest row is refused', async () => {
    bridge.refuse(INSERT, { code: 53, type: 'TYPE_MISMATCH', message: 'no' })
    const results = [await sink.write([start('a')]), await sink.check(start('a'))]
    bridge.refuse(INSERT, undefined)
    expect(results.map(({ kind }) => kind)).toEqual(['refused', 'refused'])
  })

  test('settings are part of the statement', () => {
    const inserts = bridge.statements.filter((sql) => sql.startsWith('INSERT INTO') && sql.includes('_raw'))
    expect(inserts.length).toBeGreaterThan(0)
    for (const sql of inserts) expect(sql).toContain('SETTINGS async_insert = 0, insert_deduplicate = 0')
  })
})
