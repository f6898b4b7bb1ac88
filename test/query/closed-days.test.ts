// Answers with kept days equal answers without, whatever is stored, copied, erased or asked in between, here and on
// another node.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Event } from '../../src/event/event.ts'
import { parseStampNs, timeUs } from '../../src/event/stamp.ts'
import { NO_OTHERS } from '../../src/live/other-nodes.ts'
import { createStoredCount } from '../../src/live/stored-count.ts'
import { createClosedDays } from '../../src/query/closed-days.ts'
import { keepDays } from '../../src/query/keep-days.ts'
import type { PointSource } from '../../src/store/source.ts'
import { createStoredElsewhere } from '../../src/watch/nodes/stored-elsewhere.ts'
import { EMBEDDED, toSourceSubject } from '../store/clickhouse/subjects.ts'
import { sourceSubject as INFLUX } from '../store/influx/subjects.ts'
import { memoryQuestions } from '../support/memory-questions.ts'
import { createMemorySource } from '../support/memory-source.ts'
import { seededRandom } from '../support/random.ts'

const [S, MINUTE, HOUR, DAY] = [1, 60, 3600, 86_400]
/** 2025-11-20T21:20:00Z: of 40 days the clocks of two zones change on two. */
const BEGIN_S = 1_763_673_600
const MAX_RUN_S = DAY

interface Content {
  readonly kind: 'start' | 'end' | 'failed' | 'metrics' | 'exception'
  readonly process: string
  readonly meta: string
  readonly uid: string
  readonly account: string
  readonly agoS: number
}

/** Questions over kept days, and the same without. */
function open(withOther = false) {
  const events: Event[] = []
  const clock = { nowS: BEGIN_S, atMs: 0 }
  const nowUs = () => clock.nowS * 1e6
  const nowNs = () => BigInt(clock.nowS) * 1_000_000_000n
  const counts = new Map<string, ReturnType<typeof createStoredCount>>()
  const countOf = (account: string) => {
    const none = { points: 0, exceptions: 0 }
    const known = counts.get(account)
    const count =
      known ??
      createStoredCount(
        none,
        () => true,
        ({ event }) => timeUs(event.stamp),
      )
    counts.set(account, count)
    return count
  }
  const report = { us: nowUs(), looked: [], news: {} as Record<string, readonly (readonly [number, number])[]> }
  const elsewhere = createStoredElsewhere({
    nowUs,
    reports: () => [
      { node: 2, seenUs: nowUs(), isSilent: false, report: { changed: [], late: [], stored: report } as never },
    ],
  })
  const days = createClosedDays({
    ...{ others: withOther ? elsewhere : NO_OTHERS, maxRunUs: MAX_RUN_S * 1e6, nowUs },
    monotonicUs: () => clock.nowS * 1e6,
  })
  const sources = createMemorySource(events)
  const asked: string[] = []
  /** Happens between what the store reads and its answer. */
  let meanwhile: (() => void) | undefined
  const watched =
    <Q extends { fromNs: bigint; toNs: bigint }, R>(name: string, find: (q: Q) => Promise<R>) =>
    async (q: Q): Promise<R> => {
      asked.push(`${name} ${Number((q.toNs - q.fromNs) / 1_000_000_000n) / DAY}`)
      const rows = await find(q)
      meanwhile?.()
      meanwhile = undefined
      return rows
    }
  const points: PointSource = {
    ...sources.points,
    summarizeTimings: watched('summary', sources.points.summarizeTimings),
    findPointProcesses: watched('processes', sources.points.findPointProcesses),
  }
  const kept = memoryQuestions(events, {
    ...{ nowNs, maxMarks: 1e6 },
    ...keepDays({ points, exceptions: sources.exceptions }, days, nowNs),
  })
  const plain = memoryQuestions(events, { nowNs, maxMarks: 1e6 })
  let sent = 0
  const make = ({ kind, agoS, account, process, meta, uid }: Content): Event => {
    const stamp = parseStampNs((BigInt(Math.floor(clock.nowS - agoS)) * 1_000_000n + BigInt(++sent)) * 1000n)
    const common = { account, process, meta, stamp }
    if (kind === 'metrics') return { ...common, kind, items: [['m', 1]] }
    if (kind === 'exception') return { ...common, kind, exception: 'x' }
    return { ...common, uid, kind: kind === 'start' ? 'start' : 'end', ...(kind === 'failed' && { failed: true }) }
  }
  const opened = {
    ...{ clock, events, days, asked, report },
    /** As a shipper does. */
    store(content: Content): void {
      const event = make(content)
      events.push(event)
      days.note([event])
    },
    /** Past the log. */
    copy(content: Content): void {
      events.push(make(content))
    },
    storeElsewhere(content: Content): void {
      const event = make(content)
      events.push(event)
      countOf(content.account).note([{ event, seqs: { points: 0, exceptions: 0 } }])
    },
    beat(): void {
      report.us = nowUs()
      report.news = { a: countOf('a').take(), b: countOf('b').take() }
      report.news = { a: countOf('a').take(), b: countOf('b').take() }
    },
    erase(account: string): void {
      events.splice(0, events.length, ...events.filter((event) => event.account !== account))
      days.forget(account)
    },
    whileReading(work: () => void): void {
      meanwhile = work
    },
    ask: (kind: 'summary' | 'processes', account: string, query: string) =>
      kept[kind](account, new URLSearchParams(query)),
    async compare(kind: 'summary' | 'processes', account: string, query: string): Promise<void> {
      const search = new URLSearchParams(query)
      const answer = await opened.ask(kind, account, query)
      expect([query, answer]).toEqual([query, await plain[kind](account, search)] as never)
      expect(JSON.stringify(answer)).toBe(JSON.stringify(await plain[kind](account, search)))
    },
  }
  opened.beat()
  return opened
}

