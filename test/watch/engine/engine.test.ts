// The log through the judge into the store: real spools and a real watches.sqlite; only the clock is the test's.
import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Event } from '../../../src/event/event.ts'
import { toRecord } from '../../../src/event/record.ts'
import { openSpool } from '../../../src/spool/open-spool.ts'
import type { Spool } from '../../../src/spool/spool.ts'
import { createEngine, type Engine } from '../../../src/watch/engine/engine.ts'
import { createSeed, type KnownMark } from '../../../src/watch/engine/seed.ts'
import { toReminder } from '../../../src/watch/engine/to-reminder.ts'
import { createFeeder } from '../../../src/watch/feed/feeder.ts'
import { createOwnInputs } from '../../../src/watch/feed/own-inputs.ts'
import { createRefusedTimes, hearRefusals, type RefusedTimes } from '../../../src/watch/feed/refused-times.ts'
import { applyRecord } from '../../../src/watch/log/apply-record.ts'
import type { WatchStore } from '../../../src/watch/storage/create-watch-store.ts'
import { WentBack } from '../../../src/watch/storage/feed-statements.ts'
import type { WatchSpec } from '../../../src/watch/watch.ts'
import { inMemoryDir } from '../../support/temp-dir.ts'
import { ACCOUNT, alertOf, channelOf, dueOf, judgedOf, openStore, silent, watchOf } from '../watch-cast.ts'

const S = 1e6
const BEGAN = Date.UTC(2026, 10, 21) * 1000

let dir: string
let now: number
let store: WatchStore
let spools: { readonly points: Spool; readonly exceptions: Spool }
let engine: Engine
let stored: KnownMark[]
let isAway: boolean
/** The watches of an account cannot be read. */
let isUnreadable: boolean
/** The stamps lead the wall clock by so much. */
let leadUs: number
/** Starts and ends of the account are refused. */
let isRefused: boolean
let refusedTimes: RefusedTimes
let seq = 0

async function open(): Promise<void> {
  store = openStore(dir)
  const openOne = (name: string) =>
    openSpool({ dir: join(dir, name), maxBytes: 2 ** 24, minFreeBytes: 0, isFollowed: true, log: silent })
  spools = { points: await openOne('points'), exceptions: await openOne('exceptions') }
  const nowUs = () => now
  refusedTimes = createRefusedTimes({ isRefused: () => isRefused, nowUs })
  const isWatched = (account: string) => account === ACCOUNT
  const feeder = createFeeder({ spools, nowUs, isWatched, refusedTimes, log: silent })
  const rows = await store.feedPositions(0)
  feeder.begin(Object.fromEntries(rows.map(({ spool, position, knownUs }) => [spool, { position, knownUs }])))
  const findMarks = async () => {
    if (isAway) throw new Error('the store is away')
    return stored
  }
  const watches: WatchStore['watches'] = async (account) => {
    if (isUnreadable && account !== undefined) throw new Error('the database is away')
    return store.watches(account)
  }
  engine = createEngine({
    store: { ...store, watches },
    ...{ nowUs, logUs: nowUs, monotonicUs: nowUs, maxRunUs: 86_400 * S },
    inputs: hearRefusals(
      createOwnInputs(feeder, 0, (times) => store.putRefused(0, times, now)),
      (time) => engine.addDowntime(time),
    ),
    leadUs: () => leadUs,
    seed: createSeed({ source: { findMarks }, nowUs, monotonicUs: nowUs, log: silent }),
    publicUrl: () => 'https://stint.example',
    apply: (judge, record, arrivedUs) => applyRecord(judge, record, arrivedUs, async () => false),
    onChanged: () => {},
  })
  for (const time of await store.refused(0)) engine.addDowntime(time)
}

async function close(): Promise<void> {
  await Promise.all([spools.points.close(), spools.exceptions.close()])
  await store.close()
}

/** As after a kill: what was not committed is gone. */
async function restart(): Promise<void> {
  await close()
  await open()
}

beforeEach(async () => {
  dir = inMemoryDir()
  now = BEGAN
  stored = []
  isAway = false
  isUnreadable = false
  leadUs = 0
  isRefused = false
  await open()
  await store.addChannel(channelOf('cha_1'), 9)
})
afterEach(close)

