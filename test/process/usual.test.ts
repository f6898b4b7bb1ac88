// How long a run usually takes, on runs that are written down here.
import { describe, expect, test } from 'bun:test'
import { findDurations, limitOf, type SettledRun, usualOf } from '../../src/process/usual.ts'

const S = 1e6
const MINUTE = 60 * S
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const run = (startedUs: number, us: number, failed = false): SettledRun => ({
  ...{ startedUs, endedUs: startedUs + us, failed },
})
const each = (gapUs: number, lengths: readonly number[]) => lengths.map((us, i) => run(i * gapUs, us))
const times = <T>(n: number, value: T): T[] => Array.from({ length: n }, () => value)

describe('usual', () => {
  test('needs five completed runs among the last 20', () => {
    expect(usualOf(each(HOUR, times(4, S)), DAY)).toBeUndefined()
    expect(findDurations(each(HOUR, times(5, S)), DAY).usual).toEqual({ us: S, of: 5 })
    const failed = times(16, 0).map((_, i) => run(DAY + i * HOUR, S, true))
    expect(usualOf([...each(HOUR, times(24, S)), ...failed], 9 * DAY)).toBeUndefined()
  })
  test('is the median of the last 20 runs', () => {
    const runs = each(HOUR, [...times(20, S), ...times(4, 9 * S), ...times(9, 4 * S), ...times(7, 5 * S)])
    expect(findDurations(runs, 9 * DAY).usual).toEqual({ us: 5 * S, of: 20 })
  })
  test('counts only runs that ended before the run in question began', () => {
    expect(usualOf(each(HOUR, times(5, S)), 4 * HOUR)).toBeUndefined()
    expect(usualOf(each(HOUR, times(5, S)), 4 * HOUR + S)).toBe(S)
  })
})

describe('a run every 2 minutes goes from 5 to 22 s', () => {
  const slowSince = 60 * 2 * MINUTE
  const history = (slow: number) => each(2 * MINUTE, [...times(60, 5 * S), ...times(slow, 22 * S)])

  test('after ten runs the change is named with its moment', () => {
    const { change } = findDurations(history(10), slowSince + 10 * 2 * MINUTE)
    expect(change).toEqual({ atUs: slowSince, beforeUs: 5 * S, afterUs: 22 * S, of: 50 })
  })
  test('an hour later usual is still 5 s', () => {
    expect(findDurations(history(30), slowSince + HOUR).usual).toEqual({ us: 5 * S, of: 30 })
  })
  test('a day later the slow runs are the usual ones', () => {
    const runs = each(4 * HOUR, [...times(30, 5 * S), ...times(10, 22 * S)])
    expect(usualOf(runs, 30 * 4 * HOUR + DAY - 1)).toBe(5 * S)
    expect(usualOf(runs, 30 * 4 * HOUR + 3 * DAY)).toBe(22 * S - 8.5 * S)
  })
})

test('a limit is the given times of the usual duration, and at least a second more', () => {
  expect(limitOf(2, 10 * S)).toBe(20 * S)
  expect(limitOf(2, 3000)).toBe(S + 3000)
})
