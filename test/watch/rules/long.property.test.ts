// `long` against an oracle that asks at every second which runs are open.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { judgeLong } from '../../../src/watch/rules/long.ts'
import { findRuns } from '../../../src/watch/rules/runs.ts'
import { firesAt, judgementAt, LAST_S, MAX_RUN_S, S, type SecondMark, secondMarks, toMarks } from './history.ts'

/** Starts at `from` whose group has no other mark since, up to second t. */
function isOpen(marks: readonly SecondMark[], start: SecondMark, t: number): boolean {
  const later = toMarks(marks).filter(({ uid, atUs }) => uid === start.uid && atUs <= t * S)
  const place = later.findIndex(({ atUs, mark }) => atUs === start.at * S && mark === 'start')
  return place === later.length - 1
}

test('long fires for each run from its limit to the next mark of its uid, past MAX_RUN too', () => {
  fc.assert(
    fc.property(secondMarks, fc.integer({ min: 1, max: MAX_RUN_S - 1 }), (marks, limit) => {
      const starts = marks.filter(
        ({ mark, uid, at }, i) =>
          mark === 'start' &&
          !marks.some((other, j) => j < i && other.mark === 'start' && other.uid === uid && other.at === at),
      )
      const unique = marks.filter((mark) => mark.mark !== 'start' || starts.includes(mark))
      for (let t = 0; t <= LAST_S; t += 3) {
        const runs = findRuns(toMarks(unique), t * S, MAX_RUN_S * S)
        const episodes = judgeLong(limit * S, runs, judgementAt(t, -1))
        for (const start of starts.filter(({ at }) => at <= t)) {
          const own = episodes.filter((it) => it.uid === start.uid && it.startedUs === start.at * S)
          expect(firesAt(own, t)).toBe(t - start.at > limit && isOpen(unique, start, t))
        }
      }
    }),
    { numRuns: 300 },
  )
})

test('overlapping runs are episodes of their own', () => {
  const marks = toMarks([
    { mark: 'start', uid: 'a', at: 0 },
    { mark: 'start', uid: 'b', at: 5 },
    { mark: 'end', uid: 'a', at: 30 },
  ])
  expect(judgeLong(10 * S, findRuns(marks, 50 * S, MAX_RUN_S * S), judgementAt(50))).toEqual([
    { sinceUs: 10 * S, untilUs: 30 * S, uid: 'a', startedUs: 0, limit: 10 * S, figure: 30 * S },
    { sinceUs: 15 * S, uid: 'b', startedUs: 5 * S, limit: 10 * S },
  ])
})

/** Five runs of 4 s every 10 s, then one that starts at 50 and does not end; it is long after 8 s. */
const steady = [0, 10, 20, 30, 40].flatMap((at): SecondMark[] => [
  { mark: 'start', uid: '', at },
  { mark: 'end', uid: '', at: at + 4 },
])
const longAt = (atS: number, [fromS, toS]: readonly [number, number], more: readonly SecondMark[] = []) => {
  const marks = toMarks([...steady, { mark: 'start', uid: '', at: 50 }, ...more])
  const blind = [{ fromUs: fromS * S, toUs: toS * S }]
  return judgeLong(8 * S, findRuns(marks, atS * S, MAX_RUN_S * S), judgementAt(atS, 0, blind)).map(
    (it) => it.sinceUs / S,
  )
}

test('time in which Stint was down does not count', () => {
  expect(longAt(58, [50.5, 51])).toEqual([])
  expect(longAt(60, [50.5, 51])).toEqual([58.5])
})

test('a run whose end was probably lost is long only when the next run is overdue', () => {
  expect(longAt(68, [53, 54])).toEqual([])
  expect(longAt(70, [53, 54])).toEqual([69])
  const next: SecondMark[] = [
    { mark: 'start', uid: 'b', at: 60 },
    { mark: 'end', uid: 'b', at: 64 },
  ]
  expect(longAt(80, [53, 54], next)).toEqual([])
  expect(longAt(80, [53, 54], [{ mark: 'end', uid: '', at: 75 }])).toEqual([59])
})

test('downtime after an alert began does not end it', () => {
  expect(longAt(62, [59, 61])).toEqual([58])
})
