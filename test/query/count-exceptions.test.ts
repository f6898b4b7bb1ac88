import { describe, expect, test } from 'bun:test'
import type { Event } from '../../src/event/event.ts'
import { parseStampNs } from '../../src/event/stamp.ts'
import { countExceptions } from '../../src/query/count-exceptions.ts'
import { findTrouble } from '../../src/query/find-trouble.ts'
import { type ExceptionSource, type PointSource, StoreError, type TimingSelection } from '../../src/store/source.ts'
import { createMemorySource } from '../support/memory-source.ts'

const S = 1_000_000_000n
const NOW = 1_763_673_600n * S
const q: TimingSelection = { account: 'a', fromNs: NOW - 1000n * S, toNs: NOW + S, maxRunNs: 2000n * S, nowNs: NOW }

const at = (agoS: number) => ({ account: 'a', process: 'p', meta: '', stamp: parseStampNs(NOW - BigInt(agoS) * S) })
const start = (agoS: number, uid = '', more = {}): Event => ({ kind: 'start', ...at(agoS), uid, ...more })
const end = (agoS: number, uid = '', more = {}): Event => ({ kind: 'end', ...at(agoS), uid, ...more })
const failed = (agoS: number, uid = ''): Event => end(agoS, uid, { failed: true })
const exception = (agoS: number, uid?: string, more = {}): Event => ({
  ...{ kind: 'exception', ...at(agoS), exception: 'it broke' },
  ...(uid !== undefined && { uid }),
  ...more,
})

/** `uid state count`, newest first. */
async function counts(events: Event[], limits?: { each: number; all: number }, changes: Partial<ExceptionSource> = {}) {
  const { points, exceptions } = createMemorySource(events)
  const timings = await points.findTimings(q, { limit: 100 })
  const counted = await countExceptions({ ...exceptions, ...changes }, q, timings, NOW, limits)
  return timings.map(({ uid, state }, i) => `${uid} ${state} ${counted[i]}`)
}

describe('an exception with a uid', () => {
  test('counts only for its run, even if others overlap', async () => {
    const events = ['a', 'b', 'c'].flatMap((uid, i) => [start(100 - i, uid), (uid === 'b' ? failed : end)(10 - i, uid)])
    expect(await counts([...events, exception(50, 'b')])).toEqual(['c completed 0', 'b failed 1', 'a completed 0'])
  })

  test('counts up to a minute after the end of its run, and not before its start', async () => {
    const run = [start(200, 'a'), failed(100, 'a')]
    expect(await counts([...run, exception(100, 'a'), exception(40, 'a')])).toEqual(['a failed 2'])
    expect(await counts([...run, exception(39, 'a'), exception(201, 'a')])).toEqual(['a failed 0'])
  })

  test('does not count after the next start with that uid on the page', async () => {
    const runs = [90, 80, 70].flatMap((s) => [start(s, 'w'), end(s - 5, 'w')])
    const other = [start(82, 'o'), start(82, 'w', { meta: 'm' })]
    expect(await counts([...runs, exception(66, 'w'), ...other])).toEqual([
      ...['w completed 1', 'w completed 0', 'o running 0', 'w running 0', 'w completed 0'],
    ])
    // after the last end, and before a start
    expect(await counts([...runs, exception(64, 'w'), exception(81, 'w')])).toEqual([
      ...['w completed 1', 'w completed 0', 'w completed 1'],
    ])
  })

  test('of another process or meta does not count', async () => {
    const others = [exception(150, 'a', { process: 'q' }), exception(150, 'a', { meta: 'm' })]
    expect(await counts([start(200, 'a'), end(100, 'a'), ...others])).toEqual(['a completed 0'])
  })
})

describe('an exception without a uid', () => {
  test('counts in each run open at that time, including its start and end', async () => {
    const runs = [start(200, 'a'), end(100, 'a'), start(150, 'b'), end(50, 'b')]
    expect(await counts([...runs, exception(200), exception(120), exception(100), exception(49)])).toEqual([
      'b completed 2',
      'a completed 3',
    ])
  })

  test('counts in runs without a uid', async () => {
    expect(await counts([start(100), exception(50), end(10)])).toEqual([' completed 1'])
  })

  test('counts in a running one until now', async () => {
    expect(await counts([start(100), exception(50), exception(0), exception(-1)])).toEqual([' running 2'])
  })
})

test('a failed end without a start counts those with its uid up to a minute around it', async () => {
  const around = [141, 140, 80, 20, 19].map((s) => exception(s, 'a'))
  expect(await counts([failed(80, 'a'), ...around, exception(80)])).toEqual(['a failed 3'])
  expect(await counts([failed(80), exception(80)])).toEqual([' failed null'])
})

test('abandoned timings and orphans have no count', async () => {
  expect(await counts([start(100, 'a'), start(90, 'a'), end(80, 'b'), exception(95)])).toEqual([
    'b orphan null',
    'a running 0',
    'a abandoned null',
  ])
  expect(await counts([end(80)])).toEqual([' orphan null'])
})

