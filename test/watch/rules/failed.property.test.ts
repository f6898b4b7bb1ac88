// `failed` against an oracle that counts the row again for every moment.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { failed } from '../../../src/watch/conditions/failed.ts'
import { judgeFailed, type WatchException } from '../../../src/watch/rules/failed.ts'
import { findRuns } from '../../../src/watch/rules/runs.ts'
import { firesAt, judgementAt, LAST_S, MAX_RUN_S, type RunPlan, runs, S, secondMarks, toMarks } from './history.ts'

const judge = (marks: Parameters<typeof toMarks>[0], after: number, t: number, exceptions?: WatchException[]) =>
  judgeFailed(
    { after, exceptions: exceptions !== undefined },
    findRuns(toMarks(marks), t * S, MAX_RUN_S * S),
    exceptions ?? [],
    judgementAt(t, -1),
  )

/** 'good' and 'bad' events settled up to t, in order: straight from the words of the rule. */
function oracleRow(marks: Parameters<typeof toMarks>[0], t: number): number {
  const sorted = toMarks(marks).filter(({ atUs }) => atUs <= t * S)
  const events: { at: number; good: boolean }[] = []
  for (const [i, mark] of sorted.entries()) {
    const own = sorted.slice(i + 1).find(({ uid }) => uid === mark.uid)
    if (mark.mark !== 'start') continue
    const tooOldAt = mark.atUs + MAX_RUN_S * S
    if (own === undefined ? tooOldAt < t * S : own.atUs > tooOldAt) events.push({ at: tooOldAt, good: false })
    else if (own?.mark === 'failed') events.push({ at: own.atUs, good: false })
    else if (own?.mark === 'end') events.push({ at: own.atUs, good: true })
  }
  events.sort((a, b) => a.at - b.at)
  return events.length - 1 - events.findLastIndex(({ good }) => good)
}

/** Two events settled at the same moment have no order that a caller could see. */
const distinctTimes = secondMarks.map((marks) => marks.map((mark, i) => ({ ...mark, at: mark.at + i * 0.01 })))

test('failed fires exactly while at least n bad runs in a row are the newest ones that settled', () => {
  fc.assert(
    fc.property(distinctTimes, fc.integer({ min: 1, max: 3 }), (marks, after) => {
      const final = judge(marks, after, LAST_S + 50)
      for (let t = 0.005; t <= LAST_S + 45; t += 2.5) {
        const expected = oracleRow(marks, t) >= after
        expect(firesAt(judge(marks, after, t), t)).toBe(expected)
        expect(firesAt(final, t)).toBe(expected)
      }
    }),
    { numRuns: 300 },
  )
})

test('a start that is abandoned only by another start does not count: it is a concurrent run or a retry', () => {
  for (const uid of ['', 'a']) {
    const twice = runs([uid, 0], [uid, 5])
    expect(judge(twice, 1, 20)).toEqual([])
    expect(judge(twice, 1, 60)).toMatchObject([{ sinceUs: (5 + MAX_RUN_S) * S, cause: 'abandoned' }])
  }
})

test('a run whose end may have been lost in downtime counts as abandoned MAX_RUN after it, unless a later run completed', () => {
  const blind = [{ fromUs: 20 * S, toUs: 21 * S }]
  const at = (t: number, marks: Parameters<typeof toMarks>[0]) =>
    judgeFailed(
      { after: 1, exceptions: false },
      findRuns(toMarks(marks), t * S, MAX_RUN_S * S),
      [],
      judgementAt(t, -1, blind),
    )
  expect(at(60, runs(['a', 0]))).toEqual([])
  expect(at(62, runs(['a', 0]))).toMatchObject([{ sinceUs: 61 * S, cause: 'abandoned', lost: blind[0] }])
  expect(at(62, runs(['a', 0], ['b', 30, 35]))).toEqual([])
  expect(at(70, runs(['a', 0], ['b', 30, 65]))).toMatchObject([{ sinceUs: 61 * S, untilUs: 65 * S }])
})

test('an exception fires, the run that raised it does not resolve it, the next completed run does', () => {
  const both = runs(['', 10, 20], ['', 30, 35])
  const thrown = [{ atUs: 15 * S }]
  expect(judge(runs(['', 10, 20]), 1, 25, thrown)).toEqual([{ sinceUs: 15 * S, cause: 'exception', figure: 1 }])
  expect(judge(both, 1, 40, thrown)).toMatchObject([{ sinceUs: 15 * S, untilUs: 35 * S }])
  expect(judge(both, 1, 40)).toEqual([])
})

