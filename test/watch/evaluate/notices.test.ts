// Watches that cannot be judged: since when and why they are listed, and who is notified once, and once more at the end.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { WatchSource } from '../../../src/watch/evaluate/watch-source.ts'
import { findUnjudged } from '../../../src/watch/manage/find-unjudged.ts'
import type { WatchStore } from '../../../src/watch/storage/create-watch-store.ts'
import type { ChannelSettings, Notification } from '../../../src/watch/storage/watch-store.ts'
import type { WatchSpec } from '../../../src/watch/watch.ts'
import { inMemoryDir } from '../../support/temp-dir.ts'
import { channelOf, evaluatorOf, openStore, watchOf } from '../watch-cast.ts'

const S = 1e6
const BORN = Date.UTC(2026, 10, 21, 12) * 1000
const LATE = { late: { every: '30d', grace: '5m' } }
const METRIC: Partial<WatchSpec> = { metric: { name: 'rows', of: 'mean', window: '5m', above: 3 } }

let store: WatchStore
let now: number
/** The part of the stores that is down: it fails, or its answers never come. */
const hung: (() => void)[] = []
let down: { readonly what: 'points' | 'metrics' | 'exceptions'; readonly hangs?: boolean } | undefined
let unstored: { points: number | undefined; exceptions: number | undefined }
let silentNodes: { node: number; seenUs: number }[]
beforeEach(() => {
  store = openStore(inMemoryDir())
  now = BORN
  down = undefined
  hung.length = 0
  unstored = { points: undefined, exceptions: undefined }
  silentNodes = []
})
afterEach(() => store.close())

function create(over: Partial<WatchStore> = {}) {
  const reply =
    (...parts: ('points' | 'metrics' | 'exceptions')[]) =>
    async () => {
      if (down === undefined || !parts.includes(down.what)) return []
      if (down.hangs)
        return new Promise<never>((_, reject) => hung.push(() => reject(new Error('no answer within 30 s'))))
      throw new Error('the store is away')
    }
  const points = reply('points')
  const source: WatchSource = {
    ...{ findMarks: points, findNewestStarts: points, aggregateMetrics: reply('points', 'metrics') },
    findExceptions: reply('exceptions'),
  }
  const evaluator = evaluatorOf({
    store: { ...store, ...over },
    ...{ source, nowUs: () => now, monotonicUs: () => now + (now % 7e6) / 4e6 },
    publicUrl: () => 'https://stint.example',
    oldestUnstoredUs: () => unstored,
    silent: () => silentNodes,
  })
  return {
    ...evaluator,
    async pass(seconds: number, everyS = 5) {
      for (let t = 0; t < seconds; t += everyS) {
        now += everyS * S
        const round = evaluator.step()
        round.catch(() => {})
        if (down?.hangs) for (let turn = 0; turn < 30; turn++) await new Promise(setImmediate)
        else {
          for (const giveUp of hung.splice(0)) giveUp()
          await round
        }
      }
    },
    listed: (account = 'acc_1') =>
      findUnjudged({
        ...{ account, store, nowUs: () => now },
        node: { gaps: evaluator.gaps, unjudged: evaluator.unjudged, silent: () => [] },
      }),
  }
}

const addChannel = (id: string, account = 'acc_1', settings: Partial<ChannelSettings> = {}) =>
  store.addChannel(channelOf(id, { account, settings: { ...channelOf('').settings, ...settings } }), 9)
const addWatch = (id: string, channels: string[], spec: Partial<WatchSpec> = LATE, account = 'acc_1') =>
  store.addWatch(
    watchOf(id, { name: id, process: id, channels, ...spec }, { account, sinceUs: BORN, createdUs: BORN }),
    9,
  )
/** The only notification that waits. */
async function waiting() {
  const [{ body }, ...others] = (await store.due(now, 99)) as [Notification, ...Notification[]]
  expect(others).toEqual([])
  return body.data
}
/** What waits in the outbox: each is delivered now. */
async function sent() {
  const rows = await store.due(now, 99)
  for (const row of rows) await store.settle([row], { id: row.channel }, now, 'delivered')
  return rows.map(({ channel, body: { type } }) => `${channel} ${type}`)
}

