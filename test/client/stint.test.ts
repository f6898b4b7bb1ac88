// What the TypeScript client sends, as a real Stint shows it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { StintOptions } from '../../src/client/declarations/stint.d.ts'
import { createStint } from '../../src/client/stint.ts'
import type { Event } from '../../src/event/event.ts'
import { timeUs } from '../../src/event/stamp.ts'
import { type RealStint, startRealStint } from '../support/real-stint.ts'
import { startReceiver } from './client-cast.ts'

let app: RealStint
let seen = 0

beforeAll(async () => {
  app = await startRealStint()
})
afterAll(() => app.stop())

const connect = (options: StintOptions = {}) => createStint({ url: app.url, key: app.key, ...options })

/** What Stint has stored of the process, in order of time. */
async function eventsOf(process: string): Promise<Event[]> {
  const events = (await app.events()).filter((event) => event.process === process)
  return events.sort((a, b) => timeUs(a.stamp) - timeUs(b.stamp))
}

const nextProcess = () => `job ${seen++}`

describe('run', () => {
  test('sends a start and an end with one uid and passes the result through', async () => {
    const process = nextProcess()
    const stint = connect()
    expect(await stint.run(process, { meta: 'eu' }, async () => 42)).toBe(42)
    expect(await stint.flush()).toBe(true)
    const uid = expect.stringMatching(/^[0-9a-f-]{36}$/)
    expect(await app.runs(process)).toMatchObject([{ meta: 'eu', uid, state: 'completed', exceptions: [] }])
  })

  test('returns the result of a synchronous function as it is', () => {
    expect(connect().run(nextProcess(), () => 'now')).toBe('now')
  })

  test('rethrows the same error and reports it with a failed end', async () => {
    const process = nextProcess()
    const stint = connect()
    const error = new TypeError('no such region', { cause: new Error('the cause') })
    const caught = stint.run(process, async () => {
      throw error
    })
    expect(await caught.catch((it) => it)).toBe(error)
    expect(() =>
      stint.run(process, () => {
        throw error
      }),
    ).toThrow(error)
    await stint.flush()
    const said = expect.stringMatching(/no such region.*Caused by: .*the cause/s)
    const failed = { state: 'failed', exceptions: [said] }
    expect(await app.runs(process)).toMatchObject([failed, failed])
  })

  test('brings what it has said with its end', async () => {
    const process = nextProcess()
    const stint = connect()
    stint.run(process, (run) => {
      run.output('x'.repeat(9000))
      run.output('\n7 pages \ud800')
    })
    stint.end(process, { uid: 'a', output: `said ${'😀'.repeat(4096)}` })
    stint.end(process, { uid: 'b', output: '' })
    await stint.flush()
    const said = (await app.runs(process)).map(({ outputs }) => outputs)
    expect(said).toEqual([[`${'x'.repeat(4086)}\n7 pages \ufffd`], ['😀'.repeat(4096)], []])
  })

  test('shows what an AggregateError holds', async () => {
    const process = nextProcess()
    const stint = connect()
    const typed = { path: 'password', value: 'hunter2' }
    const error = new AggregateError([new Error('row 3 is bad'), typed, new Error('row 9 is bad')], 'two rows')
    await stint.run(process, async () => Promise.reject(error)).catch(() => {})
    await stint.flush()
    const [exception] = await app.exceptions(process)
    expect(exception).toMatch(/two rows.*row 3 is bad.*row 9 is bad/s)
    expect(exception).not.toContain('hunter2')
  })

  test('gives metrics and exceptions inside it its process, meta and uid, nested and in parallel', async () => {
    const [outer, inner] = [nextProcess(), nextProcess()]
    const stint = connect()
    await Promise.all(
      ['a', 'b'].map((meta) =>
        stint.run(outer, { meta, uid: meta }, async (run) => {
          await Bun.sleep(1)
          stint.metrics({ depth: 1 })
          await stint.run(inner, { uid: `inner-${meta}` }, async () => {
            await Bun.sleep(1)
            stint.metrics({ depth: 2 })
          })
          run.metrics({ late: 1 })
          stint.exception('odd', { meta: 'other' })
          stint.metrics({ free: 1 }, { process: 'elsewhere' })
        }),
      ),
    )
    await stint.flush()
    const short = (events: Event[]) =>
      events
        .filter(({ kind }) => kind === 'metrics' || kind === 'exception')
        .map((event) => `${event.kind} ${event.meta} ${(event as { uid?: string }).uid}`)
        .sort()
    expect(short(await eventsOf(outer))).toEqual([
      'exception other a',
      'exception other b',
      'metrics a a',
      'metrics a a',
      'metrics b b',
      'metrics b b',
    ])
    expect(short(await eventsOf(inner))).toEqual(['metrics  inner-a', 'metrics  inner-b'])
    expect(short(await eventsOf('elsewhere'))).toEqual(['metrics  undefined', 'metrics  undefined'])
  })

  test('reports an error only once if the work reported it already', async () => {
    const process = nextProcess()
    const stint = connect()
    await stint
      .run(process, async (run) => {
        const error = new Error('twice')
        run.exception(error)
        throw error
      })
      .catch(() => {})
    await stint.flush()
    expect((await app.runs(process)).map(({ state, exceptions }) => [state, exceptions.length])).toEqual([
      ['failed', 1],
    ])
  })
})

