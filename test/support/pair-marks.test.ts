import { describe, expect, test } from 'bun:test'
import type { MarkName } from '../../src/event/event.ts'
import { type PairingQuestion, pairMarks, type StampedMark } from './pair-marks.ts'

const MAX_RUN = 100n
const wide: PairingQuestion = { fromNs: 0n, toNs: 100_000n, maxRunNs: MAX_RUN, nowNs: 10_000n }

const mark = (mark: MarkName, ns: bigint, uid = '', meta = '', process = 'p', stamp = ns): StampedMark => ({
  process,
  meta,
  uid,
  mark,
  ns,
  stamp,
})
const start = (ns: bigint, uid?: string, meta?: string, process?: string) => mark('start', ns, uid, meta, process)
const end = (ns: bigint, uid?: string, meta?: string, process?: string) => mark('end', ns, uid, meta, process)
const failed = (ns: bigint, uid?: string) => mark('failed', ns, uid)

/** `state started→ended`, newest first. */
const states = (marks: StampedMark[], question: Partial<PairingQuestion> = {}) =>
  pairMarks(marks, { ...wide, ...question }).map(
    ({ state, startedNs, endedNs }) => `${state} ${startedNs ?? ''}→${endedNs ?? ''}`,
  )

describe('an end belongs to the mark before it', () => {
  test('when that is a start', () => {
    const place = { ns: 1000n, tie: expect.any(String) }
    expect(pairMarks([start(1000n, 'u', 'm'), end(1050n, 'u', 'm')], wide)).toEqual([
      { process: 'p', meta: 'm', uid: 'u', state: 'completed', startedNs: 1000n, endedNs: 1050n, place },
    ])
  })

  test('in any order of input', () => {
    expect(states([end(1050n), start(1000n)])).toEqual(['completed 1000→1050'])
  })

  test('when that is exactly MAX_RUN older, and not a nanosecond more', () => {
    expect(states([start(1000n), end(1100n)])).toEqual(['completed 1000→1100'])
    expect(states([start(1000n), end(1101n)])).toEqual(['orphan →1101', 'abandoned 1000→'])
  })

  test('and not to an earlier start', () => {
    expect(states([start(1000n), end(1010n), end(1020n)])).toEqual(['orphan →1020', 'completed 1000→1010'])
    expect(states([start(1000n), start(1010n), end(1020n), end(1030n)])).toEqual([
      'orphan →1030',
      'completed 1010→1020',
      'abandoned 1000→',
    ])
  })

  test('of the same process, meta and uid only', () => {
    const marks = [start(1000n, 'a'), end(1001n, 'b'), end(1002n), end(1003n, 'a', 'm'), end(1004n, 'a', '', 'q')]
    expect(states([...marks, end(1010n, 'a')])).toEqual([
      'orphan →1004',
      'orphan →1003',
      'orphan →1002',
      'orphan →1001',
      'completed 1000→1010',
    ])
  })

  test('when runs with a uid overlap, each to its own', () => {
    expect(states([start(1000n, 'a'), start(1010n, 'b'), end(1020n, 'a'), end(1030n, 'b')])).toEqual([
      'completed 1010→1030',
      'completed 1000→1020',
    ])
  })

  test('when two nodes stamped both within one microsecond', () => {
    expect(states([start(1000n), end(1002n)])).toEqual(['completed 1000→1002'])
    expect(states([start(1002n), end(1000n)])).toEqual(['abandoned 1002→', 'orphan →1000'])
  })
})

describe('a failed end', () => {
  test('makes its run a failed one', () => {
    expect(states([start(1000n), failed(1050n)])).toEqual(['failed 1000→1050'])
    expect(states([start(1000n), failed(1100n)])).toEqual(['failed 1000→1100'])
    expect(states([start(1000n), failed(1101n)])).toEqual(['orphan →1101', 'abandoned 1000→'])
  })

  test('belongs to the mark before it only when that is a start, as any end', () => {
    expect(states([failed(1000n)])).toEqual(['orphan →1000'])
    expect(states([start(1000n), end(1010n), failed(1020n)])).toEqual(['orphan →1020', 'completed 1000→1010'])
    expect(states([start(1000n), failed(1010n), end(1020n)])).toEqual(['orphan →1020', 'failed 1000→1010'])
    expect(states([start(1000n, 'a'), start(1001n, 'b'), failed(1010n, 'a'), end(1020n, 'b')])).toEqual([
      'completed 1001→1020',
      'failed 1000→1010',
    ])
  })
})

