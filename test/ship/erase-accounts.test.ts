import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createEraseAccounts, type EraseAccountsOptions } from '../../src/ship/erase-accounts.ts'
import { createInfluxSink } from '../../src/store/influx/sink.ts'
import type { Sink, WriteResult } from '../../src/store/sink.ts'
import { createMemoryStore, type MemoryStore } from '../support/memory-sink.ts'
import { createStepClock } from '../support/step-clock.ts'
import { ACCOUNT, openShipTrial, type ShipTrial } from './ship-trial.ts'

const MINUTE_US = 60_000_000
const ERASE = { kind: 'erase', accounts: [ACCOUNT] } as const

let trial: ShipTrial
beforeEach(async () => {
  trial = await openShipTrial()
})
afterEach(() => trial.close())

/** As ClickHouse, it erases many accounts by one request. */
const sinkOf = (store: MemoryStore, name = 'memory'): Sink => ({ ...store.sink(), store: name, erasesAtOnce: 200 })

function open(changes: Partial<EraseAccountsOptions> = {}) {
  const clock = createStepClock()
  const closed = new Set([ACCOUNT])
  const eraseAccounts = createEraseAccounts({
    removals: () => [...closed],
    async removed(accounts) {
      for (const account of accounts) closed.delete(account)
    },
    forget: () => {},
    spools: [trial.spool],
    sinks: [sinkOf(trial.store)],
    deadLetters: trial.deadLetters,
    nowUs: clock.wallUs,
    log: trial.log,
    ...changes,
  })
  return { ...eraseAccounts, clock, closed }
}
const warnings = () => trial.logged.filter(({ level }) => level === 40)

test('erases an account after requests that began earlier have had their minute to finish', async () => {
  const { step, clock, closed } = open()
  await step()
  clock.pass(MINUTE_US)
  await step()
  expect(trial.store.requests).toEqual([])
  await trial.spool.append(JSON.stringify('what came late'), clock.wallUs())
  clock.pass(2 * MINUTE_US)
  await step()
  expect(trial.store.requests).toEqual([]) // it is not shipped yet
  await trial.spool.advance((await trial.spool.read(10, 1e6)).next)
  await step()
  expect(trial.store.requests).toEqual([ERASE])
  expect(closed.size).toBe(0)
})

test('also waits for events sent while the clock was ahead', async () => {
  const { step, clock } = open()
  await trial.spool.append(JSON.stringify('stamped an hour ahead'), clock.wallUs() + 60 * MINUTE_US)
  await step()
  clock.pass(3 * MINUTE_US)
  await step()
  expect(trial.store.requests).toEqual([])
  await trial.spool.advance((await trial.spool.read(10, 1e6)).next)
  await step()
  expect(trial.store.requests).toEqual([ERASE])
})

test('erases it once when two sinks share a store', async () => {
  const { step, clock, closed } = open({ sinks: [sinkOf(trial.store), sinkOf(trial.store)], settleUs: 0 })
  await step()
  clock.pass(MINUTE_US)
  await step()
  expect(trial.store.requests).toEqual([ERASE])
  expect(closed.size).toBe(0)
})

test('logs a store that cannot erase once per reason, and does not ask the others again', async () => {
  const results: WriteResult[] = [
    ...[1, 2].map(() => ({ kind: 'wait' as const, reason: 'no right to delete' })),
    { kind: 'retry', reason: 'away' },
    { kind: 'wait', reason: 'no right to delete' },
  ]
  const stubborn = createMemoryStore({ next: () => results.shift() })
  const { step, clock, closed } = open({
    sinks: [sinkOf(stubborn, 'stubborn'), sinkOf(trial.store)],
    settleUs: 0,
  })
  await step()
  clock.pass(MINUTE_US)
  for (let i = 0; i < 4; i++) await step()
  expect(warnings()).toMatchObject([{ reason: 'no right to delete', store: 'stubborn' }, { reason: 'away' }])
  expect(closed.size).toBe(1)
  await step()
  expect(closed.size).toBe(0)
  expect(trial.store.requests).toEqual([ERASE])
})

test('letters that cannot be removed hold up no other account, and are logged once', async () => {
  const stuck = {
    ...trial.deadLetters,
    removeAccount(account: string) {
      if (account === 'stuck') throw new Error('the file is read-only')
      trial.deadLetters.removeAccount(account)
    },
  }
  const { step, clock, closed } = open({ deadLetters: stuck, settleUs: 0 })
  closed.clear()
  for (const account of ['stuck', ACCOUNT]) closed.add(account)
  await step()
  clock.pass(MINUTE_US)
  for (let i = 0; i < 3; i++) await step()
  expect([...closed]).toEqual(['stuck'])
  expect(trial.store.requests).toEqual([{ kind: 'erase', accounts: ['stuck', ACCOUNT] }])
  expect(warnings()).toMatchObject([{ account: 'stuck' }])
})

test('steps never overlap, and stopping waits for the current one', async () => {
  const { promise: gate, resolve } = Promise.withResolvers<WriteResult>()
  const { promise: asked, resolve: onAsked } = Promise.withResolvers<void>()
  let times = 0
  const slow: Sink = {
    ...trial.store.sink(),
    erase() {
      times++
      onAsked()
      return gate
    },
  }
  const { step, stop, clock, closed } = open({ sinks: [slow], settleUs: 0 })
  await step()
  clock.pass(MINUTE_US)
  const steps = [step(), step()]
  await asked
  const stopped = stop().then(() => closed.size)
  resolve({ kind: 'stored', expired: 0 })
  expect(await stopped).toBe(0)
  await Promise.all(steps)
  closed.add('another')
  await step()
  expect(times).toBe(1)
})

