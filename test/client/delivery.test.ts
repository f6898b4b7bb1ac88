// How the TypeScript client treats each answer of a server: what it sends again, what it gives up and says so, and what
// it never does.
import { afterEach, describe, expect, spyOn, test } from 'bun:test'
import type { StintOptions } from '../../src/client/declarations/stint.d.ts'
import { createStint } from '../../src/client/stint.ts'
import { until } from '../support/until.ts'
import { type Batch, type Receiver, type Reply, startReceiver, taken } from './client-cast.ts'

let receiver: Receiver
afterEach(() => receiver?.stop())

const drops: string[] = []
const connect = (options: StintOptions = {}) => {
  drops.length = 0
  return createStint({
    url: options.url ?? receiver.url,
    key: 'secret-key',
    backlog: false,
    onDrop: (event, reason) => void drops.push(`${event.kind} ${event.process}: ${reason}`),
    ...options,
  })
}

/** Answers in turn, then accepts. */
const replies =
  (...given: ((batch: Batch) => Reply)[]) =>
  (batch: Batch, n: number) =>
    (given[n] ?? taken)(batch)

const problem = (status: number, headers: Record<string, string> = {}) =>
  Response.json({ title: 'no', detail: 'not now' }, { status, headers })

test('the same bytes are sent again after 408, 429, 500 and 503', async () => {
  const again = [408, 429, 500, 503].map(async (status) => {
    const { url, batches, stop } = startReceiver(replies(() => problem(status)))
    const stint = connect({ url })
    stint.start('job')
    stint.metrics({ rows: 1 }, { process: 'job' })
    expect([status, await stint.flush(20_000)]).toEqual([status, true])
    expect(batches.map(({ bytes }) => bytes)).toEqual([batches[0]!.bytes, batches[0]!.bytes])
    await stop()
  })
  await Promise.all(again)
  expect(drops).toEqual([])
})

test('the same bytes are sent again after no connection', async () => {
  receiver = startReceiver()
  const { url } = receiver
  await receiver.stop()
  const stint = connect()
  stint.start('job')
  expect(await stint.flush(50)).toBe(false)
  const port = Number(new URL(url).port)
  const late: number[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port,
    fetch: () => {
      late.push(1)
      return taken()
    },
  })
  expect(await stint.flush(20_000)).toBe(true)
  expect(late).toEqual([1])
  await server.stop(true)
})

test('waits for retry-after', async () => {
  receiver = startReceiver(replies(() => problem(503, { 'retry-after': '1' })))
  const stint = connect()
  stint.start('job')
  const began = performance.now()
  await stint.flush(20_000)
  expect(performance.now() - began).toBeGreaterThan(900)
})

test('a flush tries a last time before its time is over, whatever the back-off', async () => {
  receiver = startReceiver(replies(() => problem(503, { 'retry-after': '60' })))
  const stint = connect()
  stint.start('job')
  expect(await stint.flush(3_000)).toBe(true)
  expect(receiver.batches).toHaveLength(2)
})

test('reports what was dropped with the reason of the last attempt', async () => {
  receiver = startReceiver(() => problem(503))
  const stint = connect({ maxBytes: 200 })
  stint.start('job')
  const dropNext = async () => {
    await stint.flush(20)
    stint.exception('x'.repeat(200), { process: 'job' })
    return drops.at(-1)!
  }
  const isFor = (reason: RegExp) => async () => reason.test(await dropNext())
  await until('the refusal', isFor(/^exception job: too many events are waiting: the server answered 503: not now$/))
  await receiver.stop()
  await until('no connection', isFor(/: connection (refused|closed without an answer)$/))
})

test('reports an event that is not JSON as dropped', async () => {
  receiver = startReceiver()
  const stint = connect()
  stint.metrics({ a: 1n } as never, { process: 'job' })
  expect(drops).toHaveLength(1)
  expect(drops[0]).toStartWith('metrics')
  expect(await stint.flush()).toBe(false)
  expect(receiver.batches).toEqual([])
})

test.each([400, 401, 403, 404, 413, 422, 301])('%i drops the batch and reports why', async (status) => {
  receiver = startReceiver(replies(() => problem(status, { location: 'http://127.0.0.1:1/' })))
  const stint = connect()
  stint.start('job')
  expect(await stint.flush()).toBe(false)
  expect(await stint.flush()).toBe(true) // it has told
  expect(drops).toEqual([`start job: the server answered ${status}: not now`])
  expect(receiver.batches).toHaveLength(1)
})

test('handles each event of a partly accepted batch separately; those that the answer omits are sent again', async () => {
  receiver = startReceiver(
    replies(() =>
      Response.json(
        {
          items: [
            { at: '2026-01-01T00:00:00.000000000Z' },
            { status: 422, detail: 'wrong', errors: [{ pointer: '/1/uid', detail: 'may not' }] },
            { status: 503, detail: 'full' },
            { at: '2026-01-01T00:00:00.000000000Z' },
          ],
        },
        { status: 207 },
      ),
    ),
  )
  const stint = connect()
  for (const process of ['a', 'b', 'c', 'd', 'omitted']) stint.start(process)
  expect(await stint.flush(20_000)).toBe(false)
  const [first, second] = receiver.batches
  expect(second!.events).toEqual([first!.events[2]!, first!.events[4]!])
  expect(drops).toEqual(['start b: the server answered 422: wrong; uid may not'])
})