const account = fc.constantFrom('a', 'a', 'a', 'b')
const content = fc.record({
  kind: fc.constantFrom('start', 'start', 'end', 'end', 'failed', 'metrics', 'exception'),
  process: fc.constantFrom('p', 'q'),
  meta: fc.constantFrom('', 'eu'),
  uid: fc.constantFrom('', 'u'),
  account,
  agoS: fc.oneof(
    fc.constantFrom(0, S, MINUTE, HOUR, 20 * HOUR, DAY, 25 * HOUR),
    fc.integer({ min: 0, max: 40 * 24 }).map((hours) => hours * HOUR),
  ),
}) satisfies fc.Arbitrary<Content>
const question = fc.record({
  kind: fc.constantFrom('summary', 'summary', 'processes'),
  account,
  range: fc.constantFrom('-40d', '-40d', '-12d', '-12d&to=-5d', '-90h', '-90h&to=-26h', '-2d'),
  tz: fc.constantFrom('', '&tz=Europe/Berlin', '&tz=America/New_York', '&tz=Asia/Kathmandu'),
  more: fc.constantFrom('', '', '&by=meta', '&process=p', '&process=p&by=meta&meta=eu'),
  percentiles: fc.constantFrom('', '', '&percentiles=90'),
})
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('store' as const), content }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('ask' as const), question }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('meanwhile' as const), question, content }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('elsewhere' as const), content, afterS: fc.nat({ max: 20 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('copy' as const), content, isQuiet: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('erase' as const), account }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('pass' as const), s: fc.constantFrom(S, MINUTE, 3 * HOUR, DAY) }),
  },
)

const textOf = ({ kind, range, tz, more, percentiles }: typeof question extends fc.Arbitrary<infer Q> ? Q : never) =>
  kind === 'processes'
    ? `from=${range}${more.includes('by') && !more.includes('meta=') ? '&by=meta' : ''}`
    : `from=${range}&every=1d${tz}${more}${percentiles}`