async function watch(id: string, spec: Partial<WatchSpec>): Promise<void> {
  const made = watchOf(
    id,
    { process: id, channels: ['cha_1'], ...spec },
    { createdUs: now - leadUs, sinceUs: now - leadUs },
  )
  await store.addWatch(made, 999)
  engine.hurry(ACCOUNT)
  await judge()
  now += S
}
const send = (kind: 'start' | 'end' | 'failed', process: string, uid = '', atUs = now, account = ACCOUNT) => {
  const common = { account, process, meta: '', uid, stamp: { us: atUs, sub: 0 } }
  const event: Event =
    kind === 'start' ? { ...common, kind } : { ...common, kind: 'end', ...(kind === 'failed' && { failed: true }) }
  return spools.points.append(toRecord(event), now + (seq++ % 2), account)
}
const raise = (process: string, uid: string, exception: string) => {
  const event: Event = {
    kind: 'exception',
    account: ACCOUNT,
    process,
    meta: '',
    uid,
    exception,
    stamp: { us: now, sub: 0 },
  }
  return spools.exceptions.append(toRecord(event), now, ACCOUNT)
}
async function judge(): Promise<void> {
  while (await engine.step()) {}
}
/** A second more than asked: what arrived in the last one is not judged yet. */
async function pass(seconds: number): Promise<void> {
  for (const endUs = now + (seconds + 1) * S; now < endUs; now = Math.min(endUs, now + 5 * S)) await judge()
  await judge()
}
const firing = async () =>
  (await store.openAlerts(ACCOUNT))
    .filter(({ resolvedUs }) => resolvedUs === null)
    .map((it) => `${it.watch} ${it.condition}`)
const sent = async () =>
  (await dueOf(store, now + 86_400 * S, 9999)).map(
    ({ body }) => `${body.type} ${body.data.watch.id} ${body.data.condition}`,
  )

test('the exception that arrives after the end of its run is in the notification', async () => {
  await watch('job', { failed: { after: 1, exceptions: false } })
  await send('start', 'job', 'a')
  await send('failed', 'job', 'a')
  now += 2
  await judge()
  expect(await dueOf(store, now, 9)).toEqual([])
  await raise('job', 'a', 'ValueError: no rows')
  now += 2
  await judge()
  expect((await dueOf(store, now, 9)).map(({ body }) => body.data.exception)).toEqual(['ValueError: no rows'])
  await send('start', 'job', 'b')
  await send('failed', 'job', 'b')
  await judge()
})

test('a kill at any point between two steps repeats nothing and loses nothing', async () => {
  for (const id of ['a', 'b', 'c', 'd'])
    await watch(id, { late: { every: '60s', grace: '10s' }, failed: { after: 1, exceptions: false } })
  for (let round = 0; round < 9; round++) {
    for (const id of ['a', 'b', 'c'].slice(round % 3)) {
      await send('start', id, `r${round}`)
      await send(round === 5 && id === 'c' ? 'failed' : 'end', id, `r${round}`)
      if (round % 2 === 0) await engine.step()
    }
    now += 20 * S
    if (round % 3 !== 2) await engine.step()
    await restart()
  }
  await pass(5)
  expect((await sent()).sort()).toEqual(['alert.firing c failed', 'alert.firing d late', 'alert.resolved c failed'])
  expect(await firing()).toEqual(['d late'])
})

test('many alerts at once are stored in parts, each once, also with a kill in between', async () => {
  await watch('jobs', { process: 'job *', long: '20s' })
  for (let i = 0; i < 300; i++) await send('start', `job ${i}`, 'a')
  await judge()
  now += 30 * S
  for (let i = 0; i < 3; i++) await engine.step()
  const before = (await firing()).length
  expect(before).toBeGreaterThan(0)
  expect(before).toBeLessThan(300)
  await restart()
  await pass(1)
  expect([(await firing()).length, (await sent()).length]).toEqual([300, 300])
})

test('an alert that ends by hand does not fire again for the same run, also after a restart', async () => {
  await watch('job', { long: '20s' })
  await send('start', 'job', 'a')
  await pass(25)
  const [alert] = await store.openAlerts(ACCOUNT)
  const end = {
    kind: 'resolve',
    id: alert!.id,
    resolvedUs: now,
    endedBy: 'person',
    summary: '',
    notifications: [],
  } as const
  await store.commit([end], now)
  engine.hurry(ACCOUNT)
  await pass(30)
  await restart()
  await pass(30)
  expect([await firing(), await sent()]).toEqual([[], ['alert.firing job long']])
})

test('durations of before come from the store, which is asked again until it answers', async () => {
  isAway = true
  stored = Array.from({ length: 6 }, (_, i): KnownMark[] => {
    const atUs = BEGAN - (i + 1) * 100 * S
    const common = { process: 'job', meta: '', uid: `s${i}` }
    return [
      { ...common, mark: 'end', atUs: atUs + 2 * S },
      { ...common, mark: 'start', atUs },
    ]
  }).flat()
  await watch('job', { slow: 2 })
  await send('start', 'job', 'a')
  await pass(20)
  isAway = false
  await send('end', 'job', 'a')
  await pass(15)
  await restart()
  await send('start', 'job', 'b')
  await pass(5)
  expect(await firing()).toEqual(['job slow'])
})