test('a store that stops answering is noticed without an event, within 80 s, with its true beginning', async () => {
  await addWatch('wat_1', [])
  const { pass, listed } = create()
  await pass(600)
  down = { what: 'points', hangs: true }
  const downUs = now
  await pass(80, 1)
  const [check] = await listed()
  expect(check).toMatchObject({ watch: { id: 'wat_1' }, condition: null, process: null })
  const sinceUs = Date.parse(check!.since) * 1000
  expect(sinceUs).toBeGreaterThanOrEqual(downUs)
  expect(sinceUs - downUs).toBeLessThanOrEqual(20 * S)
  await pass(120)
  expect((await listed())[0]!.since).toBe(check!.since)
  down = undefined
  await pass(30)
  expect(await listed()).toEqual([])
})

test('events that wait to be stored delay every condition since the oldest of them', async () => {
  await addWatch('wat_1', [])
  const { pass, listed } = create()
  await pass(60)
  unstored = { points: now - 30 * S, exceptions: undefined }
  await pass(60)
  const since = new Date((BORN + 30 * S) / 1000).toISOString()
  expect(await listed()).toEqual([
    {
      ...{ watch: { id: 'wat_1', name: 'wat_1' }, condition: null, process: null, since },
      reason: 'Accepted events wait to be stored',
    },
  ])
})

test('only conditions that need what is missing are unknown', async () => {
  await addWatch('wat_late', [], LATE)
  await addWatch('wat_threw', [], { long: '1h', failed: { after: 1, exceptions: true } })
  const { pass, listed } = create()
  await pass(60)
  down = { what: 'exceptions' }
  await pass(120)
  expect((await listed()).map(({ watch, condition }) => [watch.id, condition])).toEqual([['wat_threw', 'failed']])
})

test('a channel is notified once after 10 minutes, and once when its watches are judged again', async () => {
  await addChannel('cha_1')
  await addChannel('cha_idle')
  await addWatch('wat_1', ['cha_1'])
  await addWatch('wat_2', ['cha_1'])
  const { pass } = create()
  await pass(600)
  down = { what: 'points' }
  const downUs = now
  await pass(590)
  expect(await sent()).toEqual([])
  await pass(60)
  const { since, summary } = await waiting()
  expect(Date.parse(since) * 1000 - downUs).toBeLessThanOrEqual(20 * S)
  expect(summary).toMatch(/^wat_1, wat_2 could not be judged since .* UTC: the store of runs does not answer/)
  expect(await sent()).toEqual(['cha_1 watches.unjudged'])
  await pass(3600, 15)
  expect(await sent()).toEqual([])
  down = undefined
  await pass(60)
  expect((await waiting()).summary).toMatch(
    /^wat_1, wat_2 are judged again since .* UTC, and could not be since .* UTC$/,
  )
  expect(await sent()).toEqual(['cha_1 watches.judged'])
  await pass(600)
  expect(await sent()).toEqual([])
})

test('neither a restart nor another node notifies again, and the end is notified after either', async () => {
  await addChannel('cha_1')
  await addWatch('wat_1', ['cha_1'])
  down = { what: 'points' }
  await create().pass(720)
  expect(await sent()).toEqual(['cha_1 watches.unjudged'])
  const next = create()
  const { since } = (await next.pass(90).then(() => next.listed()))[0]!
  expect(Date.parse(since) * 1000 - BORN).toBeLessThanOrEqual(20 * S) // not that of the restart
  await next.pass(900)
  expect(await sent()).toEqual([])
  down = undefined
  await create().pass(60)
  expect(await sent()).toEqual(['cha_1 watches.judged'])
})

test('many accounts get one notice each, a hanging store included', async () => {
  for (let i = 0; i < 30; i++) {
    await addChannel(`cha_${i}`, `acc_${i}`)
    await addWatch(`wat_${i}`, [`cha_${i}`], LATE, `acc_${i}`)
  }
  const { pass } = create()
  await pass(60)
  down = { what: 'points', hangs: true }
  await pass(1200, 15)
  for (let turn = 0; turn < 1000 && (await store.outbox()).waiting < 30; turn++) await pass(15, 15)
  expect((await sent()).sort()).toEqual(Array.from({ length: 30 }, (_, i) => `cha_${i} watches.unjudged`).sort())
})