describe('with kept days all answers equal those without', () => {
  for (const withOther of [false, true])
    test(withOther ? 'beside another node' : 'on one node', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
          const it = open(withOther)
          for (let i = 0; i < 60; i++)
            it.store({
              ...{ kind: i % 2 === 0 ? 'start' : 'end', process: 'pq'[i % 3 === 0 ? 0 : 1]!, meta: '', uid: '' },
              ...{ account: 'a', agoS: (60 - i) * 16 * HOUR },
            })
          it.clock.nowS += 15
          for (const one of steps) {
            it.beat()
            if (one.do === 'store') it.store(one.content)
            else if (one.do === 'pass') it.clock.nowS += one.s
            else if (one.do === 'erase') it.erase(one.account)
            else if (one.do === 'copy') {
              it.copy(one.content)
              it.clock.nowS += one.isQuiet ? HOUR + MINUTE : 11 * MINUTE
              if (!one.isQuiet) it.store({ ...one.content, kind: 'metrics', agoS: 0 })
            } else if (one.do === 'elsewhere') {
              if (!withOther) continue
              it.storeElsewhere(one.content)
              it.clock.nowS += one.afterS % 5
              if (one.afterS > 10) await it.ask('summary', one.content.account, 'from=-40d&every=1d')
              it.beat()
            } else if (one.do === 'meanwhile') {
              it.whileReading(() => it.store(one.content))
              await it.ask(one.question.kind, one.question.account, textOf(one.question))
              it.whileReading(() => {})
            } else await it.compare(one.question.kind, one.question.account, textOf(one.question))
          }
          it.beat()
          for (const account of ['a', 'b'])
            for (const query of ['from=-40d&every=1d', 'from=-40d&every=1d&by=meta&tz=Europe/Berlin'])
              await it.compare('summary', account, query)
          await it.compare('processes', 'a', 'from=-40d')
        }),
        { numRuns: 50 },
      )
    })
})

const run = (agoS: number, tookS = MINUTE, account = 'a'): Content[] =>
  (['start', 'end'] as const).map((kind, i) => ({
    ...{ kind, process: 'p', meta: '', uid: '', account, agoS: agoS - i * tookS },
  }))
/** A run a day, at noon of New York about. */
function openMonth(withOther = false) {
  const it = open(withOther)
  for (let day = 1; day < 40; day++) for (const one of run(day * DAY)) it.store(one)
  it.clock.nowS += 15
  it.beat()
  return it
}
const [SERIES, LIST] = ['from=-30d&every=1d', 'from=-30d']

test('a second question reads the cut day and those that are not over, in any zone that was asked', async () => {
  const it = openMonth()
  await it.compare('summary', 'a', SERIES)
  expect(it.asked).toEqual(['summary 30'])
  it.clock.nowS += MINUTE
  for (const query of [SERIES, 'from=-12d&every=1d']) {
    it.asked.length = 0
    await it.compare('summary', 'a', query)
    const [cut, open] = it.asked.map((text) => Number(text.split(' ')[1]))
    expect(it.asked).toHaveLength(2)
    expect(cut).toBeLessThan(1)
    expect(open).toBeLessThan(2)
  }
  it.asked.length = 0
  await it.compare('summary', 'a', `${SERIES}&tz=America/New_York`)
  expect(it.asked).toEqual(['summary 30'])
})

test('a list of processes reads its full weeks once, each alone', async () => {
  const it = openMonth()
  await it.compare('processes', 'a', LIST)
  expect(it.asked.filter((text) => text === 'processes 7')).toHaveLength(3)
  it.asked.length = 0
  await it.compare('processes', 'a', LIST)
  expect(it.asked).not.toContain('processes 7')
})

