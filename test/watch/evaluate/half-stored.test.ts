// Half of what callers sent is stored, the rest waits in a spool: nothing fires because of the missing half, and what is true fires once all is there.
// The real evaluator and SQLite store; time, the spool and the marks' store are simulated.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createAccountHistory, type Hints } from '../../../src/watch/evaluate/account-history.ts'
import { createDelayedEvents } from '../../../src/watch/evaluate/delayed-events.ts'
import type { Evaluator } from '../../../src/watch/evaluate/evaluator.ts'
import type { KnownException, KnownMark } from '../../../src/watch/evaluate/watch-source.ts'
import { findRuns } from '../../../src/watch/rules/runs.ts'
import type { WatchStore } from '../../../src/watch/storage/create-watch-store.ts'
import type { StoredWatch, WatchSpec } from '../../../src/watch/watch.ts'
import { inMemoryDir } from '../../support/temp-dir.ts'
import { ACCOUNT, evaluatorOf, openStore, sourceOf, watchOf } from '../watch-cast.ts'

const S = 1e6
const HOUR = 3600 * S
const DAY = 24 * HOUR

/** Events in the spool, in the order of their acceptance. */
interface Accepted {
  readonly acceptedUs: number
  readonly mark?: KnownMark
  readonly exception?: KnownException
}

let now = 0
let store: WatchStore
let marks: KnownMark[]
let exceptions: KnownException[]
let spool: Accepted[]
let evaluator: Evaluator
/** The store of marks does not answer. */
let isAway = false
/** The spans of the reads. */
let readUs: number[]
let silentNodes: { node: number; seenUs: number }[] = []

const source = sourceOf({
  async findMarks({ fromUs, toUs, processes, perSeries = Number.POSITIVE_INFINITY, maxRows }) {
    if (isAway) throw new Error('away')
    readUs.push(toUs - fromUs)
    const found = marks
      .filter(({ atUs, process }) => atUs >= fromUs && atUs < toUs && processes?.includes(process) !== false)
      .sort((a, b) => b.atUs - a.atUs)
    return [...Map.groupBy(found, ({ process, meta }) => `${process} ${meta}`).values()]
      .flatMap((own) => own.slice(0, perSeries))
      .slice(0, maxRows)
  },
  findExceptions: async ({ fromUs, toUs, maxRows }) =>
    exceptions
      .filter(({ atUs }) => atUs >= fromUs && atUs < toUs)
      .sort((a, b) => b.atUs - a.atUs)
      .slice(0, maxRows),
})

function startEvaluator(): void {
  const oldest = (kind: 'mark' | 'exception') => spool.find((it) => it[kind] !== undefined)?.acceptedUs
  evaluator = evaluatorOf({
    ...{ store, source, nowUs: () => now },
    oldestUnstoredUs: () => ({ points: oldest('mark'), exceptions: oldest('exception') }),
    maxRunUs: 30 * DAY,
    silent: () => silentNodes,
  })
}

/** Lets time pass second by second, or in longer steps, with the evaluator's rounds. */
async function pass(seconds: number, step = 1): Promise<void> {
  for (let i = 0; i < seconds; i += step) {
    now += step * S
    await evaluator.step()
  }
}

/** The shipper stores the oldest events of the spool. */
function ship(count = spool.length): void {
  for (const { mark, exception } of spool.splice(0, count)) {
    if (mark) marks.push(mark)
    if (exception) exceptions.push(exception)
  }
}

/** Accepted now; `isNoted`: at this node and by this process. */
function accept(mark: KnownMark['mark'], process: string, uid: string, agoUs: number, isNoted = true): void {
  const atUs = now - agoUs
  spool.push({ acceptedUs: now, mark: { process, meta: '', uid, mark, atUs } })
  evaluator.hint({ account: ACCOUNT, process, kind: 'mark' })
  if (isNoted && agoUs > 60 * S) evaluator.expectDelayed({ account: ACCOUNT, process, atUs, isException: false })
}

const alerts = async () =>
  (await store.alerts(ACCOUNT, { limit: 100 })).map(({ process, condition, uid, resolvedUs }) => ({
    name: `${process} ${condition} ${uid}`,
    isFiring: resolvedUs === null,
  }))
const names = async () => (await alerts()).map(({ name }) => name).sort()

async function addWatch(process: string, spec: Partial<WatchSpec>, over: Partial<StoredWatch> = {}): Promise<void> {
  await store.addWatch(
    watchOf(`wat_${process}`, { name: process, process, ...spec }, { sinceUs: now - 5 * DAY, ...over }),
    10,
  )
  evaluator.hurry(ACCOUNT)
}

