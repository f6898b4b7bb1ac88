// What becomes of a question that InfluxDB does not answer, or answers by half: always a StoreError, never a wait without end.
import { describe, expect, test } from 'bun:test'
import type { Event } from '../../../src/event/event.ts'
import { createInfluxSink } from '../../../src/store/influx/sink.ts'
import { createInfluxSource } from '../../../src/store/influx/source.ts'
import { type PointSource, StoreError } from '../../../src/store/source.ts'
import { influxd, influxdMissing } from '../../support/influxd.ts'
import { takePort } from '../../support/ports.ts'
import { until } from '../../support/until.ts'
import { never, serveBytes, serveStub } from './stub-server.ts'
import { silent } from './subjects.ts'

const TOKEN = 'a-token-nobody-may-see'
const HOUR_NS = 3_600_000_000_000n
const NOW_NS = 1_795_211_562_171_920_042n
const range = { account: 'acc', fromNs: NOW_NS - HOUR_NS, toNs: NOW_NS }
const timings = { ...range, maxRunNs: HOUR_NS, nowNs: NOW_NS }

/** One for each way to read: marks in a stream, a number, several results. */
const QUESTIONS: Record<string, (source: PointSource) => Promise<unknown>> = {
  findTimings: (source) => source.findTimings(timings, { limit: 10 }),
  countMarks: (source) => source.countMarks(range),
  aggregateMetrics: (source) => source.aggregateMetrics({ ...range, everyNs: HOUR_NS }),
}
const EACH = Object.entries(QUESTIONS)

const stamp = (second: number) => ({ us: Number(NOW_NS / 1000n) - 600_000_000 + second * 1_000_000, sub: 0 })
const where = { account: 'acc', process: 'p', meta: '' }
const some: readonly Event[] = [
  { kind: 'start', ...where, uid: 'a', stamp: stamp(0) },
  { kind: 'end', ...where, uid: 'a', stamp: stamp(1) },
  { kind: 'metrics', ...where, items: [['rows', 1]], stamp: stamp(2) },
]

const sourceAt = (url: string, timeoutMs = 5_000) =>
  createInfluxSource({ url, token: TOKEN, org: 'o', bucket: 'b', timeoutMs, pingMs: timeoutMs })

/** The StoreError that a question ends in. */
async function failureOf(answer: Promise<unknown>): Promise<StoreError> {
  try {
    throw new Error(`it was answered: ${JSON.stringify(await answer)}`)
  } catch (error) {
    expect(error).toBeInstanceOf(StoreError)
    return error as StoreError
  }
}

