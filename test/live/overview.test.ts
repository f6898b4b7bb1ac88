// The overview over a log and a store in memory: states, counts, expected starts, and what it costs the store.
import { beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Event } from '../../src/event/event.ts'
import { Alert } from '../../src/wire/alerts.ts'
import type { OverviewProcess } from '../../src/wire/overview.ts'
import { describeOverall, PROCESS_STATES, toneOf } from '../../src/wire/process-state.ts'
import { exampleOf } from '../../src/wire/route.ts'
import { Watch } from '../../src/wire/watches.ts'
import { countTurns } from '../support/count-turns.ts'
import { type Cast, DAY, HOUR, MINUTE, openCast, raiseAt, runAt, T0 } from './live-cast.ts'

let open: Cast

beforeEach(async () => {
  open = await openCast()
})

interface Of {
  readonly process?: string
  readonly meta?: string
  readonly failed?: boolean
}
/** A run that began so long ago, in the store. */
const run = (agoMs: number, ms: number | undefined, of: Of = {}): void => {
  open.events.push(...runAt(open.nowMs - agoMs, ms, { ...of, uid: `u${agoMs}` }))
}
/** The same, in the log alone. */
const sendRun = (agoMs: number, ms: number | undefined, of: Of = {}): Promise<void> =>
  open.send(...runAt(open.nowMs - agoMs, ms, { ...of, uid: `u${agoMs}` }))
const raise = (agoMs: number, exception = 'Error: x\n  at y', process = 'job'): void => {
  open.events.push(raiseAt(open.nowMs - agoMs, exception, { process }))
}
const nightly = (lastAgoMs: number, nights = 10, of: Of = {}) => {
  for (let i = nights - 1; i >= 0; i--) run(lastAgoMs + i * DAY, MINUTE, of)
}
const one = async () => (await open.ask()).processes[0]!
const metricsAt = (ms: number): Event => ({
  ...{ account: 'ada', process: 'job', meta: '', stamp: { us: ms * 1000, sub: 0 }, kind: 'metrics' },
  items: [['x', 1]],
})