const THREW = 'raised an exception at 1970-01-01 00:00:20'
test.each<[string, RunPlan[], WatchException, string]>([
  ['a run that fails then', [['a', 10, 20, 'failed']], { atUs: 20 * S, uid: 'a' }, 'failed at 1970-01-01 00:00:20'],
  ['a run that fails later', [['a', 10, 25, 'failed']], { atUs: 20 * S, uid: 'a' }, 'failed at 1970-01-01 00:00:25'],
  [
    'the only run at the time, which fails',
    [['', 10, 25, 'failed']],
    { atUs: 20 * S },
    'failed at 1970-01-01 00:00:25',
  ],
  ['one of two runs', [['a', 10, 25, 'failed'], ['b', 15, 26]], { atUs: 20 * S }, THREW], // biome-ignore format: a row
  ['a run that completes', [['a', 10, 25]], { atUs: 20 * S, uid: 'a' }, THREW],
  ['a run that goes on', [['a', 10]], { atUs: 20 * S, uid: 'a' }, THREW],
  ['no run', [['a', 10, 25, 'failed']], { atUs: 20 * S, uid: 'b' }, THREW],
])('the text of an alert about an exception of %s', (_, plans, exception, text) => {
  const [episode] = judge(runs(...plans), 1, 30, [exception])
  expect(episode?.sinceUs).toBe(20 * S)
  const rule = { after: 1, exceptions: true }
  const said = failed.summarize({ process: 'nightly', meta: null }, rule, episode!)
  expect(said).toBe(`nightly ${text} UTC`)
})

test('an exception at the very end of a run counts as before it: the run is no success', () => {
  const marks = runs(['a', 0, 5, 'failed'], ['b', 10, 20])
  expect(judge(marks, 1, 30, [{ atUs: 20 * S, uid: 'b' }])).toEqual([
    { sinceUs: 5 * S, cause: 'failed', figure: 1, uid: 'a', startedUs: 0 },
  ])
})

test('an exception that a completed run has settled does not keep a later failure from ending', () => {
  // `slow` began before the exception of unknown origin and ends after the next failure: no run that began after it may raise it again
  const marks = runs(['a', 0, 5], ['b', 20, 25], ['c', 30, 35, 'failed'], ['d', 40, 45], ['slow', 8, 38])
  expect(judge(marks, 1, 60, [{ atUs: 10 * S }])).toMatchObject([
    { sinceUs: 10 * S, untilUs: 25 * S, cause: 'exception' },
    { sinceUs: 35 * S, untilUs: 38 * S, cause: 'failed' },
  ])
})

test('a changed rule keeps the row, and only later failures fire', () => {
  const fail = (at: number, end: 'end' | 'failed' = 'failed') => [`r${at}`, at, at + 1, end] as const
  const judge = (after: number, list: ReturnType<typeof fail>[], countsFrom = 0) =>
    judgeFailed({ after, exceptions: false }, findRuns(toMarks(runs(...list)), 60 * S, MAX_RUN_S * S), [], {
      ...judgementAt(60, 20),
      countsFromUs: countsFrom * S,
    })
  const two = [fail(5), fail(10)]
  expect(judge(1, two)).toEqual([])
  expect(judge(4, [...two, fail(30)])).toEqual([])
  expect(judge(3, [...two, fail(30)])).toMatchObject([{ sinceUs: 31 * S, figure: 3 }])
  expect(judge(2, [...two, fail(30), fail(40, 'end')])).toMatchObject([{ sinceUs: 31 * S, figure: 3, untilUs: 41 * S }])
  expect(judge(2, [...two, fail(15, 'end'), fail(30)])).toEqual([])
  // not before the watch existed
  expect(judge(3, [...two, fail(30)], 8)).toEqual([])
})

test('what happened before the watch began does not count', () => {
  const found = findRuns(toMarks(runs(['a', 0, 5, 'failed'])), 20 * S, MAX_RUN_S * S)
  expect(judgeFailed({ after: 1, exceptions: false }, found, [], judgementAt(20, 10))).toEqual([])
})
