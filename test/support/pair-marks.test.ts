// The pairing rule by examples: marks as `start 1000 uid meta process`, timings as `state started→ended`, newest first.
import { expect, test } from 'bun:test'
import type { MarkName } from '../../src/event/event.ts'
import { type PairingQuestion, pairMarks, type StampedMark } from './pair-marks.ts'

const wide: PairingQuestion = { fromNs: 0n, toNs: 100_000n, maxRunNs: 100n, nowNs: 10_000n }
const at = (nowNs: bigint) => ({ nowNs })
const asOf = { nowNs: 1020n, asOfNs: 1020n }
const between = (fromNs: bigint, toNs: bigint, nowNs = 10_000n) => ({ fromNs, toNs, nowNs })

const mark = (mark: MarkName, ns: bigint, uid = '', meta = '', process = 'p', stamp = ns): StampedMark => ({
  ...{ process, meta, uid, mark, ns, stamp },
})

function marksOf(text: string): StampedMark[] {
  return text.split(', ').map((one) => {
    const [kind, ns, ...series] = one.split(' ')
    return mark(kind as MarkName, BigInt(ns!), ...series)
  })
}

const states = (marks: StampedMark[], question: Partial<PairingQuestion> = {}) =>
  pairMarks(marks, { ...wide, ...question })
    .map(({ state, startedNs, endedNs }) => `${state} ${startedNs ?? ''}→${endedNs ?? ''}`)
    .join(', ')

test.each<[string, string, string, Partial<PairingQuestion>?]>([
  ['an end comes after its start in any order of input', 'end 1050, start 1000', 'completed 1000→1050'],
  ['a run takes exactly the limit', 'start 1000, end 1100', 'completed 1000→1100'],
  ['a run takes a nanosecond more', 'start 1000, end 1101', 'orphan →1101, abandoned 1000→'],
  ['an end belongs to no earlier mark', 'start 1000, end 1010, end 1020', 'orphan →1020, completed 1000→1010'],
  [
    'the newest start is ended',
    'start 1000, start 1010, end 1020, end 1030',
    'orphan →1030, completed 1010→1020, abandoned 1000→',
  ],
  [
    'an end has the process, meta and uid of its start',
    'start 1000 a, end 1001 b, end 1002, end 1003 a m, end 1004 a  q, end 1010 a',
    'orphan →1004, orphan →1003, orphan →1002, orphan →1001, completed 1000→1010',
  ],
  [
    'runs with a uid overlap',
    'start 1000 a, start 1010 b, end 1020 a, end 1030 b',
    'completed 1010→1030, completed 1000→1020',
  ],
  ['two nodes stamp within one microsecond', 'start 1000, end 1002', 'completed 1000→1002'],
  ['two nodes stamp the end first', 'start 1002, end 1000', 'abandoned 1002→, orphan →1000'],
  ['a failed end', 'start 1000, failed 1050', 'failed 1000→1050'],
  ['a failed end at the limit', 'start 1000, failed 1100', 'failed 1000→1100'],
  ['a failed end beyond the limit', 'start 1000, failed 1101', 'orphan →1101, abandoned 1000→'],
  ['a failed end alone', 'failed 1000', 'orphan →1000'],
  ['a failed end after an end', 'start 1000, end 1010, failed 1020', 'orphan →1020, completed 1000→1010'],
  ['an end after a failed end', 'start 1000, failed 1010, end 1020', 'orphan →1020, failed 1000→1010'],
  [
    'one of two runs fails',
    'start 1000 a, start 1001 b, failed 1010 a, end 1020 b',
    'completed 1001→1020, failed 1000→1010',
  ],
  ['a start at the limit', 'start 1000', 'running 1000→', at(1100n)],
  ['a start beyond the limit', 'start 1000', 'abandoned 1000→', at(1101n)],
  ['another start', 'start 1000, start 1001', 'running 1001→, abandoned 1000→', at(1002n)],
  ['a start ahead of now beyond the limit', 'start 1000, start 1101', 'running 1101→, abandoned 1000→', at(1050n)],
  ['an end ahead of now beyond the limit', 'start 1000, end 1101', 'orphan →1101, abandoned 1000→', at(1050n)],
  ['a start ahead of now', 'start 1200', 'running 1200→', at(1000n)],
  ['an end ahead of now', 'start 1000, end 1030', 'completed 1000→1030', at(1010n)],
  ['a range from the end on', 'start 1000, end 1050', 'completed 1000→1050', between(1050n, 1060n)],
  ['a range after the end', 'start 1000, end 1050', '', between(1051n, 1060n)],
  ['a range up to the start', 'start 1000, end 1050', 'completed 1000→1050', between(990n, 1001n)],
  ['a range before the start', 'start 1000, end 1050', '', between(990n, 1000n)],
  ['a range within the run', 'start 1000, end 1050', 'completed 1000→1050', between(1010n, 1020n)],
  ['a range that begins while it runs', 'start 1000', 'running 1000→', between(1030n, 1060n, 1030n)],
  ['a range that begins after now', 'start 1000', '', between(1031n, 1060n, 1030n)],
  ['a range before a run', 'start 1000', '', between(900n, 1000n, 1030n)],
  ['a range with a start ahead of now', 'start 1200', 'running 1200→', between(1100n, 1300n, 1000n)],
  ['a range after a start ahead of now', 'start 1200', '', between(1201n, 1300n, 1000n)],
  ['a range with a lone start', 'start 1000', 'abandoned 1000→', between(1000n, 1001n)],
  ['a range after a lone start', 'start 1000', '', between(1001n, 1010n)],
  ['a range before a lone start', 'start 1000', '', between(990n, 1000n)],
  ['a range with a lone end', 'end 1000', 'orphan →1000', between(1000n, 1001n)],
  ['a range after a lone end', 'end 1000', '', between(1001n, 1010n)],
  ['a range before a lone end', 'end 1000', '', between(990n, 1000n)],
  ['marks that arrived after the moment', 'start 1000, end 1030, start 1040', 'running 1000→', asOf],
  ['a mark with a later time of its own', 'start 1000, end 1031', 'completed 1000→1031', asOf],
  ['a mark of the moment', 'start 1000, end 1020', 'completed 1000→1020', asOf],
  [
    'the first mark orders timings',
    'start 1000 a, end 1090 a, start 1010 b, end 1020 b, end 1005 c',
    'completed 1010→1020, orphan →1005, completed 1000→1090',
  ],
  ['separators of JSON in a uid', 'start 1000 u ",", end 1010 ","u', 'orphan →1010, abandoned 1000→'],
])('%s: %s', (_, marks, timings, question = {}) => {
  expect(states(marksOf(marks), question)).toBe(timings)
})

