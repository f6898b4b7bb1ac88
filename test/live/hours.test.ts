// Counts by hour take room only for hours that have any, and are those of a plain list of all that was counted.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { countHour, HOURS, NO_HOURS, sumHours } from '../../src/live/hours.ts'

const HOUR_US = 3_600e6
const [WIDTH, FIGURE] = [2, 1]

test('the sum of a day is that of its hours, in whatever order they were counted', () => {
  const change = fc.record({ hour: fc.integer({ min: 1_000, max: 1_060 }), by: fc.constantFrom(1, 1, 2, -1) })
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
      let hours = NO_HOURS
      let newest = 0
      const plain = new Map<number, number>()
      for (const { hour, by } of changes) {
        hours = countHour(hours, WIDTH, hour * HOUR_US + 5, FIGURE, by)
        if (by > 0 || plain.has(hour)) newest = Math.max(newest, hour)
        plain.set(hour, Math.max(0, (plain.get(hour) ?? 0) + by))
      }
      const within = [...plain].filter(([hour]) => hour > newest - HOURS && hour <= newest)
      const sum = within.reduce((total, [, count]) => total + count, 0)
      // what was counted before a later hour came, and is a day older, is not asked for any more
      expect(sumHours(hours, WIDTH, FIGURE, newest * HOUR_US)).toBe(sum)
      expect(sumHours(hours, WIDTH, 0, newest * HOUR_US)).toBe(0)
      expect(hours.length).toBeLessThanOrEqual(HOURS * (1 + WIDTH))
    }),
  )
})

test('an hour that is over leaves the sum', () => {
  const hours = countHour(NO_HOURS, 1, 1_000 * HOUR_US, 0, 3)
  const sumAt = (hour: number) => sumHours(hours, 1, 0, hour * HOUR_US)
  expect([999, 1_000, 1_024, 1_025].map(sumAt)).toEqual([0, 3, 3, 0])
})