const RULES: { name: string; settings?: Partial<ChannelSettings>; spec?: Partial<WatchSpec>; expected: string[] }[] = [
  { name: 'no other condition', settings: { conditions: ['slow'] }, expected: [] },
  { name: 'its condition', settings: { conditions: ['late'] }, expected: ['unjudged', 'judged'] },
  { name: 'no ends', settings: { only_firing: true }, expected: ['unjudged'] },
  { name: 'a delay that is over', settings: { delay: '5m' }, expected: ['unjudged', 'judged'] },
  { name: 'a delay that is longer', settings: { delay: '2h' }, expected: [] },
  { name: 'a paused watch', spec: { ...LATE, paused_until: '2030-01-01T00:00:00Z' }, expected: [] },
]
test.each(RULES)('a channel is notified by its own rules: $name', async ({ settings = {}, spec = LATE, expected }) => {
  await addChannel('cha_1', 'acc_1', settings)
  await addWatch('wat_1', ['cha_1'], spec)
  const { pass } = create()
  down = { what: 'points' }
  await pass(1800, 15)
  const begun = await sent()
  down = undefined
  await pass(60)
  expect([...begun, ...(await sent())]).toEqual(expected.map((it) => `cha_1 watches.${it}`))
})

test('a maintenance of all of its watches holds the notice back, and it is sent if the gap is still there', async () => {
  await addChannel('cha_1')
  await addWatch('wat_1', ['cha_1'])
  const at = (us: number) => new Date(us / 1000).toISOString()
  const spec = { process: 'wat_*', from: at(BORN), to: at(BORN + 1800 * S), repeat: null }
  await store.addMaintenance({ id: 'mnt_1', account: 'acc_1', spec, createdUs: BORN }, 9)
  const { pass } = create()
  down = { what: 'points' }
  await pass(1740, 15)
  expect(await sent()).toEqual([])
  await pass(180)
  expect(await sent()).toEqual(['cha_1 watches.unjudged'])
})

test('a silent node concerns only watches that wait for starts', async () => {
  await addChannel('cha_1')
  await addWatch('wat_late', ['cha_1'])
  await addWatch('wat_long', ['cha_1'], { long: '1h' })
  const { pass } = create()
  await pass(60)
  silentNodes = [{ node: 2, seenUs: now - 30 * S }]
  await pass(900)
  expect((await waiting()).watches).toEqual([{ id: 'wat_late', name: 'wat_late' }])
})

test('an end is not claimed for watches that were removed meanwhile', async () => {
  await addChannel('cha_1')
  await addWatch('wat_1', ['cha_1'])
  const { pass, hurry } = create()
  down = { what: 'points' }
  await pass(720)
  await sent()
  await store.removeWatch('acc_1', 'wat_1', () => [], now)
  hurry('acc_1')
  await pass(60)
  expect((await waiting()).summary).toMatch(/were removed or paused$/)
})

const remove = async (id: string, hurry: (account: string) => void, account = 'acc_1') => {
  await store.removeWatch(account, id, () => [], now)
  hurry(account)
}
const metricOf = (process: string, account = 'acc_1') => ({ account, process, kind: 'metrics' }) as const

test('a fault of a store that no watch reads any more passes with the store', async () => {
  await addWatch('wat_late', [])
  await addWatch('wat_metric', [], METRIC)
  const { pass, hint, hurry, lastRoundUs, listed } = create()
  await pass(60)
  down = { what: 'metrics' }
  hint(metricOf('wat_metric'))
  await pass(120)
  expect(now - lastRoundUs()!).toBeGreaterThan(60 * S)
  await remove('wat_metric', hurry)
  down = undefined
  await pass(60)
  expect(now - lastRoundUs()!).toBeLessThanOrEqual(15 * S)
  await addWatch('wat_again', [], METRIC)
  hurry('acc_1')
  expect(await listed()).toEqual([])
})

test('without any watch no store has a fault', async () => {
  await addWatch('wat_1', [])
  const { pass, hurry, lastRoundUs, gaps } = create()
  down = { what: 'points' }
  await pass(120)
  expect(gaps()).not.toEqual([])
  await remove('wat_1', hurry)
  await pass(30)
  expect([gaps(), now - lastRoundUs()! <= 15 * S]).toEqual([[], true])
})