describe('the state of a process', () => {
  test('silent: no start for 4 days of a nightly job, which nobody watches', async () => {
    nightly(4 * DAY)
    nightly(2 * HOUR, 10, { process: 'fine' })
    const { sentence, tone, counts, processes } = await open.ask()
    expect(sentence).toBe('1 silent, 1 fine.')
    expect(tone).toBe('bad')
    expect(counts).toMatchObject({ silent: 1, completed: 1, failed: 0 })
    expect(processes.map(({ process, state }) => `${process} ${state}`)).toEqual(['job silent', 'fine completed'])
    expect(processes[0]).toMatchObject({
      since: new Date(T0 - 4 * DAY).toISOString(),
      every_s: 86_400,
      next_start_at: new Date(T0 - 3 * DAY).toISOString(),
      notified: { late: false, failed: false, channels: [] },
    })
  })
  test('failed, with the first line of the exception, until a run completes', async () => {
    run(HOUR, MINUTE)
    run(10 * MINUTE, MINUTE, { failed: true })
    raise(9.5 * MINUTE, 'Error: no space\n  at x')
    expect(await one()).toMatchObject({
      state: 'failed',
      exception: 'Error: no space',
      since: new Date(T0 - 9 * MINUTE).toISOString(),
    })
    await sendRun(4_000, 1_000)
    expect(await one()).toMatchObject({ state: 'completed', exception: null })
  })
  test('a failure of one meta counts while others complete', async () => {
    run(10 * MINUTE, MINUTE, { meta: 'eu', failed: true })
    run(5 * MINUTE, MINUTE, { meta: 'us' })
    expect(await one()).toMatchObject({ state: 'failed', meta: 'eu', metas: ['eu', 'us'] })
  })
  test('never finished', async () => {
    run(30 * HOUR, undefined)
    expect(await one()).toMatchObject({ state: 'never_finished', last_24h: { never_finished: 0 } })
  })
  test('a run that never finished counts once, also beside so many that the store counts', async () => {
    for (let i = 0; i < 200; i++) run(25 * HOUR + i * MINUTE, 1_000)
    run(23.5 * HOUR, undefined)
    open.nowMs += 45 * MINUTE // its 24 hours are over, and its hour still counts
    for (const { state, last_24h: day } of [await one(), await one()])
      expect([state, day.never_finished]).toEqual(['never_finished', 1])
  })
  test.each(['in the store', 'in the log'])('a day is counted from %s since the hour that it says', async (place) => {
    const fromMs = Math.floor(open.nowMs / HOUR) * HOUR - DAY
    const ended = [-1, 0, 1].map((ms) => runAt(fromMs + ms - MINUTE, MINUTE, { failed: true, uid: `u${ms + 1}` }))
    if (place === 'in the store') open.events.push(...ended.flat())
    else for (const marks of ended) await open.send(...marks)
    expect(await open.ask()).toMatchObject({
      counts_since: new Date(fromMs).toISOString(),
      last_24h: { runs: 2, failed: 2 },
    })
  })
  test('an empty search finds everything', async () => {
    run(HOUR, MINUTE)
    for (const q of ['', '+'])
      expect((await open.ask(`q=${q}`)).processes.map(({ process }) => process)).toEqual(['job'])
  })
  test('exceptions without a run', async () => {
    raise(MINUTE)
    expect(await open.ask()).toMatchObject({
      last_24h: { runs: 0, failed: 0, exceptions: 1 },
      processes: [{ state: 'exceptions', exception: 'Error: x', run: null, last_24h: { exceptions: 1 } }],
    })
  })
  test('overdue from twice the usual time on, before that running', async () => {
    for (let i = 8; i > 0; i--) run(i * HOUR, 10 * MINUTE)
    run(15 * MINUTE, undefined)
    expect(await one()).toMatchObject({ state: 'running', usual_ms: 10 * MINUTE })
    open.nowMs += 6 * MINUTE
    expect(await one()).toMatchObject({ state: 'overdue' })
  })
  test('a run that still runs is not silent, although the next start is late', async () => {
    for (let i = 20; i > 0; i--) run(4 * HOUR + i * 5 * MINUTE, MINUTE)
    run(4 * HOUR, undefined)
    expect(await one()).toMatchObject({ state: 'overdue' })
  })
  test('a meta that another one replaced is not silent', async () => {
    for (let i = 30; i >= 0; i--) run(HOUR * i, MINUTE, { meta: i > 15 ? 'v1' : 'v2' })
    expect(await one()).toMatchObject({ state: 'completed', meta: 'v2' })
  })
  test('no runs: it sends metrics alone', async () => {
    open.events.push(metricsAt(T0 - MINUTE))
    expect(await one()).toMatchObject({ state: 'no_runs', last_start_at: null, runs: [] })
  })
  test('a monthly job that did not start', async () => {
    for (let i = 6; i >= 0; i--) run(34 * DAY + i * 30 * DAY, MINUTE)
    expect(await one()).toMatchObject({ state: 'silent', every_s: 30 * 86_400 })
  })
})