test('rows do not add up beyond what an answer may have', async () => {
  const it = open()
  for (let day = 0; day < 40; day++) {
    for (const one of run(day * DAY + HOUR)) it.store({ ...one, process: `own ${day}` })
    for (const one of run(day * DAY + HOUR, MINUTE, 'b')) it.store({ ...one, process: `p${day % 5}` })
  }
  it.clock.nowS += 15
  const { points, exceptions } = createMemorySource(it.events)
  let read = 0
  const counted =
    <Q, R>(find: (q: Q) => Promise<R[]>) =>
    async (q: Q): Promise<R[]> => {
      const rows = await find(q)
      read += rows.length
      return rows
    }
  const watched: PointSource = {
    ...points,
    findPointProcesses: counted(points.findPointProcesses),
    summarizeTimings: counted(points.summarizeTimings),
  }
  const nowNs = () => BigInt(it.clock.nowS) * 1_000_000_000n
  const kept = keepDays({ points: watched, exceptions }, it.days, nowNs).points
  const range = { fromNs: nowNs() - BigInt(40 * DAY) * 1_000_000_000n, toNs: nowNs() }

  const tooMany = await kept.findPointProcesses({ ...range, account: 'a', maxRows: 15 })
  expect(tooMany.length).toBeGreaterThanOrEqual(15)
  expect(read).toBeLessThan(15 + 7)
  const few = await kept.findPointProcesses({ ...range, account: 'b', maxRows: 15 })
  const all = await points.findPointProcesses({ ...range, account: 'b' })
  expect(few.map(({ process, lastNs }) => [process, lastNs])).toEqual(
    all.map(({ process, lastNs }) => [process, lastNs]),
  )

  const series = { ...range, account: 'a', everyNs: BigInt(DAY) * 1_000_000_000n, byMeta: false, nowNs: nowNs() }
  const q = { ...series, maxRunNs: BigInt(MAX_RUN_S) * 1_000_000_000n }
  await kept.summarizeTimings(q)
  for (const one of run(20 * DAY)) it.store(one)
  it.clock.nowS += 15
  read = 0
  expect((await kept.summarizeTimings({ ...q, maxRows: 39 })).length).toBeGreaterThanOrEqual(39)
  expect(read).toBeLessThan(5)
})

test('a late event has its days asked again, and no other ones', async () => {
  const it = openMonth()
  await it.ask('summary', 'a', SERIES)
  for (const one of run(10 * DAY + HOUR)) it.store(one)
  it.clock.nowS += 15
  it.asked.length = 0
  await it.compare('summary', 'a', SERIES)
  const lengths = it.asked.map((text) => Number(text.split(' ')[1]))
  expect(lengths.filter((days) => Number.isInteger(days))).toEqual([3])
  it.asked.length = 0
  await it.ask('summary', 'a', SERIES)
  expect(it.asked).toHaveLength(2)
})

test('a day in which a run may still be running is not kept', async () => {
  const it = openMonth()
  it.store({ ...run(DAY - 30 * MINUTE)[0]!, uid: 'lost' })
  it.clock.nowS = Math.ceil(it.clock.nowS / DAY) * DAY + 5 * MINUTE // a new day
  it.store({ ...run(DAY - 20 * MINUTE)[0]!, uid: 'lost too' })
  it.clock.nowS += MINUTE
  await it.compare('summary', 'a', SERIES)
  it.clock.nowS += 30 * MINUTE
  await it.compare('summary', 'a', SERIES)
})

test('what was copied is found after an hour, also where nothing else arrives', async () => {
  const it = openMonth()
  await it.ask('summary', 'a', SERIES)
  for (const one of run(10 * DAY + HOUR)) it.copy(one)
  it.clock.nowS += HOUR + 1
  await it.compare('summary', 'a', SERIES)
})

test('so soon after a late event nothing is kept of its days: a replica may lack it', async () => {
  const it = openMonth()
  const late = run(10 * DAY + HOUR)
  for (const one of late) it.store(one)
  const hidden = it.events.splice(-2)
  await it.ask('summary', 'a', SERIES)
  it.events.push(...hidden)
  await it.compare('summary', 'a', SERIES)
})

test('nothing is kept, and nothing kept is used, while other nodes are not heard of', async () => {
  const it = openMonth(true)
  await it.ask('summary', 'a', SERIES)
  it.asked.length = 0
  await it.ask('summary', 'a', SERIES)
  expect(it.asked).toHaveLength(2)
  it.clock.nowS += 15
  it.asked.length = 0
  await it.compare('summary', 'a', SERIES)
  expect(it.asked).toEqual(['summary 30'])
})