describe.each(EACH)('%s', (_, ask) => {
  test('fails when nothing listens', async () => {
    expect((await failureOf(ask(sourceAt('http://127.0.0.1:1')))).message).toContain('ECONNREFUSED')
  })

  test('fails when no answer comes in time', async () => {
    const stub = serveStub(never)
    expect((await failureOf(ask(sourceAt(stub.url, 100)))).message).toContain('no answer within 100 ms')
    await stub.stop()
  })

  test('fails when the answer is an error, and does not repeat the token', async () => {
    const stub = serveStub((request) =>
      Response.json({ code: 'x', message: `not with ${request.headers.get('authorization')}` }, { status: 401 }),
    )
    const { message } = await failureOf(ask(sourceAt(stub.url)))
    expect(message).toContain('401')
    expect(message).not.toContain(TOKEN)
    await stub.stop()
  })

  test('fails when the answer breaks off', async () => {
    const stub = serveBytes(
      'HTTP/1.1 200 OK\r\ncontent-type: text/csv\r\ntransfer-encoding: chunked\r\n\r\n5\r\n,resu\r\n',
    )
    await failureOf(ask(sourceAt(stub.url)))
    await stub.stop()
  })

  test('fails when the answer is empty and the connection closes as if it were whole', async () => {
    const stub = serveBytes('HTTP/1.0 200 OK\r\ncontent-type: text/csv\r\n\r\n')
    expect((await failureOf(ask(sourceAt(stub.url)))).message).toContain('the answer ends in the middle')
    await stub.stop()
  })

  test.skipIf(influxdMissing !== undefined)('fails when a proxy that speaks HTTP/1.0 cuts the answer', async () => {
    const bucket = await (await influxd()).freshBucket()
    const sink = createInfluxSink({ ...bucket, retentionDays: 0, log: silent })
    await sink.write(some)
    await sink.close()
    let cutBytes = 0
    const proxy = Bun.listen({
      ...{ hostname: '127.0.0.1', port: takePort() },
      socket: {
        async data(socket, request) {
          const [head = '', body] = request.toString().split('\r\n\r\n')
          const path = head.split(' ')[1]!
          const headers = { authorization: `Token ${bucket.token}`, 'content-type': 'application/json' }
          const answer = await fetch(bucket.url + path, { method: 'POST', headers, body: body! })
          const whole = await answer.bytes()
          socket.write(`HTTP/1.0 ${answer.status} OK\r\ncontent-type: text/csv\r\n\r\n`)
          socket.end(whole.subarray(0, Math.max(0, whole.length - cutBytes)))
        },
      },
    })
    const source = createInfluxSource({ ...bucket, url: `http://127.0.0.1:${proxy.port}` })
    expect(await ask(source)).toBeDefined()
    for (cutBytes of [1, 3, 100]) await failureOf(ask(source))
    proxy.stop(true)
  })

  test('reads no more than the beginning of an endless error', async () => {
    const chunk = Buffer.alloc(65_536, ' ')
    let sent = 0
    let isCancelled = false
    const endless = () =>
      new ReadableStream({
        pull(controller) {
          controller.enqueue(sent++ === 0 ? Buffer.from('{"message":"') : chunk)
        },
        cancel() {
          isCancelled = true
        },
      })
    const headers = { 'content-type': 'application/json' }
    const stub = serveStub(() => new Response(endless(), { status: 500, headers }))
    expect((await failureOf(ask(sourceAt(stub.url)))).message).toContain('500')
    await until('the connection is given up', () => isCancelled)
    await stub.stop()
  })

  test('fails when the answer ends in a table of errors', async () => {
    const csv =
      '\r\n#datatype,string,string\r\n#group,true,true\r\n#default,,\r\n,error,reference\r\n,out of memory,\r\n'
    const stub = serveStub(() => new Response(csv, { headers: { 'content-type': 'text/csv' } }))
    expect((await failureOf(ask(sourceAt(stub.url)))).message).toContain('out of memory')
    await stub.stop()
  })

  test('fails when the source is closed meanwhile', async () => {
    const stub = serveStub(never)
    const source = sourceAt(stub.url)
    const failure = failureOf(ask(source))
    await until('it is asked', () => stub.requests.length > 0)
    await source.close()
    expect((await failure).message).toContain('closed')
    await stub.stop()
  })

  test.skipIf(influxdMissing !== undefined)('fails for a missing bucket and a wrong token', async () => {
    const server = await influxd()
    const { url, token, org } = server
    const bucket = server.freshName()
    expect((await failureOf(ask(createInfluxSource({ url, token, org, bucket })))).message).toContain('404')
    expect((await failureOf(ask(createInfluxSource({ url, token: 'wrong', org, bucket })))).message).toContain('401')
  })
})

/** Lines as InfluxDB sends them, and the empty line at the end. */
const csv = (lines: string) =>
  new Response(`${lines.replaceAll('\n', '\r\n')}\r\n`, { headers: { 'content-type': 'text/csv' } })

test('an aborted question ends immediately and reads no further range', async () => {
  const stub = serveStub(never)
  const client = new AbortController()
  const answer = sourceAt(stub.url).findMetrics({ ...range, signal: client.signal }, { limit: 10 })
  const failure = failureOf(answer)
  await until('it is asked', () => stub.requests.length > 0)
  client.abort()
  expect((await failure).message).toContain('nobody waits')
  await failureOf(sourceAt(stub.url).countMarks({ ...range, signal: client.signal }))
  expect(stub.requests).toHaveLength(1)
  await stub.stop()
})