test('beyond the limit only older timings have no count', async () => {
  const runs = [90, 70, 50, 30].flatMap((s, i) => [start(s, `r${i}`), end(s - 10, `r${i}`)])
  const events = [...runs, exception(85), exception(65), exception(45), exception(44), exception(25)]
  const other = [start(95, 'o', { process: 'q' }), end(20, 'o', { process: 'q' })]
  expect(await counts([...events, ...other], { each: 3, all: 100 })).toEqual([
    'r3 completed 1',
    'r2 completed 2',
    'r1 completed null',
    'r0 completed null',
    'o completed 0',
  ])
  expect(await counts([...events, ...other], { each: 100, all: 2 })).toEqual([
    'r3 completed 1',
    'r2 completed null',
    'r1 completed null',
    'r0 completed null',
    'o completed null',
  ])
})

test('a run that starts with the last exception that was read has no count: more may have that time', async () => {
  const events = [start(50, 'a'), end(10, 'a'), exception(50), exception(50), exception(50)]
  expect(await counts(events, { each: 1, all: 100 })).toEqual(['a completed null'])
  expect(await counts(events, { each: 3, all: 100 })).toEqual(['a completed 3'])
})

test('without the store of exceptions there are no counts and no error', async () => {
  const findMoments = () => Promise.reject(new StoreError('it is away'))
  expect(await counts([start(100), end(10)], undefined, { findMoments })).toEqual([' completed null'])
})

describe.each([false, true])('timings with trouble, joined while marks stream: %p', (streams) => {
  const trouble = async (events: Event[], limit: number, scan?: { rows: number; pages: number }, changes = {}) => {
    const { points, exceptions } = createMemorySource(events)
    const findMatching: PointSource['findMatching'] = async (of, { limit, after }, matches) => {
      const all = await points.findTimings(of, { limit: 1000, ...(after && { after }) })
      return all.filter(matches).slice(0, limit)
    }
    const sources = {
      points: { ...points, ...(streams && { findMatching }) },
      exceptions: { ...exceptions, ...changes },
    }
    const seen: string[][] = []
    for (let page = await findTrouble(sources, q, { limit }, scan); ; ) {
      seen.push(page.timings.map(({ uid, state }) => `${uid} ${state}`))
      const after = page.stoppedAt ?? (page.timings.length === limit ? page.timings.at(-1)!.place : undefined)
      if (after === undefined) return seen
      page = await findTrouble(sources, q, { limit, after }, scan)
    }
  }
  const quiet = [200, 190, 180, 170].flatMap((s) => [start(s, `q${s}`), end(s - 5, `q${s}`)])
  const events = [...quiet, start(300, 'f'), failed(290, 'f'), start(100, 'x'), end(90, 'x'), start(500, 'b')]

  test('are failed and abandoned ones and those with exceptions', async () => {
    const abandoned = start(499, 'b')
    for (const agoS of [95, 31]) // 59 s after the end of its run
      expect(await trouble([...events, abandoned, exception(agoS, 'x')], 10)).toEqual([
        ['x completed', 'f failed', 'b abandoned'],
      ])
    expect(await trouble([...events, abandoned], 10)).toEqual([['f failed', 'b abandoned']])
  })

  test('pages skip and repeat none, also where the search stops early', async () => {
    for (const [limit, rows] of [
      [1, 1000],
      [1, 1],
      [2, 2],
      [10, 3],
    ] as const)
      expect((await trouble([...events, exception(95, 'x')], limit, { rows, pages: 2 })).flat()).toEqual([
        'x completed',
        'f failed',
      ])
  })

  test('do not include runs before the one with the exception, although they have its uid', async () => {
    const runs = [90, 80, 70, 60].flatMap((s) => [start(s, 'w'), end(s - 5, 'w')])
    expect(await trouble([...runs, ...events, exception(66, 'w')], 10)).toEqual([['w completed', 'f failed']])
  })

  test('are the newest ones however many exceptions there are', async () => {
    const runs = Array.from({ length: 40 }, (_, i) => 400 - 10 * i).flatMap((s) => [
      ...[start(s, `r${s}`), end(s - 5, `r${s}`)],
      ...(s <= 20 ? Array.from({ length: 9 }, () => exception(s - 4, `r${s}`)) : [exception(s - 4, `r${s}`)]),
    ])
    const expected = Array.from({ length: 40 }, (_, i) => `r${10 * (i + 1)} completed`)
    for (const limit of [1, 2, 3, 7]) expect((await trouble(runs, limit)).flat()).toEqual(expected)
  })

  test('are only failed and abandoned ones while the store of exceptions is unreachable', async () => {
    const away = () => Promise.reject(new StoreError('it is away'))
    const changes = { findExceptions: away, findMoments: away }
    expect(await trouble([...events, exception(95, 'x')], 10, undefined, changes)).toEqual([['f failed']])
  })
})