test('begin ends once, with its scope', async () => {
  const process = nextProcess()
  const stint = connect()
  {
    using run = stint.begin(process, { uid: 'u' })
    run.metrics({ a: 1 })
  }
  {
    using run = stint.begin(process, { uid: 'v' })
    run.fail(new Error('bad'))
  }
  await stint.flush()
  const events = await eventsOf(process)
  expect(events.map(({ kind }) => kind)).toEqual(['start', 'metrics', 'end', 'start', 'exception', 'end'])
  expect(events[5]).toMatchObject({ uid: 'v', failed: true })
})

test('start and end carry exactly what they are given', async () => {
  const process = nextProcess()
  const stint = connect()
  stint.start(process)
  stint.end(process, { meta: 'm', uid: 'u', failed: true })
  await stint.flush()
  expect(await eventsOf(process)).toMatchObject([
    { kind: 'start', meta: '', uid: '' },
    { kind: 'end', meta: 'm', uid: 'u', failed: true },
  ])
})

test('truncates values that are too long for the server', async () => {
  const process = `${nextProcess()} `.padEnd(800, '😀')
  const stint = connect()
  stint.exception(`\ud800${'x'.repeat(20_000)}`, { process, meta: 'm'.repeat(600) })
  await stint.flush()
  const found = (await app.events()).find((event) => event.kind === 'exception' && event.meta.length === 500)
  expect(found).toMatchObject({ exception: `�${'x'.repeat(14_999)}` })
  expect([...found!.process]).toHaveLength(250)
})

test('never throws, whatever a caller passes', () => {
  const receiver = startReceiver()
  const drops: string[] = []
  const stint = createStint({ url: receiver.url, key: 'k', onDrop: (_, reason) => drops.push(reason) })
  const hostile = {
    get stack(): string {
      throw new Error('gotcha')
    },
  }
  const circular: Record<string, unknown> = {}
  circular.self = circular
  for (const value of [undefined, null, 1n, Symbol('s'), hostile, circular, () => {}, Object.create(null)] as never[]) {
    stint.exception(value, { process: 'p' })
    stint.exception('text', value)
    stint.metrics(value, { process: 'p' })
    stint.metrics({ value }, value)
    stint.start(value, value)
    stint.end(value, value)
    expect(stint.run(value, value, () => 1)).toBe(1)
    stint.begin(value, value).fail(value)
  }
  stint.metrics({ a: 1 })
  expect(drops).toContain('it has no process')
  return receiver.stop()
})

test('without a key it passes everything through and sends nothing', async () => {
  const receiver = startReceiver()
  const stint = createStint({ url: receiver.url, key: '' })
  expect(await stint.run('p', async () => 1)).toBe(1)
  expect(await stint.flush()).toBe(false)
  expect(receiver.batches).toEqual([])
  await receiver.stop()
})

test('times are unique and increase, also for equal events', async () => {
  const receiver = startReceiver()
  const stint = createStint({ url: receiver.url, key: 'k' })
  for (let i = 0; i < 5000; i++) stint.metrics({ a: 1 }, { process: 'p' })
  await stint.flush()
  const times = receiver.events().map(({ at }) => at as string)
  expect(new Set(times).size).toBe(5000)
  expect(times.toSorted()).toEqual(times)
  expect(Math.abs(Date.parse(times[0]!) - Date.now())).toBeLessThan(60_000)
  await receiver.stop()
})
