// When something counts as silent, on starts that are written down here; the backtest is in silence.test.ts.
import { describe, expect, test } from 'bun:test'
import { findRhythm, type Rhythm } from '../../src/process/rhythm.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const T0 = Date.UTC(2026, 10, 2) // a Monday

/** By starts in ms after T0, oldest first, as the store is asked: the newest 60, and all hours. */
function rhythmOf(starts: readonly number[]): Rhythm | undefined {
  const at = starts.map((ms) => T0 + ms)
  return findRhythm(
    at.toReversed().slice(0, 60),
    at.map((ms) => Math.floor(ms / HOUR) * HOUR),
  )
}
const lateAfter = (starts: readonly number[]): number => rhythmOf(starts)!.lateMs - T0 - starts.at(-1)!
const every = (ms: number, times: number): number[] => Array.from({ length: times }, (_, i) => i * ms)

test('needs five gaps', () => {
  expect(rhythmOf(every(HOUR, 5))).toBeUndefined()
  expect(rhythmOf(every(HOUR, 6))).toMatchObject({ everyMs: HOUR, nextMs: T0 + 6 * HOUR })
})

describe('a regular start is silent after its longest gap', () => {
  test.each([
    ['every 5 minutes', 5 * MINUTE, 10 * MINUTE],
    ['hourly', HOUR, 2 * HOUR],
    ['nightly', DAY, DAY + 2.4 * HOUR],
    ['monthly', 30 * DAY, 33 * DAY],
  ])('%s', (_, gap, late) => expect(lateAfter(every(gap, 13))).toBe(late))

  test('every 10 seconds', () => expect(lateAfter(every(10_000, 721))).toBe(70_000))
})

test('starts within an hour are no rhythm', () => {
  expect(rhythmOf(every(100, 200))).toBeUndefined()
  expect(rhythmOf(every(100, 200).map((ms) => ms + HOUR - 10_000))).toBeUndefined() // over a full hour
  expect(rhythmOf(every(10 * MINUTE, 6))).toBeUndefined()
  expect(rhythmOf(every(10 * MINUTE, 7))).toBeDefined()
})

test('a job of weekdays keeps its weekend', () => {
  const weekdays = every(DAY, 19).filter((ms) => (ms / DAY) % 7 < 5)
  expect(lateAfter(weekdays)).toBe(6 * DAY)
})

describe('the next start', () => {
  const nextAfter = (starts: readonly number[]) => (rhythmOf(starts)!.nextMs - T0 - starts.at(-1)!) / HOUR
  const isWeekday = (ms: number) => (ms / DAY) % 7 < 5
  test('of a job of weekdays is on Monday after Friday, and tomorrow after Monday', () => {
    const weekdays = every(DAY, 26).map((ms) => ms + 3 * HOUR + (ms % (3 * DAY)) / 1000)
    const until = (day: number) => weekdays.filter((ms) => isWeekday(ms) && ms < day * DAY)
    expect([5, 12, 19].map((day) => rhythmOf(until(day))?.nextMs)).toContain(undefined) // five starts are no rhythm
    expect([19, 26].map((day) => Math.round(nextAfter(until(day))))).toEqual([72, 72])
    expect([15, 16, 22].map((day) => Math.round(nextAfter(until(day))))).toEqual([24, 24, 24])
  })
  test('of an hourly job of office hours is the next morning after the last of a day', () => {
    const office = every(HOUR, 21 * 24).filter((ms) => isWeekday(ms) && ms % DAY >= 8 * HOUR && ms % DAY <= 17 * HOUR)
    const until = (ms: number) => office.filter((it) => it <= ms)
    expect(nextAfter(until(15 * DAY + 17 * HOUR))).toBe(15)
    expect(nextAfter(until(18 * DAY + 17 * HOUR))).toBe(63)
    expect(nextAfter(until(15 * DAY + 16 * HOUR))).toBe(1)
  })
  test('of a job that starts more often is the usual gap, of one without a week before, too', () => {
    expect(nextAfter(every(15 * MINUTE, 21 * 96))).toBe(0.25)
    expect(nextAfter([0, 1, 2, 3, 4, 5, 6].map((n) => n * HOUR))).toBe(1)
  })
})

test('a job of office hours keeps its weekend, which its newest 60 starts do not hold', () => {
  const office = every(15 * MINUTE, 14 * 96).filter(
    (ms) => (ms / DAY) % 7 < 5 && ms % DAY >= 8 * HOUR && ms % DAY < 18 * HOUR,
  )
  expect(rhythmOf(office)!.everyMs).toBe(15 * MINUTE)
  expect(lateAfter(office)).toBeGreaterThan(4 * DAY)
})

test('one night without a start in a month is no habit', () => {
  const nights = every(DAY, 30).filter((ms) => ms !== 20 * DAY)
  expect(lateAfter(nights)).toBe(DAY + 2.4 * HOUR)
  expect(lateAfter(nights.slice(-12))).toBe(4 * DAY) // of twelve it may be one
})

test('a job whose gaps vary by more than a quarter has twice its longest', () => {
  const starts = [0, 30, 72, 106, 150, 181, 219, 252].map((hours) => hours * HOUR)
  expect(lateAfter(starts)).toBe(88 * HOUR)
})

test('of a few gaps an odd one may be a habit, however long they took', () => {
  const weeks = every(7 * DAY, 12).filter((ms) => ms !== 56 * DAY)
  expect(lateAfter(weeks)).toBe(28 * DAY)
})

test('two workers that start 30 ms apart each hour are a rhythm of an hour', () => {
  const starts = every(HOUR, 12).flatMap((ms) => [ms, ms + 30])
  expect(rhythmOf(starts)!.everyMs).toBe(HOUR)
  expect(lateAfter(starts) / HOUR).toBeCloseTo(2, 3)
})
