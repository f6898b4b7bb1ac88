// What InfluxDB, or what stands before it, may answer to a write, and what that means for the events.
import { afterEach, describe, expect, test } from 'bun:test'
import type { Mark, Metrics } from '../../../src/event/event.ts'
import { createInfluxSink } from '../../../src/store/influx/sink.ts'
import { influxd, influxdMissing } from '../../support/influxd.ts'
import { never, type StubServer, serveBytes, serveStub } from './stub-server.ts'
import { readRows, silent } from './subjects.ts'

const STORED = { kind: 'stored', expired: 0 } as const
const TOKEN = 'a-token-nobody-may-see'
const NOW_US = Date.now() * 1000
const DAY_US = 86_400_000_000

const metrics = (us: number, name = 'rows'): Metrics => ({
  ...{ kind: 'metrics', account: 'acc', process: 'p', meta: '' },
  items: [[name, 1]],
  stamp: { us, sub: 0 },
})
const mark = (us: number, process = 'p'): Mark => ({
  ...{ kind: 'start', account: 'acc', process, meta: '', uid: '' },
  stamp: { us, sub: 0 },
})

describe('an answer to a write', () => {
  let stub: Omit<StubServer, 'requests'> | undefined
  afterEach(async () => {
    await stub?.stop()
    stub = undefined
  })

  const writeTo = async (server: Omit<StubServer, 'requests'>, timeoutMs = 5_000) => {
    stub = server
    const { url } = server
    const sink = createInfluxSink({
      ...{ url, token: TOKEN, org: 'o', bucket: 'b' },
      retentionDays: 0,
      log: silent,
      timeoutMs,
    })
    const result = await sink.write([mark(NOW_US)])
    await sink.close()
    return result
  }
  const answers = (status: number, message: string, headers: Record<string, string> = {}) =>
    serveStub(() => Response.json({ code: 'x', message }, { status, headers }))

  test.each([
    [301, 'wait'],
    [400, 'refused'],
    [401, 'wait'],
    [403, 'wait'],
    [404, 'wait'],
    [405, 'wait'],
    [408, 'retry'],
    [413, 'too_large'],
    [415, 'wait'],
    [422, 'refused'],
    [425, 'retry'],
    [429, 'retry'],
    [500, 'retry'],
    [502, 'retry'],
    [503, 'retry'],
    [504, 'retry'],
  ])('of status %d means %s', async (status, kind) => {
    expect(await writeTo(answers(status, 'so it is'))).toMatchObject({
      kind,
      reason: expect.stringContaining(String(status)),
    })
  })

  test("of 204 with InfluxDB's own header means stored", async () => {
    const headers = { 'x-influxdb-version': 'v2.7.12' }
    expect(await writeTo(serveStub(() => new Response(null, { status: 204, headers })))).toEqual(STORED)
  })

  test.each([
    [200, '<html>Down for maintenance</html>'],
    [204, null],
  ])('of %d without it comes from a proxy: the batch is kept and retried', async (status, body) => {
    expect(await writeTo(serveStub(() => new Response(body, { status })))).toMatchObject({
      kind: 'retry',
      reason: expect.stringContaining(String(status)),
    })
  })

  test('may have retry-after', async () => {
    expect(await writeTo(answers(503, 'busy', { 'retry-after': '7' }))).toMatchObject({ kind: 'retry', afterMs: 7_000 })
    expect(await writeTo(answers(429, 'busy', { 'retry-after': 'soon' }))).not.toHaveProperty('afterMs')
  })

  const PARTIAL = 'failure writing points to database: partial write: '
  test.each([
    [`${PARTIAL}dropped 3 points outside retention policy of duration 48h0m0s - oldest point x at y dropped=3`, 3],
    [`${PARTIAL}points beyond retention policy dropped=12 for database: b`, 12],
  ])('that drops nothing but points outside the retention means stored: %s', async (message, expired) => {
    expect(await writeTo(answers(422, message))).toEqual({ kind: 'stored', expired })
  })

  test('that drops points for another reason means refused', async () => {
    const conflict = `${PARTIAL}field type conflict: input field "value" on measurement "metric" is type string dropped=1`
    expect(await writeTo(answers(422, conflict))).toMatchObject({ kind: 'refused' })
  })

  test('never leaves a token or what was sent in the reason, and stays short', async () => {
    const echo = serveStub(async (request) => {
      const text = `${request.headers.get('authorization')} unable to parse '${await request.text()}': no, ${'x'.repeat(9_000)}`
      return Response.json({ code: 'invalid', message: text }, { status: 400 })
    })
    const result = await writeTo(echo)
    if (result.kind !== 'refused') throw new Error(result.kind)
    expect(result.reason).toStartWith("400 Token [token] unable to parse '…': no, xxx")
    expect(result.reason.length).toBeLessThan(600)
  })

  test('times out and is retried', async () => {
    const result = await writeTo(serveStub(never), 100)
    expect(result).toEqual({ kind: 'retry', reason: 'no answer within 100 ms' })
  })

  test('that is not HTTP, or breaks off, is retried', async () => {
    expect(await writeTo(serveBytes('what?\r\n\r\n'))).toMatchObject({ kind: 'retry' })
    expect(await writeTo(serveBytes(''))).toMatchObject({ kind: 'retry' })
    expect(await writeTo(serveBytes('HTTP/1.1 500 no\r\ncontent-length: 50\r\n\r\nhal'))).toMatchObject({
      kind: 'retry',
    })
  })

  test('is not awaited after the sink was closed', async () => {
    stub = serveStub(never)
    const sink = createInfluxSink({
      ...{ url: stub.url, token: TOKEN, org: 'o', bucket: 'b' },
      retentionDays: 0,
      log: silent,
    })
    const result = sink.write([mark(NOW_US)])
    await sink.close()
    expect(await result).toEqual({ kind: 'retry', reason: 'the client was closed' })
  })
})

