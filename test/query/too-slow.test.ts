// A question that takes longer than it may ends with the advice to ask for less, in the store too; a store that does not answer at all is unavailable.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Event } from '../../src/event/event.ts'
import { createLog } from '../../src/log.ts'
import { Problem } from '../../src/problem.ts'
import { openClickHouseClient } from '../../src/store/clickhouse/client.ts'
import { openClickHouse } from '../../src/store/clickhouse/open.ts'
import { createSchema } from '../../src/store/clickhouse/schema.ts'
import { createBoundedSelect } from '../../src/store/clickhouse/selection.ts'
import { createClickHouseSource } from '../../src/store/clickhouse/source.ts'
import { createInfluxClient, fluxExpression, InfluxFault } from '../../src/store/influx/client.ts'
import { createInfluxSink } from '../../src/store/influx/sink.ts'
import { createInfluxSource } from '../../src/store/influx/source.ts'
import type { PointSource } from '../../src/store/source.ts'
import { engineMissing, freshEmbedded } from '../support/engine.ts'
import { type InfluxBucket, influxd, influxdMissing } from '../support/influxd.ts'
import { deskOf, memoryQuestions } from '../support/memory-questions.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

const MINUTE_MS = 60_000
const NOW_US = Date.UTC(2026, 10, 20) * 1000
const log = createLog({ level: 'silent', pretty: false })

/** What a summary of the last day ends in. */
async function refusalBy(points: PointSource, deadlineMs = MINUTE_MS): Promise<Problem> {
  const questions = memoryQuestions([], {
    ...{ points, nowNs: () => BigInt(NOW_US) * 1000n, maxMarks: 100_000_000 },
    desk: deskOf({ deadlineMs, maxAtOnce: 1, maxRunning: 1 }),
  })
  const error = await questions.summary('acc', new URLSearchParams({ from: '-24h' })).then(
    () => expect.unreachable('it was answered'),
    (error: unknown) => error,
  )
  expect(error).toBeInstanceOf(Problem)
  return error as Problem
}

const SHORTER = { code: 'question_too_large', status: 422, detail: expect.stringContaining('Ask for a shorter range') }

describe.skipIf(influxdMissing !== undefined)('in InfluxDB', () => {
  let address: InfluxBucket
  beforeAll(async () => {
    address = await (await influxd()).freshBucket()
    const sink = createInfluxSink({ ...address, retentionDays: 0, log })
    const marks = Array.from(
      { length: 20_000 },
      (_, i): Event => ({
        ...{ kind: i % 2 === 0 ? 'start' : 'end', account: 'acc', process: 'p', meta: '', uid: `${i >> 1}` },
        stamp: { us: NOW_US - 3_600_000_000 + i * 1000, sub: 0 },
      }),
    )
    expect(await sink.write(marks)).toEqual({ kind: 'stored', expired: 0 })
    await sink.close()
  })

  test('a read that takes too long asks for a shorter range', async () => {
    expect(await refusalBy(createInfluxSource({ ...address, timeoutMs: 1, pingMs: MINUTE_MS }))).toMatchObject(SHORTER)
  })

  test('a question that takes too long asks for a shorter range', async () => {
    expect(await refusalBy(createInfluxSource(address), 1)).toMatchObject(SHORTER)
  })

  test('a server that answers nothing is unavailable', async () => {
    const { promise: stopped, resolve: stop } = Promise.withResolvers<Response>()
    const server = startReceiver(() => stopped)
    const source = createInfluxSource({ ...address, url: server.url, timeoutMs: 20, pingMs: 20 })
    expect(await refusalBy(source)).toMatchObject({ code: 'store_unavailable', status: 503 })
    stop(new Response())
    await server.close()
  })

  test('the query ends with the wait for its answer', async () => {
    const { url, token } = await influxd()
    const read = async (pattern: RegExp) => {
      const metrics = await fetch(`${url}/metrics`, { headers: { authorization: `Token ${token}` } })
      return [...(await metrics.text()).matchAll(pattern)].reduce((sum, [, n]) => sum + Number(n), 0)
    }
    const active = () => read(/^qc_executing_active\{.*\} (\d+)$/gm)
    const completed = () => read(/^qc_requests_total\{.*result="success"\} (\d+)$/gm)
    await until('no query of another test runs', async () => (await active()) === 0)
    const completedBefore = await completed()
    // for seconds, and not for longer: influxd computes such a query to its end, although it counts it as ended
    const query = fluxExpression(`import "generate"
generate.from(count: 3000000, fn: (n) => n, start: 2026-01-01T00:00:00Z, stop: 2026-01-02T00:00:00Z) |> count()`)
    const failureOf = (answer: Promise<void>) =>
      answer.then(
        () => expect.unreachable('it was answered'),
        (error: unknown) => error as InfluxFault,
      )

    const patient = createInfluxClient(address, 10 * MINUTE_MS)
    const reader = new AbortController()
    const left = failureOf(patient.readRows(query, () => undefined, reader.signal))
    await until('the query runs', async () => (await active()) > 0)
    reader.abort()
    expect(await left).toBeInstanceOf(InfluxFault)
    await until('no query runs', async () => (await active()) === 0)

    const hasty = createInfluxClient(address, 200)
    expect(await failureOf(hasty.readRows(query, () => undefined))).toMatchObject({ timedOut: true })
    await until('no query runs', async () => (await active()) === 0)
    expect(await completed()).toBe(completedBefore)
  })
})

describe.skipIf(engineMissing !== undefined)('in ClickHouse', () => {
  const address = freshEmbedded()
  let store: Awaited<ReturnType<typeof openClickHouse>>
  let client: Awaited<ReturnType<typeof openClickHouseClient>>
  beforeAll(async () => {
    store = await openClickHouse({ address, holds: ['points', 'exceptions'], retentionDays: 0, log })
    expect(await store.createSink().prepare()).toEqual({ kind: 'stored', expired: 0 })
    client = await openClickHouseClient(address, MINUTE_MS)
    await client.run(`INSERT INTO ${address.database}.marks_raw (account, process, meta, uid, mark, at)
SELECT 'acc', 'p', '', toString(intDiv(number, 2)), if(number % 2 = 0, 'start', 'end'), fromUnixTimestamp64Nano(toInt64(${NOW_US - 3_600_000_000}000 + number * 1000), 'UTC')
FROM numbers(200000)`)
  }, MINUTE_MS)
  afterAll(async () => {
    await client?.close()
    await store?.close()
  })

  test('a statement that takes too long is ended there and asks for a shorter range', async () => {
    const source = createClickHouseSource(client, createSchema(address.database!), { timeoutMs: 10 })
    const points = { ...source, countMarks: store.source.countMarks }
    expect(await refusalBy(points)).toMatchObject(SHORTER)
    const running =
      "SELECT count() AS n FROM system.processes WHERE query LIKE '%marks_raw%' AND query NOT LIKE '%system.processes%'"
    expect(await client.select<{ n: number }>(running)).toEqual([{ n: 0 }])
  })

  test('a statement that needs too much memory is ended there and asks for a shorter range', async () => {
    const select = createBoundedSelect(client, { memoryBytes: 2_000_000 })
    const sql = `SELECT uid, groupArray(at) FROM ${address.database}.marks_raw GROUP BY uid`
    const countMarks = async () => (await select(sql, {}, { account: 'acc' })).length
    const points = { ...store.source, countMarks, boundMarks: async () => undefined }
    expect(await refusalBy(points)).toMatchObject(SHORTER)
  })

  test('a question that takes too long asks for a shorter range', async () => {
    expect(await refusalBy(store.source, 1)).toMatchObject(SHORTER)
  })
})
