// `long` against an oracle that asks at every second which runs are open.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { long } from '../../../src/watch/conditions/long.ts'
import type { Blind } from '../../../src/watch/rules/episode.ts'
import { judgeLong } from '../../../src/watch/rules/long.ts'
import { findRuns } from '../../../src/watch/rules/runs.ts'
import {
  firesAt,
  judgementAt,
  LAST_S,
  MAX_RUN_S,
  type RunPlan,
  runs,
  S,
  type SecondMark,
  secondMarks,
  toMarks,
} from './history.ts'

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
  const marks = toMarks(runs(['a', 0, 30], ['b', 5]))
  expect(judgeLong(10 * S, findRuns(marks, 50 * S, MAX_RUN_S * S), judgementAt(50))).toEqual([
    { sinceUs: 10 * S, untilUs: 30 * S, uid: 'a', startedUs: 0, limit: 10 * S, figure: 30 * S, endedAs: 'completed' },
    { sinceUs: 15 * S, uid: 'b', startedUs: 5 * S, limit: 10 * S },
  ])
})

test.each<[string, RunPlan[], string]>([
  ['completes', [['a', 0, 30]], 'ended'],
  ['fails', [['a', 0, 30, 'failed']], 'failed'],
  ['is followed by another start', [['a', 0], ['a', 30]], 'started again'], // biome-ignore format: a row
  ['ends after MAX_RUN', [['a', 0, MAX_RUN_S + 5]], 'ended or started again'],
])('the text of the end of an alert about a run that %s', (_, plans, text) => {
  const t = MAX_RUN_S + 10
  const [episode] = judgeLong(10 * S, findRuns(toMarks(runs(...plans)), t * S, MAX_RUN_S * S), judgementAt(t))
  const alert = { process: 'nightly', meta: null, sinceUs: 10 * S, uid: 'a', startedUs: 0, episode: null }
  expect(long.summarizeEnd(alert, episode!.untilUs!, episode)).toStartWith(`nightly ${text} at 1970-01-01 00:00:`)
})

/** Runs that start at these seconds and do not end; they are long after 8 s. */
const openRuns = (atS: number, starts: readonly number[], blindS: readonly (readonly [number, number])[]) => {
  const marks = toMarks(runs(...starts.map((at, i) => [`r${i}`, at] as const)))
  const blind = blindS.map(([fromS, toS]) => ({ fromUs: fromS * S, toUs: toS * S }))
  return judgeLong(8 * S, findRuns(marks, atS * S, MAX_RUN_S * S), judgementAt(atS, 0, blind))
}

test('open runs across a downtime are one episode, one limit after it, whatever starts later', () => {
  expect(openRuns(62, [50, 51], [[53, 54]])).toEqual([])
  expect(openRuns(63, [50, 51, 56], [[53, 54]])).toMatchObject([
    {
      sinceUs: 62 * S,
      lost: { fromUs: 53 * S, toUs: 54 * S },
      runs: [
        { uid: 'r0', startedUs: 50 * S },
        { uid: 'r1', startedUs: 51 * S },
      ],
      isFollowed: true,
    },
  ])
})

test('frequent restarts hide no run: later ones only add their length', () => {
  const restarts = Array.from({ length: 20 }, (_, i) => [53 + 3 * i, 53.5 + 3 * i] as const)
  expect(openRuns(66, [50], restarts)).toMatchObject([{ sinceUs: 63 * S }])
})

test('downtime after an alert began does not end it', () => {
  expect(openRuns(62, [50], [[59, 61]])).toMatchObject([{ sinceUs: 58 * S }])
})

test('a run that ended is as long as its marks say, whatever downtime lay inside', () => {
  const firedFor = (blind: Blind, uid: string, before: RunPlan[] = []) => {
    const found = findRuns(toMarks(runs(...before, [uid, 50, 59])), 70 * S, MAX_RUN_S * S)
    return judgeLong(8 * S, found, judgementAt(70, 0, [blind])).map(({ sinceUs, figure = 0 }) => [sinceUs, figure])
  }
  const down = { fromUs: 52 * S, toUs: 57 * S }
  const fires = [[58 * S, 9 * S]]
  for (const uid of ['', 'a']) expect(firedFor(down, uid)).toEqual(fires)
  expect(firedFor({ ...down, isJump: true }, 'a')).toEqual([])
  expect(firedFor(down, '', [['', 30, 33]])).toEqual(fires)
  // a downtime of half the usual pause between two runs may have hidden an end and the next start
  expect(firedFor(down, '', [['', 40, 45]])).toEqual([])
  expect(firedFor(down, 'b', [['a', 40, 45]])).toEqual(fires)
  // a start may follow a lost end
  expect(firedFor({ fromUs: 45 * S, toUs: 48 * S }, '', [['', 41]])).toEqual(fires)
})