test('as_of=to, weeks and hours are read as before', async () => {
  const it = openMonth()
  await it.ask('summary', 'a', SERIES)
  for (const query of [`${SERIES}&as_of=to`, 'from=-30d&every=1w', 'from=-30d&every=12h', 'from=-30d']) {
    it.asked.length = 0
    await it.compare('summary', 'a', query)
    expect(it.asked).toEqual(['summary 30'])
  }
})

test('what is kept is bounded: the days that were asked for longest ago go', async () => {
  const it = openMonth()
  const days = createClosedDays({
    ...{ others: NO_OTHERS, maxRunUs: DAY * 1e6, maxBytes: 3_000 },
    ...{ nowUs: () => it.clock.nowS * 1e6, monotonicUs: () => it.clock.nowS * 1e6 },
  })
  const day = { fromNs: 0n, toNs: BigInt(DAY) * 1_000_000_000n }
  const isKnown = (words: string) =>
    days.read({ account: 'a', words }, [day], async (found) => {
      const known = found!.known.has(0n)
      found!.keep([{ ...day, rows: [1], bytes: 10 }])
      return known
    })
  expect([await isKnown('one'), await isKnown('two'), await isKnown('one'), await isKnown('three')]).toEqual([
    false,
    false,
    true,
    false,
  ])
  expect(await isKnown('one')).toBe(true)
  expect(await isKnown('two')).toBe(false)
  expect(days.bytes()).toBeLessThanOrEqual(3_000)
  days.forget('a')
  expect(days.bytes()).toBe(0)
})

for (const { name, skip, open: openStore } of [toSourceSubject(EMBEDDED), INFLUX])
  test.skipIf(skip !== undefined)(`${name}: kept days give the same texts as the whole range`, async () => {
    const { sink, source, close } = await openStore()
    const random = seededRandom(63)
    const pick = <T>(...of: readonly T[]): T => of[Math.floor(random() * of.length)]!
    const nowNs = () => BigInt(BEGIN_S) * 1_000_000_000n
    const events = Array.from({ length: 3_000 }, (_, i): Event => {
      const us = BigInt(BEGIN_S) * 1_000_000n - BigInt(Math.floor(random() * 40 * DAY * 1e6)) - BigInt(i)
      const common = { account: 'a', process: pick('p', 'q'), meta: pick('', 'eu'), stamp: parseStampNs(us * 1000n) }
      if (i % 10 === 0) return { ...common, kind: 'metrics', items: [['m', 1]] }
      const kind = pick('start', 'end')
      return { ...common, kind, uid: pick('', 'u'), ...(kind === 'end' && i % 7 === 0 && { failed: true as const }) }
    })
    await sink.prepare()
    expect(await sink.write(events)).toEqual({ kind: 'stored', expired: 0 })
    const days = createClosedDays({
      ...{ others: NO_OTHERS, maxRunUs: MAX_RUN_S * 1e6, nowUs: () => BEGIN_S * 1e6, monotonicUs: () => 0 },
    })
    const { exceptions } = createMemorySource([])
    let calls = 0
    const points: PointSource = {
      ...source,
      close: async () => {},
      summarizeTimings(q) {
        calls++
        return source.summarizeTimings(q)
      },
    }
    const asked = { nowNs, maxMarks: 1e6 }
    const plain = memoryQuestions([], { ...asked, points, exceptions })
    const kept = memoryQuestions([], { ...asked, ...keepDays({ points, exceptions }, days, nowNs) })
    for (const more of ['', '&by=meta', '&process=p&percentiles=90&tz=America/New_York', '&tz=Europe/Berlin']) {
      const search = new URLSearchParams(`${SERIES}${more}`)
      const expected = JSON.stringify(await plain.summary('a', search))
      for (const times of [1, 2]) {
        calls = 0
        expect(JSON.stringify(await kept.summary('a', search))).toBe(expected)
        expect(calls).toBe(times)
      }
    }
    const list = new URLSearchParams(LIST)
    const expected = JSON.stringify(await plain.processes('a', list))
    for (const _ of [1, 2]) expect(JSON.stringify(await kept.processes('a', list))).toBe(expected)
    await close()
  })