test('a metric that arrives while its second is read is no row yet', async () => {
  const header = ',result,table,_start,_time,_value,process,name\n'
  const line = (result: string, name: string, value: number) =>
    `,${result},0,2026-11-20T21:00:00Z,2026-11-20T21:00:00.500000007Z,${value},p,${name}\n`
  const stub = serveStub(async (request) => {
    const query = await request.text()
    if (!query.includes('yield')) return csv(`,result,table,_value\n,_result,0,1000\n`) // how many points there are
    const found = query.includes('count 0')
      ? ['count 0', 'sum 0', 'min 0', 'max 0', 'last 0'].map((result) => line(result, 'known', 1))
      : [line('0', 'known', 1), line('0', 'new', 2)]
    return csv(header + found.join(''))
  })
  const fromNs = BigInt(Date.UTC(2026, 10, 20, 21)) * 1_000_000n
  const question = { account: 'acc', fromNs, toNs: fromNs + HOUR_NS, everyNs: HOUR_NS }
  const rows = await sourceAt(stub.url).aggregateMetrics(question)
  expect(rows).toEqual([
    { atNs: fromNs, process: 'p', name: 'known', count: 1, mean: 1, min: 1, max: 1, sum: 1, last: 1 },
  ])
  expect(stub.requests).toHaveLength(3)
  await stub.stop()
})

test('a metric that arrives while those without a uid are read is not counted as one without', async () => {
  const header = ',result,table,_time,_value,process,name\n'
  const line = (name: string, value: string) => `,_result,0,2026-11-20T21:00:00.500000007Z,${value},p,${name}\n`
  let reads = 0
  const stub = serveStub(async (request) => {
    const query = await request.text()
    if (query.includes('count()')) return csv(`,result,table,_value\n,_result,0,2\n`)
    const hasArrived = ++reads > 1
    if (query.includes('uid')) return csv(header + (hasArrived ? line('new', 'a') : ''))
    return csv(header + line('known', '1') + (hasArrived ? line('new', '2') : ''))
  })
  const fromNs = BigInt(Date.UTC(2026, 10, 20, 21)) * 1_000_000n
  const question = { account: 'acc', fromNs, toNs: fromNs + HOUR_NS, everyNs: HOUR_NS, uid: '' }
  expect((await sourceAt(stub.url).aggregateMetrics(question)).map(({ name }) => name)).toEqual(['known'])
  expect(reads).toBe(2)
  await stub.stop()
})

test('a question of one uid reads a part of the range at once, however the points are spread', async () => {
  const POINTS = 1_000_000
  const beganNs = BigInt(Date.UTC(2026, 10, 20, 21)) * 1_000_000n
  const read: number[] = []
  const stub = serveStub(async (request) => {
    const { query } = (await request.json()) as { query: string }
    const [from = 0, to = 0] = [...query.matchAll(/time\(v: "([^"]*)"/g)].map(([, time]) => Date.parse(time!))
    // all of them are in the last minute of the hour
    const seconds = Math.max(0, to - Math.max(from, Number(beganNs / 1_000_000n) + 3_540_000)) / 1000
    const points = Math.round((seconds * POINTS) / 60)
    if (query.includes('count()')) return csv(points > 0 ? `,result,table,_value\n,_result,0,${points}\n` : '')
    read.push(points)
    return csv('')
  })
  const range = { account: 'acc', fromNs: beganNs, toNs: beganNs + HOUR_NS }
  expect(await sourceAt(stub.url).aggregateMetrics({ ...range, everyNs: HOUR_NS, uid: '' })).toEqual([])
  expect(Math.max(...read)).toBeLessThanOrEqual(200_000)
  expect(read.reduce((sum, points) => sum + points)).toBe(2 * POINTS)
  await stub.stop()
})
