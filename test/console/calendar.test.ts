import { expect, test } from 'bun:test'
import { daysOf } from '../../src/console/process/calendar.tsx'
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