test('the end is notified though a gap that concerns none of the watches goes on', async () => {
  await addChannel('cha_1')
  await addWatch('wat_1', ['cha_1'])
  await addWatch('wat_metric', [], METRIC, 'acc_2')
  const { pass, hint } = create()
  hint(metricOf('wat_metric', 'acc_2'))
  down = { what: 'points' }
  await pass(720)
  expect(await sent()).toEqual(['cha_1 watches.unjudged'])
  down = { what: 'metrics' }
  await pass(60)
  expect(await sent()).toEqual(['cha_1 watches.judged'])
})

test('the time and reason of a notice are of a gap that concerns a watch of the channel', async () => {
  for (const id of ['cha_1', 'cha_threw']) await addChannel(id)
  await addWatch('wat_1', ['cha_1'], METRIC)
  await addWatch('wat_threw', ['cha_threw'], { failed: { after: 1, exceptions: true } })
  const { pass, hint, listed } = create()
  await pass(60)
  unstored = { points: undefined, exceptions: now - 580 * S }
  await pass(60)
  expect(await sent()).toEqual(['cha_threw watches.unjudged'])
  const downUs = now
  down = { what: 'metrics' }
  hint(metricOf('wat_1'))
  await pass(595)
  expect(await sent()).toEqual([])
  await pass(90)
  const { since, summary } = await waiting()
  expect(Date.parse(since) * 1000).toBeGreaterThanOrEqual(downUs)
  expect(summary).toContain('the store of metrics does not answer')
  const { since: shown } = (await listed()).find(({ watch }) => watch.id === 'wat_1')!
  expect(Date.parse(shown) * 1000).toBeGreaterThanOrEqual(downUs)
})

test('the end names the watches that were announced and are judged', async () => {
  await addChannel('cha_1')
  for (const id of ['wat_1', 'wat_2', 'wat_paused']) await addWatch(id, ['cha_1'])
  await addWatch('wat_long', ['cha_1'], { long: '1h' })
  const { pass } = create()
  await pass(60)
  silentNodes = [{ node: 2, seenUs: now }]
  await pass(720)
  expect((await waiting()).watches?.map(({ id }) => id)).toEqual(['wat_1', 'wat_2', 'wat_paused'])
  await sent()
  const watch = (await store.watch('acc_1', 'wat_paused'))!
  await store.putWatch({ ...watch, spec: { ...watch.spec, paused_until: '2030-01-01T00:00:00Z' } }, now)
  silentNodes = []
  await create().pass(60)
  expect((await waiting()).watches?.map(({ id }) => id)).toEqual(['wat_1', 'wat_2'])
})

test('restarts do not put the notice off', async () => {
  await addChannel('cha_1')
  await addWatch('wat_1', ['cha_1'])
  down = { what: 'points' }
  for (let i = 0; i < 3; i++) await create().pass(180)
  expect(await sent()).toEqual([])
  await create().pass(180)
  expect(Date.parse((await waiting()).since) * 1000 - BORN).toBeLessThanOrEqual(20 * S)
  expect(await sent()).toEqual(['cha_1 watches.unjudged'])
})

test('an outage that ends before the notice leaves nothing', async () => {
  await addChannel('cha_1')
  await addWatch('wat_1', ['cha_1'])
  const { pass } = create()
  down = { what: 'points' }
  await pass(300)
  down = undefined
  await pass(60)
  expect([await sent(), await store.unjudged()]).toEqual([[], []])
})

test('a stop waits for the notices and evaluates nothing after them', async () => {
  await addWatch('wat_1', [])
  const asked = Promise.withResolvers<void>()
  const reply = Promise.withResolvers<void>()
  const order: string[] = []
  const { step, stop } = create({
    async unjudged() {
      asked.resolve()
      await reply.promise
      order.push('noticed')
      return []
    },
    async judged() {
      order.push('evaluated')
      return new Map()
    },
  })
  const stepped = step()
  await asked.promise
  const stopped = stop().then(() => order.push('stopped'))
  for (let turn = 0; turn < 30; turn++) await new Promise(setImmediate)
  reply.resolve()
  await Promise.all([stepped, stopped])
  expect(order).toEqual(['noticed', 'stopped'])
})