test('a position that is not in the spool asks the store for what was before', async () => {
  await watch('job', { failed: { after: 1, exceptions: false } })
  await send('start', 'job', 'a')
  await pass(12)
  const common = { process: 'job', meta: '', uid: 'b' }
  stored = [
    { ...common, mark: 'failed', atUs: now + 2 * S },
    { ...common, mark: 'start', atUs: now + 1 * S },
  ]
  const [row] = await store.feedPositions(0)
  const ahead = { ...row!, position: { ...row!.position, seq: 999_999 } }
  const { judgedUs } = await store.judged()
  await store.commitJudged(judgedOf({ judgedUs: judgedUs!, positions: [ahead] }), now)
  now += 60 * S
  await restart()
  await pass(130)
  expect([await firing(), (await store.judged()).seedUs]).toEqual([['job failed'], undefined])
})

test('a reminder comes at its interval, unless the alert is acknowledged', async () => {
  await watch('job', { failed: { after: 1, exceptions: false }, remind: '10m' })
  await send('failed', 'job', 'a')
  await pass(605)
  expect(await sent()).toEqual(['alert.firing job failed', 'alert.reminder job failed'])
  const [alert] = await store.openAlerts(ACCOUNT)
  await store.acknowledge(ACCOUNT, alert!.id, { by: 'ada', atUs: now }, now)
  engine.hurry(ACCOUNT)
  await pass(605)
  expect((await sent()).length).toBe(2)
})

test('a paused watch sends no reminder; one that fell due meanwhile is sent once at the end of the pause', async () => {
  await watch('job', { failed: { after: 1, exceptions: false }, remind: '10m' })
  await send('failed', 'job', 'a')
  await pass(5)
  const [made] = await store.watches(ACCOUNT)
  const paused_until = new Date((now + 1800 * S) / 1000).toISOString()
  await store.putWatch({ ...made!, spec: { ...made!.spec, paused_until } }, now)
  engine.hurry(ACCOUNT)
  await pass(1790)
  expect(await sent()).toEqual(['alert.firing job failed'])
  await pass(60)
  expect(await sent()).toEqual(['alert.firing job failed', 'alert.reminder job failed'])
  await pass(560)
  expect((await sent()).length).toBe(3)
})

test('a database that was set back to an earlier commit of this engine is noticed, and nothing is stored', async () => {
  await watch('job', { failed: { after: 1, exceptions: false } })
  const { judgedUs: restoredUs } = await store.judged()
  await send('failed', 'job', 'a')
  await pass(5)
  await store.commitJudged(judgedOf({ judgedUs: restoredUs! }), now)
  await send('end', 'job', 'b')
  now += 5 * S
  await expect(judge()).rejects.toBeInstanceOf(WentBack)
  expect([await firing(), (await store.judged()).judgedUs]).toEqual([['job failed'], restoredUs])
})

test('a reminder that a clock set back would delay comes after one interval', () => {
  const nowUs = BEGAN
  const alert = alertOf('ale_1', 'job', { remindUs: nowUs + 86_400 * S })
  const reminder = toReminder(watchOf('job', { remind: '10m' }), alert, { nowUs, publicUrl: '' })
  expect(reminder).toEqual({ kind: 'remind', id: 'ale_1', remindUs: nowUs + 600 * S, notifications: [] })
})

test('an alert of a watch that was changed meanwhile is judged again by the watch as it is', async () => {
  await watch('job', { long: '20s' })
  await send('start', 'job', 'a')
  await pass(10)
  const [made] = await store.watches(ACCOUNT)
  await store.putWatch({ ...made!, changed: { long: now } }, now) // by another node, which is not heard yet
  await pass(20)
  expect(await firing()).toEqual(['job long'])
})

test('changed watches that could not be read are read by the next step', async () => {
  await judge()
  const spec = { process: 'job', failed: { after: 1, exceptions: false } }
  await store.addWatch(watchOf('job', spec, { createdUs: now, sinceUs: now }), 9)
  isUnreadable = true
  engine.hurry(ACCOUNT)
  await expect(judge()).rejects.toThrow('away')
  isUnreadable = false
  await judge()
  now += S
  await send('failed', 'job', 'a')
  await pass(5)
  expect(await firing()).toEqual(['job failed'])
})

/** As after an upgrade: what came since a minute ago is to be asked of the stores. */
async function upgrade(): Promise<void> {
  await close()
  const file = new Database(join(dir, 'watches.sqlite'))
  file.run('UPDATE alive SET seed_us = ?', [now - 60 * S])
  file.run('DELETE FROM watch_state')
  file.close()
  await open()
}