async function remove(id: string): Promise<void> {
  await store.removeWatch(ACCOUNT, id, () => [], now)
  evaluator.hurry(ACCOUNT)
}

const EVERYTHING: Hints = { isSweep: true, marks: new Map(), exceptionUs: undefined }

beforeEach(() => {
  now = Date.UTC(2026, 10, 21) * 1000
  marks = []
  exceptions = []
  spool = []
  isAway = false
  readUs = []
  silentNodes = []
  store = openStore(inMemoryDir())
  startEvaluator()
})
afterEach(() => store.close())

describe('after a start with events of the last process in the spool', () => {
  beforeEach(async () => {
    await addWatch('job', { long: '5h', failed: { after: 1, exceptions: false } })
    await store.commit([], new Map([[ACCOUNT, now - 2 * S]]), now) // an earlier process judged until then
  })

  test('a run whose end is not stored yet is not long, a run that hangs is, and a failure is reported', async () => {
    accept('start', 'job', 'old', 3 * DAY, false)
    accept('end', 'job', 'old', 3 * DAY - 60 * S, false)
    accept('start', 'job', 'night', 12 * HOUR, false)
    accept('failed', 'job', 'night', 12 * HOUR - 60 * S, false)
    accept('start', 'job', 'hangs', 6 * HOUR, false)
    ship(1)
    await pass(60)
    expect(await names()).toEqual([])
    ship(2) // the start of the night is there, its end is not
    await pass(60)
    expect(await names()).toEqual([])
    ship()
    await pass(60)
    expect(await names()).toEqual(['job failed night', 'job long hangs'])
  })

  test('the same holds for a spool that holds only events of the last second', async () => {
    accept('start', 'job', 'old', 3 * DAY, false)
    accept('end', 'job', 'old', 3 * DAY - 60 * S, false)
    ship(1)
    await evaluator.step()
    await pass(3)
    ship()
    await pass(60)
    expect(await names()).toEqual([])
  })

  test('what cannot be judged for a minute is unknown, until the spool is empty', async () => {
    accept('start', 'job', 'old', 3 * DAY, false)
    await pass(50)
    expect(evaluator.unknown()).toEqual([])
    await pass(20)
    expect(evaluator.unknown()).toEqual([ACCOUNT])
    ship()
    await pass(30)
    expect(evaluator.unknown()).toEqual([])
  })
})

test('with a silent node, which may hold starts back, a late job is unknown and a long one is not', async () => {
  silentNodes = [{ node: 2, seenUs: now }]
  await addWatch('job', { long: '5h' })
  await pass(90)
  expect(evaluator.unknown()).toEqual([])
  await addWatch('other', { late: { every: '1h', grace: '1m' } })
  await pass(90)
  expect(evaluator.unknown()).toEqual([ACCOUNT])
})

test('a start that a silent node held back ends what was late meanwhile, and that is reported once it is known', async () => {
  await addWatch('job', { late: { every: '1m', grace: '10s' } }, { sinceUs: now })
  accept('start', 'job', '', 0)
  ship()
  await pass(30)
  silentNodes = [{ node: 2, seenUs: now }]
  await pass(1800, 5)
  expect(await alerts()).toEqual([])
  silentNodes = []
  for (let agoUs = 1500 * S; agoUs >= 0; agoUs -= 50 * S) accept('start', 'job', '', agoUs)
  ship()
  await pass(60)
  expect(await alerts()).toEqual([{ name: 'job late null', isFiring: false }])
})