describe('watches', () => {
  const watch = exampleOf(Watch)
  const alert = { ...exampleOf(Alert), process: 'job', meta: null }
  test('a late alert is silence, also of a process that never started', async () => {
    open.watched = { ...open.watched, alerts: [{ ...alert, condition: 'late' }] }
    expect(await one()).toMatchObject({ process: 'job', state: 'silent', since: null, alerts: [{ id: alert.id }] })
  })
  test('any other alert counts where nothing worse is known', async () => {
    run(HOUR, MINUTE)
    open.watched = { ...open.watched, alerts: [{ ...alert, condition: 'slow' }] }
    expect(await one()).toMatchObject({ state: 'firing' })
  })
  test('say when a start is late, and who hears; the next start is that of the rhythm', async () => {
    nightly(30 * HOUR)
    const late = { isSchedule: false, graceMs: HOUR, next: (ms: number) => ms + 2 * DAY }
    const covering = {
      ...{ shown: watch, meta: null, covers: (name: string) => name === 'job' },
      hears: { late: ['ops'], failed: [], any: ['ops'] },
    }
    open.watched = { ...open.watched, watches: [{ ...covering, late }, covering] }
    const due = new Date(T0 - 30 * HOUR + 2 * DAY).toISOString()
    expect(await one()).toMatchObject({
      ...{ state: 'completed', every_s: 86_400, next_start_at: new Date(T0 - 6 * HOUR).toISOString() },
      late_at: new Date(T0 + 19 * HOUR).toISOString(),
      notified: { late: true, failed: false, channels: ['ops'] },
    })
    const [row] = (await open.ask('process=job')).processes
    expect(row!.watches).toMatchObject([{ id: watch.id, due_at: due }, { due_at: null }])
    expect(row!.if_late).toEqual({ channels: ['ops'], held: false, held_until: null })
    const lateUs = (T0 + 19 * HOUR) * 1000
    for (const [untilUs, held_until] of [
      [lateUs + 1e6, new Date(T0 + 19 * HOUR + 1_000).toISOString()],
      [Number.POSITIVE_INFINITY, null],
    ] as const) {
      open.heldUntilUs = (process, us) => (process === 'job' && us === lateUs ? untilUs : undefined)
      const [held] = (await open.ask('process=job')).processes
      expect(held!.if_late).toEqual({ channels: ['ops'], held: true, held_until })
    }
    open.watched = { ...open.watched, watches: [{ ...covering, meta: '', late }] }
    open.live.touch('ada')
    expect((await one()).state).toBe('completed') // the watch decides, not the rhythm
  })
  test('with a cron expression say when the next start is; the others of its process follow their rhythm', async () => {
    for (const meta of ['eu', 'us']) nightly(meta === 'eu' ? HOUR : 2 * HOUR, 10, { meta })
    const next = (ms: number) => ms + 26 * HOUR
    const watched = (meta: string | null) => ({
      ...{
        shown: watch,
        meta,
        covers: (name: string) => name === 'job',
        late: { isSchedule: true, graceMs: HOUR, next },
      },
      hears: { late: ['ops'], failed: [], any: ['ops'] },
    })
    const at = (ms: number) => new Date(T0 + ms).toISOString()
    open.watched = { ...open.watched, watches: [watched('eu')] }
    const [{ by_meta: metas, ...row }] = (await open.ask('process=job')).processes as [OverviewProcess]
    expect(row).toMatchObject({ next_start_at: at(22 * HOUR), every_s: 86_400 })
    expect(metas!.map(({ next_start_at: next, late_at: late }) => [next, late === at(26 * HOUR)])).toEqual([
      [at(25 * HOUR), true],
      [at(22 * HOUR), false],
    ])
    open.watched = { ...open.watched, watches: [watched(null)] }
    open.live.touch('ada')
    expect((await one()).next_start_at).toBe(at(25 * HOUR))
  })
})

test('one process: 60 runs, and the same of each meta', async () => {
  for (let i = 80; i > 0; i--)
    run(i * 10 * MINUTE, i % 2 ? 2_000 : 8_000, { meta: i % 2 ? 'eu' : 'us', failed: i === 1 })
  run(HOUR, MINUTE, { process: 'other' })
  const { processes, counts } = await open.ask('process=job')
  expect(processes).toHaveLength(1)
  expect(counts.failed).toBe(1)
  const [{ runs, by_meta: metas, last_24h: day }] = processes as [(typeof processes)[number]]
  expect(runs).toHaveLength(60)
  expect(day).toMatchObject({ runs: 80, failed: 1 })
  expect(metas!.map(({ meta, state, median_24h_ms, every_s }) => ({ meta, state, median_24h_ms, every_s }))).toEqual([
    { meta: 'eu', state: 'failed', median_24h_ms: 2_000, every_s: 1200 },
    { meta: 'us', state: 'completed', median_24h_ms: 8_000, every_s: 1200 },
  ])
  expect((await open.ask('process=unknown')).processes).toEqual([])
})

test('says since when it is slower; usual is the median before that', async () => {
  for (let i = 7 * 24; i > 0; i--) run(i * HOUR, i > 20 ? 10_000 : 30_000)
  expect(await one()).toMatchObject({
    change: { at: new Date(T0 - 20 * HOUR).toISOString(), before_ms: 10_000, after_ms: 30_000 },
    usual_ms: 10_000,
  })
})

test('the slowest first is by the change that rows tell, not by the medians of days', async () => {
  for (let i = 7 * 24; i > 0; i--) {
    run(i * HOUR, i > 20 ? 10_000 : 30_000, { process: 'changed' })
    // the median of its day is long, but not so sharply that it counts as a change
    run(i * HOUR, i < 24 && i % 5 > 0 ? 60_000 : 1_000, { process: 'a varying one' })
  }
  const { processes } = await open.ask('sort=slow')
  expect(processes.map(({ process, change }) => [process, change === null])).toEqual([
    ['changed', false],
    ['a varying one', true],
  ])
})

test('pages hold every process once, trouble first', async () => {
  for (let i = 0; i < 150; i++) run(HOUR + i, MINUTE, { process: `p${i}`, failed: i === 149 })
  const first = await open.ask()
  const second = await open.ask(`cursor=${first.next}`)
  expect(first.processes[0]!.process).toBe('p149')
  expect(new Set([...first.processes, ...second.processes].map(({ process }) => process)).size).toBe(150)
  expect(second.next).toBeNull()
  expect(second.counts.completed).toBe(149)
})

