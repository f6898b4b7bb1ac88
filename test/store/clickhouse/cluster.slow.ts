// A ClickHouse cluster as far as it can be had without one: the Distributed tables of a real engine that is its own
// shards, engines side by side with the rows of a shard each, and every statement parsed unchanged. Not proved here:
// Keeper, replication and its quorum, DDL queues, connections between hosts. The contracts: cluster-contract.slow.ts.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Event } from '../../../src/event/event.ts'
import type { ClickHouseClient, Params, ServerAddress } from '../../../src/store/clickhouse/client.ts'
import { openClickHouseClient } from '../../../src/store/clickhouse/client.ts'
import { findCanaryProcess } from '../../../src/store/clickhouse/cluster.ts'
import { prepareTables } from '../../../src/store/clickhouse/prepare.ts'
import { createSchema, type Schema } from '../../../src/store/clickhouse/schema.ts'
import { createClickHouseSink } from '../../../src/store/clickhouse/sink.ts'
import { createClickHouseSource } from '../../../src/store/clickhouse/source.ts'
import type { Sink } from '../../../src/store/sink.ts'
import type { ExceptionSource, PointSource, TimingSelection } from '../../../src/store/source.ts'
import { ACCOUNTS, FROM_US, someHistory, TO_US } from '../../copy/some-history.ts'
import { CLUSTER } from '../../support/clickhouse-bridge.ts'
import { type Shard, type ShardsFront, startShard, startShardsFront } from '../../support/clickhouse-shards.ts'
import { engineMissing, freshDatabase, freshEmbedded } from '../../support/engine.ts'
import { startLossyProxy } from '../../support/lossy-proxy.ts'
import { openStore, readRows, silent } from './subjects.ts'

const STORED = { kind: 'stored', expired: 0 } as const
const PROCESS = 'job 3, é =x'

const closing: (() => unknown)[] = []
afterAll(async () => {
  for (const close of closing.reverse()) await close()
})

async function storeAt(address: ServerAddress) {
  const store = await openStore(address)
  closing.push(() => store.close())
  return { source: store.source, sink: store.createSink() }
}

async function shardWith(...options: Parameters<typeof startShard>): Promise<Shard> {
  const shard = await startShard(...options)
  closing.push(() => shard.server.kill())
  return shard
}

type Source = PointSource & ExceptionSource

const RANGE = { fromNs: BigInt(FROM_US) * 1000n, toNs: BigInt(TO_US) * 1000n }
const RULE = { maxRunNs: 86_400_000_000_000n, nowNs: RANGE.toNs }

/** Every question, each about one process or all of an account; the rows of an answer belong to one process each. */
async function ask(source: Source, account: string, process?: string): Promise<Record<string, readonly object[]>> {
  const range = { account, ...RANGE, ...(process !== undefined && { process }) }
  const timings: TimingSelection = { ...range, ...RULE }
  const page = { limit: 10_000 }
  const [newest] = await source.findTimings(timings, { limit: 1 })
  const subjects = [{ process: process ?? PROCESS, meta: '' }]
  const marks = await source.findMarks({ ...range, maxRows: 100_000 })
  return {
    timings: await source.findTimings(timings, page),
    failed: await source.findTimings({ ...timings, states: ['failed'], asOfNs: RANGE.toNs }, page),
    behind: await source.findTimings(timings, { ...page, after: newest!.place }),
    latest: await source.findLatest({ ...timings, each: 3, maxRows: 1000 }),
    summary: await source.summarizeTimings({ ...timings, byMeta: true }),
    series: await source.summarizeTimings({ ...timings, byMeta: false, everyNs: 86_400_000_000_000n }),
    marks,
    metrics: await source.findMetrics(range, page),
    aggregates: await source.aggregateMetrics({ ...range, everyNs: 86_400_000_000_000n }),
    processes: [...(await source.findPointProcesses(range)), ...(await source.findExceptionProcesses(range))],
    exceptions: await source.findExceptions(range, page),
    outputs: await source.findTexts('output', range, page),
    moments: await source.findMoments({ ...range, subjects, limitEach: 100, limit: 1000 }),
    groups: await source.groupExceptions({ ...range, everyNs: 86_400_000_000_000n }, page),
  }
}

/** Sums are added in another order on another shard: their last digits differ. */
const show = (row: object): string =>
  JSON.stringify(row, (_, value) =>
    typeof value === 'bigint' ? `${value}` : typeof value === 'number' ? Number(value.toPrecision(9)) : value,
  )