test('the second failure in a row fires when the first one is read from the store', async () => {
  isAway = true
  const mark = { process: 'job', meta: '', uid: 'before' }
  stored = [
    { ...mark, mark: 'failed', atUs: BEGAN - 3 * S },
    { ...mark, mark: 'start', atUs: BEGAN - 5 * S },
  ]
  await watch('job', { failed: { after: 2, exceptions: false } })
  await pass(5)
  await upgrade()
  await send('start', 'job', 'a')
  await send('failed', 'job', 'a')
  await pass(30)
  expect(await firing()).toEqual([])
  isAway = false
  await pass(15)
  expect(await firing()).toEqual(['job failed'])
  await restart()
  await pass(15)
  expect(await sent()).toEqual(['alert.firing job failed'])
})

test('a run that began before the usual duration was read is slow at its end', async () => {
  isAway = true
  stored = Array.from({ length: 6 }, (_, i): KnownMark[] => {
    const common = { process: 'job', meta: '', uid: `s${i}` }
    const atUs = BEGAN - (i + 1) * 100 * S
    return [
      { ...common, mark: 'end', atUs: atUs + 2 * S },
      { ...common, mark: 'start', atUs },
    ]
  }).flat()
  await watch('job', { slow: 2 })
  await send('start', 'job', 'a')
  await pass(20)
  isAway = false
  await pass(15)
  await send('end', 'job', 'a')
  await pass(2)
  expect(await firing()).toEqual(['job slow'])
})

test('late waits for a start that the store may have, an hour at most, and says so', async () => {
  isAway = true
  stored = [{ process: 'job', meta: '', uid: 's', mark: 'start', atUs: BEGAN + 20 * S }]
  await watch('job', { late: { every: '1m', grace: '10s' } })
  await upgrade()
  await pass(75)
  expect(await firing()).toEqual([])
  isAway = false
  await pass(10)
  expect(await firing()).toEqual([])
  await pass(20)
  expect(await firing()).toEqual(['job late'])
  isAway = true
  await watch('away', { late: { every: '1m', grace: '10s' } })
  await upgrade()
  await pass(3500)
  expect(await firing()).toEqual(['job late'])
  await pass(100)
  expect(await firing()).toEqual(['job late', 'away late'])
  const [alert] = (await store.openAlerts(ACCOUNT)).filter((it) => it.watch === 'away')
  expect(alert!.summary).toContain('or its start lies before what Stint has read')
})

test.each([
  ['before', 0],
  ['after', 600],
])('after a restart %s it was due by the wall clock, late is judged by the lead of each time', async (_, seconds) => {
  leadUs = 3_600 * S
  await watch('job', { late: { cron: '30 * * * *', grace: '5m' } }) // at 23:00 by the wall clock
  await pass(20 * 60)
  now = BEGAN + (30 * 60 + 5) * S
  await send('start', 'job', 'punctual')
  await pass(seconds)
  leadUs -= 900 * S // Stint was down for 15 minutes, in which its stamps stood still
  await restart()
  await judge()
  now += 120 * S
  await judge()
  expect(await sent()).toEqual([])
  // 00:30 by the wall clock, with the 45 minutes that are left of the lead, and the grace
  const overUs = BEGAN + (75 + 5) * 60 * S
  now = overUs - S
  await judge()
  expect(await sent()).toEqual([])
  now = overUs + S
  await judge()
  expect(await sent()).toEqual(['alert.firing job late'])
})

describe('while events of the account are refused', () => {
  const late = { late: { every: '60s', grace: '5s' } }
  const refuse = (account = ACCOUNT) => {
    isRefused = account === ACCOUNT
    refusedTimes.note(account)
  }

  test('nothing is late or long, and what stays away fires one limit later with the reason', async () => {
    await watch('job', { ...late, long: '30s' })
    await send('start', 'job')
    await pass(20)
    refuse()
    await pass(600)
    expect(await firing()).toEqual([])
    isRefused = false
    await pass(30 + 25)
    expect(await firing()).toEqual([])
    await pass(80)
    expect((await firing()).sort()).toEqual(['job late', 'job long'])
    const texts = (await store.openAlerts(ACCOUNT)).map(({ summary }) => summary)
    for (const text of texts) expect(text).toContain('was refused: the account was closed to events')
  })

  test('a start that arrives after it ends the wait', async () => {
    await watch('job', late)
    await send('start', 'job')
    await pass(20)
    refuse()
    await pass(120)
    isRefused = false
    await send('start', 'job')
    await pass(60)
    expect(await firing()).toEqual([])
    await pass(30)
    expect(await firing()).toEqual(['job late'])
  })

  test('it holds over a restart', async () => {
    await watch('job', { late: { every: '60s', grace: '20s' } })
    await send('start', 'job')
    await pass(62)
    refuse()
    await pass(12)
    isRefused = false
    await restart()
    await pass(20)
    expect(await firing()).toEqual([])
  })

  test('refusals of another account change nothing', async () => {
    await watch('job', late)
    await send('start', 'job')
    await pass(20)
    refuse('acc_other')
    await pass(60)
    expect(await firing()).toEqual(['job late'])
  })
})