test('reports what an operator must do before a store erases, until it has', async () => {
  const results: WriteResult[] = [
    { kind: 'wait', reason: '30 MB are missing' },
    { kind: 'wait', reason: '20 MB are missing' },
    { kind: 'retry', reason: 'away' },
  ]
  const full = createMemoryStore({ next: () => results.shift() })
  const { step, clock, waiting } = open({ sinks: [sinkOf(full)], settleUs: 0 })
  await step()
  expect(waiting()).toEqual({ accounts: 0, reasons: [] })
  clock.pass(MINUTE_US)
  for (const missing of [30, 20]) {
    await step()
    expect(waiting()).toEqual({ accounts: 1, reasons: [`memory: ${missing} MB are missing`] })
  }
  for (const _ of ['away', 'erased']) {
    await step()
    expect(waiting()).toEqual({ accounts: 0, reasons: [] })
  }
})

test('a thousand accounts that close at once are looked at once each', async () => {
  const closed: string[] = []
  let looked = 0
  const { step, waiting } = open({
    removals: () => {
      looked += closed.length
      return [...closed]
    },
    forget: () => void looked++,
  })
  for (let i = 0; i < 1000; i++) {
    closed.push(`acc_${i}`)
    void step(`acc_${i}`)
  }
  await step()
  expect(looked).toBeLessThan(5000)
  expect(waiting().accounts).toBe(0)
})

test('a thousand accounts are erased by a few requests, as a store rewrites all that it holds for each', async () => {
  const { step, clock, closed } = open({ settleUs: 0 })
  closed.clear()
  for (let i = 0; i < 1000; i++) closed.add(`acc_${i}`)
  const all = [...closed]
  await step()
  clock.pass(MINUTE_US)
  await step()
  const erased = trial.store.requests.flatMap((request) => (request.kind === 'erase' ? [request.accounts] : []))
  expect(erased.length).toBeLessThanOrEqual(10)
  expect(erased.flat()).toEqual(all)
  expect(closed.size).toBe(0)
})

describe('InfluxDB, which erases one account after another,', () => {
  /** `answer`: the status of a deletion; predicates are `account="…"`. */
  async function openInflux(accounts: readonly string[], answer: (account: string) => Promise<number> | number) {
    const asked: string[] = []
    const server = Bun.serve({
      ...{ port: 0, hostname: '127.0.0.1' },
      async fetch(request) {
        const { predicate } = (await request.json()) as { predicate: string }
        const account = JSON.parse(predicate.slice('account='.length)) as string
        asked.push(account)
        return new Response(null, { status: await answer(account), headers: { 'x-influxdb-version': '2' } })
      },
    })
    const address = { url: String(server.url), org: 'o', bucket: 'b', token: 'secret' }
    const sink = createInfluxSink({ ...address, retentionDays: 0, log: trial.log })
    const opened = open({ sinks: [sink], settleUs: 0 })
    opened.closed.clear()
    for (const account of accounts) opened.closed.add(account)
    await opened.step()
    opened.clock.pass(MINUTE_US)
    return { ...opened, asked, close: () => server.stop(true) }
  }

  test('erases the others when it fails for one, which is logged once', async () => {
    const influx = await openInflux(['a', 'large', 'b'], (account) => (account === 'large' ? 500 : 204))
    for (let i = 0; i < 3; i++) await influx.step()
    expect([...influx.closed]).toEqual(['large'])
    expect(influx.asked).toEqual(['a', 'large', 'b', 'large', 'large'])
    expect(warnings()).toMatchObject([{ accounts: ['large'], store: 'influxdb' }])
    await influx.close()
  })

  test('delays a stop by the request in hand alone', async () => {
    const { promise: gate, resolve } = Promise.withResolvers<number>()
    const { promise: isAsked, resolve: noteAsked } = Promise.withResolvers<void>()
    const influx = await openInflux(['a', 'b', 'c'], () => {
      noteAsked()
      return gate
    })
    void influx.step()
    await isAsked
    const stopped = influx.stop()
    resolve(204)
    await stopped
    expect(influx.asked).toEqual(['a'])
    await influx.close()
  })
})

test('a reason is logged once although the store erases other accounts', async () => {
  const results = new Map<string, WriteResult>([['acc_999', { kind: 'retry', reason: 'a part is broken' }]])
  const broken: Sink = {
    ...sinkOf(trial.store),
    async erase(accounts) {
      const result = accounts.map((account) => results.get(account)).find((it) => it !== undefined)
      return result ?? { kind: 'stored', expired: 0 }
    },
  }
  const { step, clock, closed } = open({ sinks: [broken], settleUs: 0 })
  closed.clear()
  for (let i = 0; i < 1000; i++) closed.add(`acc_${i}`)
  await step()
  clock.pass(MINUTE_US)
  await step()
  closed.add('acc_new')
  await step()
  clock.pass(MINUTE_US)
  await step()
  expect(closed.has('acc_new')).toBe(false)
  expect(warnings()).toMatchObject([{ reason: 'a part is broken' }])
  results.clear()
  await step()
  expect(closed.size).toBe(0)
})