describe('a store that does not answer', () => {
  const alert = { ...exampleOf(Alert), process: 'job', meta: null } as const
  test('what comes after the first look is in the answer, which is not older for it', async () => {
    nightly(HOUR)
    expect((await one()).state).toBe('completed')
    open.isAway = true
    open.nowMs += MINUTE
    await sendRun(1_000, 500, { failed: true })
    expect(await open.ask()).toMatchObject({ stale_s: null, processes: [{ state: 'failed', last_24h: { runs: 2 } }] })
  })
  test('without anything known the alerts are still shown', async () => {
    open.isAway = true
    open.watched = { ...open.watched, alerts: [{ ...alert, condition: 'late' }] }
    expect(await open.ask()).toMatchObject({ stale_s: 0, processes: [{ process: 'job', state: 'silent' }] })
  })
  test('of a process without an alert the store is reported, instead of no such process', async () => {
    open.isAway = true
    open.watched = { ...open.watched, alerts: [{ ...alert, condition: 'late' }] }
    expect(await open.ask('process=job')).toMatchObject({ stale_s: 0, found: 1 })
    await expect(open.ask('process=other')).rejects.toMatchObject({ code: 'store_unavailable' })
  })
  test('with nothing known at all the store is reported, instead of no processes', async () => {
    open.isAway = true
    await expect(open.ask()).rejects.toMatchObject({ code: 'store_unavailable' })
  })
  test('an exception that belongs to no run is not said of another run', async () => {
    run(2 * HOUR, MINUTE, { meta: 'eu' })
    open.events.push(raiseAt(T0 - HOUR, 'Error: lone', { meta: 'us' }))
    expect(await one()).toMatchObject({ state: 'exceptions', meta: 'us', run: null })
  })
})

test('the sentence says what the rows say, whatever happened', async () => {
  const histories = {
    fine: (process: string) => nightly(2 * HOUR, 8, { process }),
    silent: (process: string) => nightly(4 * DAY, 8, { process }),
    failed: (process: string) => run(HOUR, MINUTE, { process, failed: true }),
    running: (process: string) => run(MINUTE, undefined, { process }),
    abandoned: (process: string) => run(30 * HOUR, undefined, { process }),
    raised: (process: string) => raise(MINUTE, 'Error: x', process),
  }
  const kinds = Object.keys(histories) as (keyof typeof histories)[]
  const jobs = fc.array(fc.uniqueArray(fc.constantFrom(...kinds), { minLength: 1, maxLength: 2 }), { maxLength: 9 })
  await fc.assert(
    fc.asyncProperty(jobs, fc.nat({ max: 2 }), fc.nat({ max: 1 }), async (jobs, unjudged, failingChannels) => {
      open = await openCast()
      open.watched = { alerts: [], watches: [], unjudged, failingChannels }
      for (const [i, of] of jobs.entries()) for (const kind of of) histories[kind](`job ${i}`)
      const { processes, counts, sentence, tone } = await open.ask()
      expect(processes).toHaveLength(jobs.length)
      const rows = Object.groupBy(processes, ({ state }) => state)
      for (const state of PROCESS_STATES) expect(counts[state], state).toBe(rows[state]?.length ?? 0)
      expect({ sentence, tone }).toEqual(describeOverall({ counts, unjudged, failingChannels }))
      if (processes.some(({ state }) => toneOf(state) === 'bad')) expect(tone).toBe('bad')
    }),
    { numRuns: 40 },
  )
})

test('an answer about many processes gives way, whether they are judged for it or known', async () => {
  for (let i = 0; i < 2_000; i++) run(HOUR + i, MINUTE, { process: `job ${i}` })
  const turnsOf = async () => (await countTurns(() => Promise.all([open.ask(), open.ask('q=job')]))).turns
  expect(await turnsOf()).toBeGreaterThan(100)
  expect(await turnsOf()).toBeGreaterThan(25)
})

test('a process with many runs takes more of a turn than one with few', async () => {
  for (let i = 0; i < 40 * 240; i++)
    run(HOUR + i, 1_000, { process: `job ${i % 40}`, meta: `m${Math.floor(i / 40) % 4}` })
  await open.ask()
  expect((await countTurns(() => open.ask())).turns).toBeGreaterThan(15)
})