describe.skipIf(influxdMissing !== undefined)('a real InfluxDB', () => {
  const open = async (retentionDays = 0) => {
    const server = await influxd()
    const address = await server.freshBucket(retentionDays * 86_400)
    return { server, address, sink: createInfluxSink({ ...address, retentionDays, log: silent }) }
  }
  /** Another writer has stored a text where Stint writes numbers: the shard of that time accepts no number any more. */
  const breakMetrics = async (
    { url, token, org, bucket }: { url: string; token: string; org: string; bucket: string },
    us: number,
  ) => {
    const response = await fetch(`${url}/api/v2/write?org=${org}&bucket=${bucket}`, {
      method: 'POST',
      headers: { authorization: `Token ${token}` },
      body: `metric,account=other value="text" ${us}000`,
    })
    expect(response.status).toBe(204)
  }

  test('stores what is inside the retention and counts what is not', async () => {
    const { address, sink } = await open(2)
    const old = Array.from({ length: 3 }, (_, i) => mark(NOW_US - 5 * DAY_US + i))
    expect(await sink.write([old[0]!, mark(NOW_US), old[1]!, metrics(NOW_US + 1), old[2]!])).toEqual({
      kind: 'stored',
      expired: 3,
    })
    expect(await readRows(address, 'acc')).toHaveLength(2)
  })

  test('refuses a batch in which a field has another type, also when points of it are expired', async () => {
    const { address, sink } = await open(2)
    await breakMetrics(address, NOW_US)
    expect(await sink.write([metrics(NOW_US), mark(NOW_US + 1)])).toMatchObject({ kind: 'refused' })
    expect(await sink.write([metrics(NOW_US), mark(NOW_US - 5 * DAY_US)])).toMatchObject({ kind: 'refused' })
    expect(await sink.write([mark(NOW_US + 1)])).toEqual(STORED)
  })

  test('is known to be broken when it refuses a well-formed event of the kind and time', async () => {
    const { address, sink } = await open()
    await breakMetrics(address, NOW_US)
    expect(await sink.check(metrics(NOW_US))).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('type'),
    })
    expect(await sink.check(mark(NOW_US))).toEqual(STORED)
    expect(await sink.check(metrics(NOW_US - 30 * DAY_US))).toEqual(STORED)
  })

  test('without the bucket or the organization waits for the operator', async () => {
    const { server, address } = await open()
    for (const wrong of [{ bucket: server.freshName() }, { org: 'nobody' }]) {
      const sink = createInfluxSink({ ...address, ...wrong, retentionDays: 0, log: silent })
      expect(await sink.write([mark(NOW_US)])).toMatchObject({ kind: 'wait', reason: expect.stringContaining('404') })
    }
  })
})
