// What a row remembers of runs that it does not keep any more, and of marks that it cannot judge.
import { expect, test } from 'bun:test'
import { HOUR_US, sumHours } from '../../src/live/hours.ts'
import type { LiveMark } from '../../src/live/marks.ts'
import {
  countRuns,
  createRow,
  FIGURES,
  fillRow,
  foldMarks,
  newestOf,
  noteOlder,
  RUNS,
  runsOf,
  startHoursMs,
} from '../../src/live/row.ts'
import { SETTLED_KEPT } from '../../src/process/usual.ts'

const MAX_RUN_US = 24 * HOUR_US
const BEGAN_US = 480_000 * HOUR_US

const startOf = (i: number): LiveMark => ({ uid: `u${i}`, mark: 'start', atUs: BEGAN_US + i * HOUR_US, restNs: 0 })
const runOf = (i: number, end: 'end' | 'failed' = 'end'): LiveMark[] => {
  const start = startOf(i)
  return [start, { ...start, mark: end, atUs: start.atUs + 60e6 }]
}
const runs = (count: number, from = 0) => Array.from({ length: count }, (_, i) => runOf(from + i)).flat()

test('a mark of the time at which the newest run ended that is not kept is left to the store', () => {
  const row = createRow('job', '')
  expect(foldMarks(row, runs(SETTLED_KEPT + 1), MAX_RUN_US)).toBe(true)
  const atUs = BEGAN_US + 60e6
  expect(foldMarks(row, [{ ...startOf(0), uid: 'late', atUs }], MAX_RUN_US)).toBe(false)
  expect(foldMarks(row, [{ ...startOf(0), uid: 'later', atUs: atUs + 1 }], MAX_RUN_US)).toBe(true)
})

test('of runs that are not kept the hours of their starts and the newest failure are known', () => {
  const row = createRow('job', '')
  foldMarks(row, runOf(0, 'failed'), MAX_RUN_US)
  foldMarks(row, runs(SETTLED_KEPT + 1, 1), MAX_RUN_US)
  expect(countRuns(row)).toBe(SETTLED_KEPT)
  expect(startHoursMs(row).toSorted()).toEqual([BEGAN_US / 1000, (BEGAN_US + HOUR_US) / 1000])
  expect(newestOf(row).failedUs).toBe(BEGAN_US + 60e6)
})

test('of more than 1,000 open runs the newest are kept', () => {
  const row = createRow('job', '')
  foldMarks(
    row,
    Array.from({ length: 1_001 }, (_, i) => startOf(i)),
    MAX_RUN_US,
  )
  expect([countRuns(row), runsOf(row)[0]!.uid]).toEqual([1_000, 'u1'])
})

test('a repeated mark of a run that was not counted does not count it', () => {
  const row = createRow('job', '')
  fillRow(row, runs(2), MAX_RUN_US)
  foldMarks(row, [startOf(1)], MAX_RUN_US)
  expect(sumHours(row.figures, FIGURES, RUNS, BEGAN_US + HOUR_US)).toBe(0)
})

test('of runs that are kept only themselves tell when the newest completed', () => {
  const row = createRow('job', '')
  fillRow(row, runs(2), MAX_RUN_US)
  const [start, end] = [BEGAN_US + HOUR_US, BEGAN_US + HOUR_US + 60e6]
  noteOlder(row, end, 0) // by the store's figures
  foldMarks(row, [{ uid: 'u1', mark: 'failed', atUs: start + 30e6, restNs: 0 }], MAX_RUN_US)
  expect(newestOf(row)).toMatchObject({ okUs: BEGAN_US + 60e6, failedUs: start + 30e6 })
})