describe('marks of one time', () => {
  test('are a start, then its end, then a failed end, in whatever order they were stamped', () => {
    const at = (kind: MarkName, stamp: bigint) => mark(kind, 1000n, '', '', 'p', stamp)
    expect(states([at('end', 1001n), at('start', 1005n)])).toEqual(['completed 1000→1000'])
    expect(states([at('failed', 1001n), at('end', 1003n), at('start', 1005n)]).toSorted()).toEqual([
      'completed 1000→1000',
      'orphan →1000',
    ])
  })

  test('of one kind follow each other by stamp', () => {
    const [first, second] = [mark('start', 1000n, '', '', 'p', 1002n), mark('start', 1000n, '', '', 'p', 1006n)]
    const timings = pairMarks([second, first, end(1010n)], wide)
    const stampsOf = (state: string) =>
      timings.filter((timing) => timing.state === state).map(({ place }) => (JSON.parse(place.tie) as string[])[0])
    expect(stampsOf('abandoned')).toEqual(['1002'])
    expect(stampsOf('completed')).toEqual(['1006'])
  })

  test('have distinct places', () => {
    const marks = ['a', 'b', 'c'].flatMap((uid) => [start(1000n, uid), end(1000n, uid), end(1000n, uid, 'm')])
    const places = pairMarks(marks, wide).map(({ place }) => JSON.stringify([String(place.ns), place.tie]))
    expect(places).toHaveLength(6)
    expect(new Set(places).size).toBe(6)
  })
})

describe('a start without its end', () => {
  test('runs until it is more than MAX_RUN old', () => {
    expect(states([start(1000n)], { nowNs: 1100n })).toEqual(['running 1000→'])
    expect(states([start(1000n)], { nowNs: 1101n })).toEqual(['abandoned 1000→'])
  })

  test('is abandoned as soon as another starts', () => {
    expect(states([start(1000n), start(1001n)], { nowNs: 1002n })).toEqual(['running 1001→', 'abandoned 1000→'])
  })

  test('is abandoned when the next mark comes more than MAX_RUN later, even when that lies ahead of now', () => {
    expect(states([start(1000n), start(1101n)], { nowNs: 1050n })).toEqual(['running 1101→', 'abandoned 1000→'])
    expect(states([start(1000n), end(1101n)], { nowNs: 1050n })).toEqual(['orphan →1101', 'abandoned 1000→'])
  })

  test('runs when it lies ahead of now', () => {
    expect(states([start(1200n)], { nowNs: 1000n })).toEqual(['running 1200→'])
  })

  test('is completed by an end that lies ahead of now', () => {
    expect(states([start(1000n), end(1030n)], { nowNs: 1010n })).toEqual(['completed 1000→1030'])
  })
})

describe('a timing is in the range [from, to)', () => {
  const between = (fromNs: bigint, toNs: bigint, nowNs = 10_000n) => ({ fromNs, toNs, nowNs })

  test('when a part of its run is, including its start and end', () => {
    const run = [start(1000n), end(1050n)]
    expect(states(run, between(1050n, 1060n))).toHaveLength(1)
    expect(states(run, between(1051n, 1060n))).toHaveLength(0)
    expect(states(run, between(990n, 1001n))).toHaveLength(1)
    expect(states(run, between(990n, 1000n))).toHaveLength(0)
    expect(states(run, between(1010n, 1020n))).toHaveLength(1)
  })

  test('when it is running and the range begins before now', () => {
    expect(states([start(1000n)], between(1030n, 1060n, 1030n))).toHaveLength(1)
    expect(states([start(1000n)], between(1031n, 1060n, 1030n))).toHaveLength(0)
    expect(states([start(1000n)], between(900n, 1000n, 1030n))).toHaveLength(0)
  })

  test('when it is running ahead of now and starts in the range', () => {
    expect(states([start(1200n)], between(1100n, 1300n, 1000n))).toHaveLength(1)
    expect(states([start(1200n)], between(1201n, 1300n, 1000n))).toHaveLength(0)
  })

  test('when the one mark of an abandoned or orphan one is', () => {
    for (const lone of [[start(1000n)], [end(1000n)]]) {
      expect(states(lone, between(1000n, 1001n))).toHaveLength(1)
      expect(states(lone, between(1001n, 1010n))).toHaveLength(0)
      expect(states(lone, between(990n, 1000n))).toHaveLength(0)
    }
  })
})

describe('as of an earlier moment', () => {
  const asOfNs = 1020n
  test('excludes marks that arrived later', () => {
    expect(states([start(1000n), end(1030n), start(1040n)], { nowNs: asOfNs, asOfNs })).toEqual(['running 1000→'])
  })
  test('includes marks with later own times', () => {
    expect(states([start(1000n), end(1031n)], { nowNs: asOfNs, asOfNs })).toEqual(['completed 1000→1031'])
  })
  test('includes a mark of that moment', () => {
    expect(states([start(1000n), end(1020n)], { nowNs: asOfNs, asOfNs })).toEqual(['completed 1000→1020'])
  })
})

test('timings come newest first by first mark', () => {
  const marks = [start(1000n, 'a'), end(1090n, 'a'), start(1010n, 'b'), end(1020n, 'b'), end(1005n, 'c')]
  expect(states(marks)).toEqual(['completed 1010→1020', 'orphan →1005', 'completed 1000→1090'])
})

test('without marks there are no timings', () => {
  expect(pairMarks([], wide)).toEqual([])
})

test('a value with JSON separators is a separate group', () => {
  expect(states([start(1000n, 'u', '","'), end(1010n, '","u', '')])).toEqual(['orphan →1010', 'abandoned 1000→'])
})