describe('while Stint runs', () => {
  beforeEach(async () => {
    await addWatch('job', { long: '5h' })
    await pass(60)
  })

  for (const isNoted of [true, false]) {
    test(`a backlog that is stored in two requests is not long half-way, accepted ${isNoted ? 'here' : 'at another node'}`, async () => {
      accept('start', 'job', 'old', 6 * HOUR, isNoted)
      accept('end', 'job', 'old', 5.5 * HOUR, isNoted)
      accept('start', 'job', 'hangs', 5.4 * HOUR, isNoted)
      await pass(1)
      ship(1)
      await pass(2 * 3600) // the last day is read again meanwhile
      expect(await names()).toEqual([])
      ship()
      await pass(2 * 3600)
      expect(await names()).toEqual(['job long hangs'])
    })
  }

  test('a stream of old events that does not end is judged, none of its runs by half', async () => {
    for (let i = 0; i < 200; i++) {
      accept('start', 'job', `r${i}`, 10 * HOUR)
      await pass(1)
      ship()
      accept('end', 'job', `r${i}`, 9 * HOUR)
      accept('start', 'job', i === 50 ? 'hangs' : `other${i}`, 10 * HOUR)
      accept(i === 50 ? 'start' : 'end', 'job', i === 50 ? 'after' : `other${i}`, 9 * HOUR)
    }
    ship()
    await pass(100)
    expect(await names()).toEqual(['job long after', 'job long hangs'])
  })

  test('a watch of another process begins with a backlog that is stored by half', async () => {
    accept('start', 'other', 'old', 6 * HOUR)
    accept('end', 'other', 'old', 5.5 * HOUR)
    accept('start', 'other', 'hangs', 5.4 * HOUR)
    ship(1)
    await addWatch('other', { long: '5h' }, { sinceUs: now })
    evaluator.hurry(ACCOUNT)
    await pass(30)
    expect(await names()).toEqual([])
    ship()
    await pass(60)
    expect(await names()).toEqual(['other long hangs'])
  })

  test('a meta whose newest start is an hour old makes no gap beside one that fills the memory', async () => {
    await addWatch('two', { late: { every: '1m', grace: '1m' } })
    marks.push({ process: 'two', meta: 'rare', uid: '', mark: 'start', atUs: now - HOUR })
    for (let i = 0; i < 1999; i++)
      marks.push({
        process: 'two',
        meta: 'busy',
        uid: '',
        mark: i % 2 ? 'end' : 'start',
        atUs: now - 4000 * S + i * 2 * S,
      })
    evaluator.hurry(ACCOUNT)
    await pass(60)
    expect(await names()).toEqual([])
  })

  test('a failure that arrives late in a busy series is judged, although newer marks fill the memory', async () => {
    await addWatch('busy', { failed: { after: 1, exceptions: false } })
    for (let i = 0; i < 300; i++) {
      accept('start', 'busy', '', (600 - i) * S, false)
      accept('end', 'busy', '', (600 - i) * S - 0.5 * S, false)
    }
    ship()
    evaluator.hurry(ACCOUNT)
    await pass(60)
    accept('start', 'busy', 'late', 20 * HOUR, false)
    accept('failed', 'busy', 'late', 19 * HOUR, false)
    ship()
    await pass(2 * 3600)
    expect(await names()).toEqual(['busy failed late'])
  })

  test('more open starts than are kept do not make the last day be read again and again', async () => {
    await addWatch('beat', { long: '5h' })
    for (let agoUs = 100 * S; agoUs < 25 * HOUR; agoUs += 100 * S)
      marks.push({ process: 'beat', meta: '', uid: `${agoUs}`, mark: 'start', atUs: now - agoUs })
    evaluator.hurry(ACCOUNT)
    await pass(3600, 15)
    readUs = []
    await pass(3600, 15)
    expect(readUs.filter((us) => us > 2 * HOUR).length).toBeLessThanOrEqual(2)
  })

  describe('a process that is watched again', () => {
    const put = async (spec: Partial<WatchSpec>) => {
      const watch = (await store.watches()).find(({ id }) => id === 'wat_again')!
      await store.putWatch({ ...watch, spec: { ...watch.spec, ...spec }, sinceUs: now }, now)
      evaluator.hurry(ACCOUNT)
    }
    const create = () => addWatch('again', { long: '1h' }, { sinceUs: now })
    const ways = {
      'after a pause': [() => put({ paused_until: new Date((now + 3 * HOUR) / 1000).toISOString() }), async () => {}],
      'after its watch was deleted': [() => remove('wat_again'), create],
      'after its watch looked at another': [() => put({ process: 'elsewhere' }), () => put({ process: 'again' })],
    } as const
    for (const [way, [leave, comeBack]] of Object.entries(ways)) {
      test(`${way} has the runs that ended meanwhile`, async () => {
        await create()
        await pass(30)
        for (const uid of ['ends', 'hangs']) accept('start', 'again', uid, 0)
        ship()
        await pass(30)
        await leave()
        evaluator.hurry(ACCOUNT)
        await pass(30)
        accept('end', 'again', 'ends', 0)
        for (let i = 0; i < 200; i++) accept(i % 2 ? 'end' : 'start', 'again', '', -i * S) // more than is loaded at first
        ship()
        await pass(3 * 3600, 15)
        await comeBack()
        evaluator.hurry(ACCOUNT)
        await pass(3700, 15)
        expect(await names()).toEqual(['again long hangs'])
      })
    }
  })

  test('an exception that was read before the marks of its process is judged', async () => {
    await addWatch('thrower', { failed: { after: 1, exceptions: true } }, { sinceUs: now })
    isAway = true
    await pass(10)
    exceptions.push({ process: 'thrower', meta: '', uid: 'thrown', atUs: now, headline: 'ValueError' })
    evaluator.hint({ account: ACCOUNT, process: 'thrower', kind: 'exception' })
    await pass(300)
    isAway = false
    await pass(60)
    expect(await names()).toEqual(['thrower failed thrown'])
  })

  test('a run whose exception is not stored yet ends no alert', async () => {
    await addWatch('thrower', { failed: { after: 1, exceptions: true } })
    accept('start', 'thrower', 'a', 0)
    await pass(1)
    accept('failed', 'thrower', 'a', 0)
    ship()
    await pass(30)
    accept('start', 'thrower', 'b', 0)
    await pass(2)
    spool.push({ acceptedUs: now, exception: { process: 'thrower', meta: '', uid: 'b', atUs: now, headline: 'E' } })
    await pass(2)
    marks.push({ process: 'thrower', meta: '', uid: 'b', mark: 'start', atUs: now - 4 * S })
    marks.push({ process: 'thrower', meta: '', uid: 'b', mark: 'end', atUs: now })
    spool.splice(0, 1) // the start; the exception waits
    evaluator.hint({ account: ACCOUNT, process: 'thrower', kind: 'mark' })
    await pass(30)
    expect(await alerts()).toEqual([{ name: 'thrower failed a', isFiring: true }])
    ship()
    evaluator.hint({ account: ACCOUNT, process: 'thrower', kind: 'exception' })
    await pass(30)
    expect(await alerts()).toEqual([{ name: 'thrower failed a', isFiring: true }])
  })

  /** A host that was cut off sends its events again, in order, one run per second. */
  async function replay(fromUs: number, from: number, to: number): Promise<void> {
    for (let i = from; i < to; i++) {
      accept('start', 'job', `run ${i}`, now - fromUs - i * S)
      accept('end', 'job', `run ${i}`, now - fromUs - i * S - S / 2)
      ship()
      await pass(1)
    }
  }

  test('a backlog that is sent for minutes has the end of a run long after its start', async () => {
    const fromUs = now - 8 * HOUR
    await replay(fromUs, 0, 10)
    for (const uid of ['ends', 'hangs']) accept('start', 'job', uid, now - fromUs - 10 * S)
    await replay(fromUs, 10, 100)
    accept('end', 'job', 'ends', now - fromUs - 100 * S)
    ship()
    await pass(60)
    expect(await names()).toEqual(['job long hangs'])
  })

  test('the same, of a process whose watch begins meanwhile', async () => {
    await remove('wat_job')
    await addWatch('other', { long: '5h' })
    await pass(30)
    const fromUs = now - 8 * HOUR
    for (const uid of ['ends', 'hangs']) accept('start', 'job', uid, now - fromUs)
    await replay(fromUs, 0, 10)
    await addWatch('job', { long: '5h' })
    evaluator.hurry(ACCOUNT)
    await replay(fromUs, 10, 50)
    accept('end', 'job', 'ends', now - fromUs - 50 * S)
    ship()
    await pass(60)
    expect(await names()).toEqual(['job long hangs'])
  })

  test('a run that is long stays so when Stint starts again while late events of its process come', async () => {
    const fromUs = now - 8 * HOUR
    accept('start', 'job', 'hangs', now - fromUs)
    ship()
    await pass(60)
    startEvaluator()
    await replay(fromUs, 0, 60)
    expect(await alerts()).toEqual([{ name: 'job long hangs', isFiring: true }])
  })

  test('a backlog that does not end holds nothing back for longer than 10 minutes', async () => {
    const fromUs = now - 8 * HOUR
    accept('start', 'job', 'hangs', 8 * HOUR)
    await replay(fromUs, 0, 600)
    expect(await names()).toEqual([])
    await replay(fromUs, 600, 12 * 60)
    expect(await names()).toEqual(['job long hangs'])
  })
})