test('reports a separate reason for each event of a refused batch', async () => {
  const errors = [0, 10].map((i) => ({ pointer: `/${i}/process`, detail: `bad ${i}` }))
  receiver = startReceiver(replies(() => Response.json({ detail: 'none', errors }, { status: 422 })))
  const stint = connect()
  for (let i = 0; i < 11; i++) stint.start('job')
  await stint.flush()
  expect(drops[0]).toBe('start job: the server answered 422: none; process bad 0')
  expect(drops[1]).toBe('start job: the server answered 422: none')
  expect(drops[10]).toBe('start job: the server answered 422: none; process bad 10')
})

test('sends a gzipped JSON batch with the key only in its header', async () => {
  receiver = startReceiver()
  const stint = connect({ service: 'other' })
  stint.start('job')
  await stint.flush()
  const { headers, events } = receiver.batches[0]!
  expect(headers.get('x-other-api-key')).toBe('secret-key')
  expect(headers.get('content-encoding')).toBe('gzip')
  expect(headers.get('content-type')).toBe('application/json')
  expect(JSON.stringify(events)).not.toContain('secret-key')
})

test('many events share a request, and none waits longer than flushMs', async () => {
  receiver = startReceiver()
  const stint = connect({ flushMs: 5 })
  for (let i = 0; i < 2500; i++) stint.metrics({ i }, { process: 'job' })
  await until('all have arrived', () => receiver.events().length === 2500)
  expect(receiver.batches.map(({ events }) => events.length)).toEqual([1000, 1000, 500])
  expect(receiver.events().map(({ items }) => (items as { i: number }).i)).toEqual(
    Array.from({ length: 2500 }, (_, i) => i),
  )
})

test('memory is bounded while the server is away: the newest events are dropped and reported', async () => {
  let isAway = true
  receiver = startReceiver(() => (isAway ? problem(503) : taken()))
  const stint = connect({ maxBytes: 10_000 })
  for (let i = 0; i < 1000; i++) stint.metrics({ i }, { process: 'job' })
  expect(drops.length).toBeGreaterThan(800)
  expect(drops[0]).toBe('metrics job: too many events are waiting')
  isAway = false
  expect(await stint.flush(20_000)).toBe(false)
  expect(receiver.events().length + drops.length).toBe(1000)
  stint.start('later')
  expect(await stint.flush()).toBe(true)
  expect(drops.length + receiver.events().length).toBe(1001)
})

test('flush gives up at its deadline and delivery continues', async () => {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  receiver = startReceiver(() => opened.then(taken))
  const stint = connect()
  stint.start('job')
  expect(await stint.flush(100)).toBe(false)
  open()
  expect(await stint.flush()).toBe(true)
})

test('swallows errors thrown by onDrop', async () => {
  receiver = startReceiver(() => problem(422))
  const stint = connect({
    onDrop() {
      throw new Error('of the caller')
    },
  })
  stint.start('job')
  expect(await stint.flush()).toBe(false)
})

describe('a host whose clock is wrong', () => {
  const DAY_MS = 86_400_000

  /** Refuses what is more than five minutes ahead or seven days old by a clock that is `aheadMs` behind ours. */
  const strict = (aheadMs: number) => (batch: Batch) => {
    const nowMs = Date.now() - aheadMs
    const isBad = (at: number) => at > nowMs + 300_000 || at < nowMs - 7 * DAY_MS
    const errors = batch.events.map(({ at }, i) =>
      isBad(Date.parse(at as string)) ? [{ pointer: `/${i}/at`, detail: 'is wrong' }] : [],
    )
    const items = errors.map((own) => (own.length === 0 ? { at: '' } : { status: 422, detail: 'no', errors: own }))
    const bad = errors.flat()
    const status = bad.length === 0 ? 201 : bad.length === errors.length ? 422 : 207
    const headers = { date: new Date(nowMs).toUTCString() }
    return Response.json({ detail: 'no', errors: bad, items }, { status, headers })
  }

  test.each([
    [10 * 60_000, '10 minutes ahead of'],
    [-8 * DAY_MS, '8 days behind'],
  ])(
    '%d ms ahead: its events are sent again with corrected times, and one warning is printed',
    async (aheadMs, words) => {
      receiver = startReceiver(strict(aheadMs))
      const said: string[] = []
      const warn = spyOn(console, 'warn').mockImplementation((text) => void said.push(String(text)))
      try {
        const stint = connect()
        await stint.run('job', async () => Promise.reject(new Error('bad'))).catch(() => {})
        expect(await stint.flush(20_000)).toBe(true)
        stint.start('another')
        expect(await stint.flush(20_000)).toBe(true)
      } finally {
        warn.mockRestore()
      }
      expect(drops).toEqual([])
      expect(said).toEqual([`stint: this host's clock is ${words} Stint's; times are corrected`])
      const near = ({ at }: Batch['events'][number]) =>
        Math.abs(Date.parse(at as string) - (Date.now() - aheadMs)) < 30_000
      const stored = receiver.events().filter(near)
      expect(stored.map(({ kind }) => kind)).toEqual(['start', 'exception', 'end', 'start'])
      const times = stored.map(({ at }) => at as string)
      expect(times.toSorted()).toEqual(times)
      expect(times.every((at) => /\.\d{6}Z$/.test(at))).toBe(true)
    },
  )

  test('a time that is refused although the clock is right is dropped', async () => {
    const errors = [{ pointer: '/0/at', detail: 'is too long ago' }]
    receiver = startReceiver(() => Response.json({ detail: 'no', errors }, { status: 422 }))
    const stint = connect()
    stint.start('job')
    expect(await stint.flush(20_000)).toBe(false)
    expect(receiver.batches).toHaveLength(1)
  })
})