test('a timing has its series, its bounds and a place', () => {
  expect(pairMarks(marksOf('start 1000 u m, end 1050 u m'), wide)).toEqual([
    {
      ...{ process: 'p', meta: 'm', uid: 'u', state: 'completed', startedNs: 1000n, endedNs: 1050n },
      place: { ns: 1000n, tie: expect.any(String) },
    },
  ])
  expect(pairMarks([], wide)).toEqual([])
})

test('marks of one time are a start, then its end, then a failed end, and of one kind by stamp', () => {
  const stamped = (kind: MarkName, stamp: bigint) => mark(kind, 1000n, '', '', 'p', stamp)
  expect(states([stamped('end', 1001n), stamped('start', 1005n)])).toBe('completed 1000→1000')
  const three = pairMarks([stamped('failed', 1001n), stamped('end', 1003n), stamped('start', 1005n)], wide)
  expect(three.map(({ state }) => state).sort()).toEqual(['completed', 'orphan'])

  const timings = pairMarks([stamped('start', 1006n), stamped('start', 1002n), ...marksOf('end 1010')], wide)
  const stamps = timings.map(({ state, place }) => [state, (JSON.parse(place.tie) as string[])[0]!])
  expect(Object.fromEntries(stamps)).toEqual({ abandoned: '1002', completed: '1006' })
})

test('timings of one time have distinct places', () => {
  const marks = marksOf('start 1000, start 1000 u, start 1000  m, start 1000   q, end 1000 v, failed 1000 v')
  marks.push(mark('start', 1000n, '', '', 'p', 1001n))
  const places = pairMarks(marks, wide).map(({ place }) => JSON.stringify([String(place.ns), place.tie]))
  expect(new Set(places).size).toBe(7)
})