const showAll = (answers: Record<string, readonly object[]>) =>
  Object.fromEntries(
    Object.entries(answers).map(([name, rows]) => {
      const shown = rows.map(show).toSorted()
      return [name, name === 'marks' ? [...new Set(shown)] : shown] // a copy of a mark is the same mark
    }),
  )

const skip = describe.skipIf(engineMissing !== undefined)

skip('the statements of a cluster', () => {
  test('are all parsed by ClickHouse, and none differs from those of one server but where the cluster is', async () => {
    const engine = await openClickHouseClient(freshEmbedded(), 30_000)
    closing.push(() => engine.close())
    const statements = await collectStatements(createSchema('stint', CLUSTER))
    for (const { sql, params } of statements) {
      const parsed = sql.replace(/(?<=FORMAT JSONCompactEachRow)\n.*$/s, '')
      await engine.run(`EXPLAIN AST ${parsed}`, params).catch((error: Error) => {
        throw new Error(`${error.message}\n${sql}`)
      })
    }
    const texts = statements.map(({ sql }) => sql)
    const ddl = texts.filter((sql) => /^(CREATE|ALTER)/.test(sql))
    expect(engine.run(`EXPLAIN AST ${ddl[0]!.replace('ON CLUSTER', 'AT CLUSTER')}`)).rejects.toThrow()
    expect(ddl.length).toBe(2 + 4 * 4 + 4 + 4 + 1)
    for (const sql of ddl) expect(sql).toContain(`ON CLUSTER \`${CLUSTER}\``)
    const plain = (await collectStatements(createSchema('stint'))).map(({ sql }) => sql)
    expect(plain.join('\n')).not.toMatch(/CLUSTER|Distributed|Replicated|cluster\(|quorum|shard/i)
    expect(plain.filter((sql) => sql.startsWith('INSERT')).length).toBe(
      texts.filter((sql) => sql.startsWith('INSERT')).length,
    )
  })
})

/** All that Stint says to a ClickHouse that has nothing yet. */
interface Statement {
  readonly sql: string
  readonly params: Params
}

async function collectStatements(schema: Schema): Promise<Statement[]> {
  const statements: Statement[] = []
  const note = async (sql: string, params: Params = {}) => void statements.push({ sql, params })
  const engine = await openClickHouseClient(freshEmbedded(), 30_000)
  closing.push(() => engine.close())
  let isNew = true
  const client: ClickHouseClient = {
    run: note,
    async select(sql, params) {
      await note(sql, params)
      if (isNew && sql.includes('stint_migrations')) {
        isNew = false
        return engine.select(`SELECT * FROM ${freshDatabase()}.missing`, params) // as the server says that it is missing
      }
      return sql.includes('count() AS marks') ? ([{ marks: 0 }] as never) : []
    },
    selectArrays: async (sql, params) => {
      await note(sql, params)
      return []
    },
    kill: async () => {},
    close: async () => {},
  }
  const tables = ['exceptions', 'marks', 'metrics', 'outputs'] as const
  const prepare = () =>
    prepareTables(client, {
      ...{ schema, tables, isStart: true, embedded: false, retentionDays: 30, database: 'stint', log: silent },
      holds: ['points', 'exceptions'],
    })
  const parts = { writer: client, keeper: client, schema, tables, isEmbedded: false }
  const sink = createClickHouseSink({ ...parts, prepare })
  expect(await sink.prepare()).toEqual(STORED)
  for (const event of [...someHistory(12)].slice(0, 12)) {
    expect(await sink.write([event])).toEqual(STORED)
    expect(await sink.check(event)).toEqual(STORED)
  }
  expect(await sink.erase(['a'])).toEqual(STORED)
  const source = createClickHouseSource(client, schema)
  const place = { ns: 1n, tie: '["1","1"]' }
  const range = { account: 'a', process: 'p', meta: 'm', uid: 'u', ...RANGE }
  for (const selection of [range, { account: 'a', ...RANGE }]) {
    const timings = { ...selection, ...RULE, asOfNs: 5n, states: ['failed' as const] }
    await source.findTimings(timings, { limit: 1, after: place })
    await source.findLatest({ ...timings, each: 1, maxRows: 1 })
    await source.summarizeTimings({ ...timings, byMeta: true, everyNs: 1n })
    await source.countMarks(selection)
    await source.findMarks({ ...selection, maxRows: 1, perSeries: 1 })
    await source.findMetrics(selection, { limit: 1, after: place })
    await source.aggregateMetrics({ ...selection, everyNs: 1n })
    await source.findPointProcesses(selection)
    await source.findExceptions(selection, { limit: 1, after: place })
    await source.findTexts('output', selection, { limit: 1, after: place })
    await source.findMoments({ ...selection, subjects: [{ process: 'p', meta: '' }], limitEach: 1, limit: 1 })
    await source.groupExceptions({ ...selection, everyNs: 1n }, { limit: 1, after: place })
    await source.findExceptionProcesses(selection)
  }
  return statements
}

skip('an engine that is both shards of its cluster', () => {
  let source: Source
  let client: ClickHouseClient
  let address: ServerAddress
  beforeAll(async () => {
    ;({ address } = await shardWith(2))
    const opened = await storeAt(address)
    source = opened.source
    client = await openClickHouseClient(address, 30_000)
    closing.push(() => client.close())
    expect(await opened.sink.prepare()).toEqual(STORED)
    expect(await opened.sink.write([...someHistory(600)])).toEqual(STORED)
  })

  test('stores each row on one shard', async () => {
    const events = [...someHistory(600)].filter(({ kind }) => kind === 'start' || kind === 'end')
    const rows = async (table: string) =>
      Number((await client.select<{ n: string }>(`SELECT count() AS n FROM ${address.database}.${table}`))[0]!.n)
    expect(await rows('marks_shard')).toBe(events.length)
    expect(await rows('marks')).toBe(2 * events.length)
  })

  test('asks one shard about one process, and all shards about all', async () => {
    const [account] = ACCOUNTS
    const about = await ask(source, account, PROCESS)
    const all = await ask(source, account)
    const ofProcess = (rows: readonly object[]) =>
      rows.filter((row) => (row as { process: string }).process === PROCESS)
    for (const name of ['timings', 'failed', 'summary', 'marks', 'metrics', 'exceptions', 'outputs'] as const) {
      expect(about[name]!.length).toBeGreaterThan(0)
      expect([name, ofProcess(all[name]!).length]).toEqual([name, 2 * about[name]!.length])
    }
    const counted = { account, ...RANGE }
    expect(2 * (await source.countMarks({ ...counted, process: PROCESS }))).toBe(2 * about.marks!.length)
  })

  test('sends the canary of an event to its shard', async () => {
    const schema = createSchema(address.database, CLUSTER)
    for (const process of ['a', 'b', 'c', "it's, \\ é"]) {
      const like = { account: 'acc_one', process }
      const canary = await findCanaryProcess(client, schema.cluster!, like)
      const [row] = await client.select<{ same: number }>(
        "SELECT cityHash64({account:String}, {process:String}) % 2 = cityHash64('_check', {canary:String}) % 2 AS same",
        { ...like, canary },
      )
      expect([process, canary, Number(row!.same)]).toEqual([process, expect.stringMatching(/^check-[0-9]$/), 1])
    }
  })

  test('is not mistaken for a single server, nor a single server for it', async () => {
    const { cluster: _, ...single } = address
    const alone = { ...single, database: freshDatabase() }
    const wait = (reason: string) => ({ kind: 'wait' as const, reason: expect.stringContaining(reason) })
    expect(await (await storeAt(single)).sink.prepare()).toEqual(wait('belong to a cluster: set CLICKHOUSE_CLUSTER'))
    expect(await (await storeAt(alone)).sink.prepare()).toEqual(STORED)
    const clustered = { ...alone, cluster: CLUSTER }
    expect(await (await storeAt(clustered)).sink.prepare()).toEqual(wait('are those of a single server'))
  })
})

skip('two shards with their own rows', () => {
  const events = [...someHistory(1000)]
  const shards: Shard[] = []
  let front: ShardsFront
  const stores: { source: Source; sink: Sink }[] = []
  beforeAll(async () => {
    const database = freshDatabase()
    for (let i = 0; i < 2; i++) shards.push(await shardWith(1, database))
    for (const { address } of shards) stores.push(await storeAt(address))
    const random = () => Math.random()
    const proxies = await Promise.all(
      shards.map(({ address }) => startLossyProxy({ to: address.url, lose: 0.5, random })),
    )
    front = startShardsFront(
      shards,
      proxies.map(({ url }) => url),
    )
    closing.push(...proxies.map((proxy) => () => proxy.stop()), () => front.stop())
    const { sink } = await storeAt(front.address)
    while ((await sink.prepare()).kind !== 'stored');

    // half the answers are lost after the rows were stored; the second shard dies in between, and the first one's proxy flaps
    const outcomes: string[] = []
    for (let i = 0; i < events.length; i += 100) {
      const batch = events.slice(i, i + 100)
      if (i === 300) await shards[1]!.server.kill()
      for (let tries = 0; ; tries++) {
        const { kind } = await sink.write(batch)
        outcomes.push(kind)
        if (kind === 'stored') break
        if (i >= 300 && tries === 2) await shards[1]!.server.start()
        proxies[0]!.setDown(tries % 3 === 1)
      }
    }
    expect(new Set(outcomes)).toEqual(new Set(['stored', 'retry']))
    expect(proxies.every((proxy) => proxy.lostAnswers() > 0 && proxy.storedTwice() > 0)).toBe(true)
  })

  test('hold every event once, each on the shard of its account and process', async () => {
    const found: string[] = []
    for (const [shard, { address }] of shards.entries()) {
      const client = await openClickHouseClient(address, 30_000)
      closing.push(() => client.close())
      for (const account of ACCOUNTS) {
        const rows = await readRows(client, address.database, account)
        expect(rows.length).toBeGreaterThan(0)
        const at = await front.shardsOf(rows.map(({ process }) => [account, process]))
        expect(new Set(at)).toEqual(new Set([shard]))
        found.push(...rows.map((row) => `${account} ${show(row)}`))
      }
    }
    expect(new Set(found).size).toBe(found.length)
    const sent = events.reduce((sum, event) => sum + (event.kind === 'metrics' ? event.items.length : 1), 0)
    expect(found.length).toBe(sent)
  })

  test('answer every question as one engine that holds everything', async () => {
    const whole = await openStore(freshEmbedded())
    closing.push(() => whole.close())
    await whole.createSink().prepare()
    expect(await whole.createSink().write(events as Event[])).toEqual(STORED)
    const [account] = ACCOUNTS
    const expected = showAll(await ask(whole.source, account))
    const answers: Record<string, readonly object[]>[] = []
    for (const { source } of stores) answers.push(await ask(source, account))
    const { behind: _, ...union } = Object.fromEntries(
      Object.keys(expected).map((name) => [name, answers.flatMap((answer) => answer[name]!)]),
    )
    const { behind: __, ...same } = expected // the newest of a shard is not the newest of all
    expect(showAll(union)).toEqual(same)
    const ofProcess = showAll(await ask(whole.source, account, PROCESS))
    const [at] = await front.shardsOf([[account, PROCESS]])
    expect(showAll(await ask(stores[at!]!.source, account, PROCESS))).toEqual(ofProcess)
  })
})

skip('two shards of which one is down', () => {
  const events = [...someHistory(200)]
  test('the other stores its rows once, however often the batch is sent, and the reason names the shard', async () => {
    const database = freshDatabase()
    const shards = [await shardWith(2, database), await shardWith(2, database)]
    const random = () => 1
    const proxies = await Promise.all(
      shards.map(({ address }) => startLossyProxy({ to: address.url, lose: 0, random })),
    )
    const front = startShardsFront(
      shards,
      proxies.map(({ url }) => url),
    )
    closing.push(...proxies.map((proxy) => () => proxy.stop()), () => front.stop())
    const { sink } = await storeAt(front.address)
    while ((await sink.prepare()).kind !== 'stored');

    proxies[1]!.setDown(true)
    for (let tries = 0; tries < 3; tries++)
      expect(await sink.write(events)).toMatchObject({ kind: 'retry', reason: expect.stringMatching(/^shard 2: /) })
    const storedBefore = proxies[0]!.stored()
    expect([storedBefore > 0, proxies[0]!.storedTwice()]).toEqual([true, 0])
    proxies[1]!.setDown(false)
    expect(await sink.write(events)).toEqual(STORED)
    expect([proxies[0]!.stored(), proxies[0]!.storedTwice()]).toEqual([storedBefore, 0])

    let rows = 0
    for (const { address } of shards) {
      const client = await openClickHouseClient(address, 30_000)
      closing.push(() => client.close())
      for (const table of ['marks', 'metrics', 'exceptions', 'outputs'])
        rows += Number(
          (await client.select<{ n: string }>(`SELECT count() AS n FROM ${database}.${table}_shard`))[0]!.n,
        )
    }
    expect(rows).toBe(events.reduce((sum, event) => sum + (event.kind === 'metrics' ? event.items.length : 1), 0))
  })
})