type HistoryOptions = Parameters<typeof createAccountHistory>[0]
const historyOf = (source: HistoryOptions['source'], delayed: HistoryOptions['delayed']) =>
  createAccountHistory({ source, account: ACCOUNT, judgedUs: now, delayed, nowUs: () => now })

test('a process that is looked at while all were being loaded is loaded by itself', async () => {
  const late = { marks: createDelayedEvents(), exceptions: createDelayedEvents() }
  const history = historyOf(source, late)
  const read = (processes?: readonly string[]) =>
    history.readMarks({ nowUs: now, knownUs: now - S }, processes && new Set(processes), [], EVERYTHING)
  await read()
  await read(['other'])
  now += 10 * S
  await read(['other', 'job'])
  expect(['other', 'job'].map(history.isReady)).toEqual([true, false])
  now += 10 * S
  await read(['other', 'job'])
  expect(history.isReady('job')).toBe(true)
})

test('a late start is never a run when the read that would show its end is cut', async () => {
  const late = { marks: createDelayedEvents(), exceptions: createDelayedEvents() }
  const own = { process: 'job', meta: '', mark: 'start' } as const
  const starts = ['cut', 'read'].map((uid, i) => ({ ...own, uid, atUs: now - (9 - 6 * i) * HOUR }))
  const newest = Array.from({ length: 200_000 }, (_, i) => ({ ...own, uid: '', atUs: now - i * 0.1 * S }))
  let isLoaded = false
  const answers = sourceOf({
    findMarks: async ({ fromUs, toUs }) =>
      !isLoaded ? [] : toUs < now ? starts : fromUs < now - 8 * HOUR ? newest : [],
  })
  const history = historyOf(answers, late)
  const read = async () => {
    now += 10 * S
    await history.readMarks({ nowUs: now, knownUs: now - S }, new Set(['job']), [], EVERYTHING)
  }
  await read()
  await read()
  isLoaded = true
  for (const { atUs } of starts) late.marks.note('job', atUs, now)
  await read()
  await read()
  const runs = findRuns(history.memory.seriesOf('job')[0]!.marks, now, 30 * DAY)
  expect(runs.filter(({ uid, state }) => uid !== '' && state === 'running').map(({ uid }) => uid)).toEqual(['read'])
})

