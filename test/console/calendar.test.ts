import { expect, test } from 'bun:test'
import { daysOf, kindOf, monthsOf } from '../../src/console/process/calendar.tsx'
import type { SummaryRow } from '../../src/wire/timings.ts'

test.each([1, 2, 3, 4, 5, 6, 7])(
  'the calendar of %p November begins on a Monday 90 to 96 days before its end',
  (day) => {
    const days = daysOf([], new Date(2026, 10, day, 12).getTime())
    expect(new Date(days[0]!.fromMs).getDay()).toBe(1)
    expect(days.length).toBeGreaterThanOrEqual(90)
    expect(days.length).toBeLessThanOrEqual(96)
    expect(days.at(-1)!.toMs).toBe(new Date(2026, 10, day + 1).getTime())
  },
)

test('a day of the calendar counts runs that failed or never finished', () => {
  const noon = new Date(2026, 10, 3, 12)
  const row = { process: 'job', at: noon.toISOString(), count: 3, failed: 1, abandoned: 1 } as SummaryRow
  const found = daysOf([row], new Date(2026, 10, 7).getTime()).filter(({ all }) => all > 0)
  expect(found).toMatchObject([{ fromMs: new Date(2026, 10, 3).getTime(), bad: 2, all: 5 }])
})

test.each([
  [2, ['Nov']],
  [14, ['Sep', 'Oct', 'Nov']],
  [13, ['Sep', 'Oct', 'Nov']],
  [12, ['Sep', 'Oct', 'Nov']],
])('each month of the %p weeks to 29 November has its name, but the end of one in the first week', (weeks, names) => {
  const sunday = new Date(2026, 10, 29)
  const days = Array.from({ length: weeks * 7 }, (_, i) => ({
    fromMs: new Date(2026, 10, sunday.getDate() - weeks * 7 + 1 + i).getTime(),
  }))
  const english = (name: string) => new Date(2026, ['Sep', 'Oct', 'Nov'].indexOf(name) + 8, 1)
  const named = names.map((name) => english(name).toLocaleDateString(undefined, { month: 'short' }))
  const found = monthsOf(days)
  expect(found.map(({ name }) => name).slice(-named.length)).toEqual(named)
  expect(found.every(({ week }, i) => i === 0 || week - found[i - 1]!.week > 1)).toBe(true)
})

test.each([
  [0, 0, 'none'],
  [0, 9, 'fine'],
  [9, 1000, 'fine'],
  [10, 1000, 'some'],
  [100, 1000, 'many'],
  [500, 1000, 'most'],
])('a day on which %p of %p runs failed is %p', (bad, all, kind) => {
  expect(kindOf({ bad, all })).toBe(kind)
})
