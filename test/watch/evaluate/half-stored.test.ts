// Half of what callers sent is stored, the rest waits in a spool: nothing fires because of the missing half, and what is true fires once all is there.
// The real evaluator and SQLite store; time, the spool and the marks' store are simulated.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createAccountHistory } from '../../../src/watch/evaluate/account-history.ts'
import { createEvaluator, type Evaluator } from '../../../src/watch/evaluate/evaluator.ts'
import { createLateEvents } from '../../../src/watch/evaluate/late-events.ts'
import type { KnownException, KnownMark, WatchSource } from '../../../src/watch/evaluate/watch-source.ts'
import type { WatchStore } from '../../../src/watch/storage/watch-store.ts'
import type { StoredWatch, WatchSpec } from '../../../src/watch/watch.ts'
import { inMemoryDir } from '../../support/temp-dir.ts'
import { ACCOUNT, openStore, silent, watchOf } from '../watch-cast.ts'

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

const source: WatchSource = {
  async findMarks({ fromUs, toUs, processes, perSeries = Number.POSITIVE_INFINITY, maxRows }) {
    const found = marks
      .filter(({ atUs, process }) => atUs >= fromUs && atUs < toUs && processes?.includes(process) !== false)
      .sort((a, b) => b.atUs - a.atUs)
    return [...Map.groupBy(found, ({ process, meta }) => `${process} ${meta}`).values()]
      .flatMap((own) => own.slice(0, perSeries))
      .slice(0, maxRows)
  },
  findNewestStarts: async () => [],
  findExceptions: async ({ fromUs, toUs }) => exceptions.filter(({ atUs }) => atUs >= fromUs && atUs < toUs),
  aggregateMetrics: async () => [],
}

function startEvaluator(): void {
  const oldest = (kind: 'mark' | 'exception') => spool.find((it) => it[kind] !== undefined)?.acceptedUs
  evaluator = createEvaluator({
    store,
    source,
    liveness: { blind: () => [] },
    nowUs: () => now,
    oldestUnstoredUs: () => ({ points: oldest('mark'), exceptions: oldest('exception') }),
    maxRunUs: 30 * DAY,
    publicUrl: () => 'http://stint',
    log: silent,
  })
}

/** Lets time pass second by second, with the evaluator's rounds. */
async function pass(seconds: number): Promise<void> {
  for (let i = 0; i < seconds; i++) {
    now += S
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
  if (isNoted && agoUs > 60 * S) evaluator.expectLate({ account: ACCOUNT, process, atUs, isException: false })
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
}

beforeEach(() => {
  now = Date.UTC(2026, 10, 21) * 1000
  marks = []
  exceptions = []
  spool = []
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
})

test('a read that is cut marks what may be missing', async () => {
  const late = { marks: createLateEvents(), exceptions: createLateEvents() }
  let backlog: KnownMark[] = []
  const answers: WatchSource = {
    ...source,
    findMarks: async ({ toUs, maxRows }) => (toUs < now - HOUR ? backlog.slice(0, maxRows) : []),
  }
  const history = createAccountHistory({ source: answers, account: ACCOUNT, judgedUs: now, late, nowUs: () => now })
  late.marks.note('job', now - 9 * HOUR, now)
  late.marks.note('job', now - 2 * HOUR, now)
  backlog = Array.from({ length: 300_000 }, (_, i) => ({
    ...{ process: 'job', meta: '', uid: `${i}`, mark: 'start' },
    atUs: now - 2 * HOUR - i * 50_000,
  }))
  now += 20 * S
  await history.readMarks({ nowUs: now, knownUs: now - S }, new Set(['job']), [])
  expect(history.memory.seriesOf('job').map(({ completeFromUs }) => completeFromUs)).toEqual([backlog[199_999]!.atUs])
})

test('an exception of last night that the last process stored and did not judge is reported', async () => {
  await addWatch('job', { failed: { after: 1, exceptions: true } })
  await store.commit([], new Map([[ACCOUNT, now - 2 * S]]), now)
  exceptions.push({ process: 'job', meta: '', uid: 'stored', atUs: now - 12 * HOUR, headline: 'ValueError' })
  await pass(30)
  expect(await names()).toEqual(['job failed stored'])
})