test('a read that is cut marks what may be missing', async () => {
  const late = { marks: createDelayedEvents(), exceptions: createDelayedEvents() }
  let backlog: KnownMark[] = []
  const answers = sourceOf({
    findMarks: async ({ toUs, maxRows }) => (toUs < now - HOUR ? backlog.slice(0, maxRows) : []),
  })
  const history = historyOf(answers, late)
  late.marks.note('job', now - 9 * HOUR, now)
  late.marks.note('job', now - 2 * HOUR, now)
  backlog = Array.from({ length: 300_000 }, (_, i) => ({
    ...{ process: 'job', meta: '', uid: `${i}`, mark: 'start' },
    atUs: now - 2 * HOUR - i * 50_000,
  }))
  now += 20 * S
  await history.readMarks({ nowUs: now, knownUs: now - S }, new Set(['job']), [], EVERYTHING)
  expect(history.memory.seriesOf('job').map(({ completeFromUs }) => completeFromUs)).toEqual([backlog[199_999]!.atUs])
})

test('an exception is reported although other processes raise thousands after it', async () => {
  await addWatch('job', { failed: { after: 1, exceptions: true } })
  await pass(60)
  exceptions.push({ process: 'job', meta: '', uid: 'one', atUs: now, headline: 'ValueError' })
  for (let i = 0; i < 12_000; i++)
    exceptions.push({ process: 'noise', meta: '', atUs: now + 1 + Math.floor(i / 3), headline: `E${i % 3}` })
  evaluator.hint({ account: ACCOUNT, process: 'job', kind: 'exception' })
  await pass(30)
  expect(await names()).toEqual(['job failed one'])
})

test('an exception of last night that the last process stored and did not judge is reported', async () => {
  await addWatch('job', { failed: { after: 1, exceptions: true } })
  await store.commit([], new Map([[ACCOUNT, now - 2 * S]]), now)
  exceptions.push({ process: 'job', meta: '', uid: 'stored', atUs: now - 12 * HOUR, headline: 'ValueError' })
  await pass(30)
  expect(await names()).toEqual(['job failed stored'])
})

test('an alert about a slow run ends when its end arrives late and was in time; the next slow run has its own', async () => {
  await addWatch('job', { slow: 3 })
  for (let n = 6; n > 0; n--)
    for (const mark of ['start', 'end'] as const) accept(mark, 'job', `${n}`, (n * 60 - (mark === 'end' ? 7 : 0)) * S)
  ship()
  await pass(30)
  accept('start', 'job', 'in time', 0)
  ship()
  await pass(60)
  expect(await alerts()).toEqual([{ name: 'job slow in time', isFiring: true }])
  accept('start', 'job', 'slow', 0)
  accept('end', 'job', 'in time', 53 * S)
  ship()
  await pass(40)
  const [slow, inTime] = await store.alerts(ACCOUNT, { limit: 9 })
  expect([slow, inTime].map((it) => [it?.uid, it?.endedBy])).toEqual([
    ['slow', null],
    ['in time', 'event'],
  ])
})
