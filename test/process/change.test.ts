// Since when something takes longer.
import { describe, expect, test } from 'bun:test'
import { findChange } from '../../src/process/change.ts'
import { seededRandom } from '../support/random.ts'

const HOUR = 3_600e6
const random = seededRandom(7)
const noise = () => 1 + (random() - 0.5) / 5
const hourly = (of: (hour: number) => number, hours = 168) =>
  Array.from({ length: hours }, (_, i) => [i * HOUR, of(i) * 1000] as const)

test('a step is found at its hour, with the medians of both sides', () => {
  const change = findChange(hourly((i) => (i < 140 ? 14_000 : 35_000) * noise()))!
  expect(change.atUs).toBe(140 * HOUR)
  expect(change.beforeUs / 14e6).toBeCloseTo(1, 1)
  expect(change.afterUs / 35e6).toBeCloseTo(1, 1)
})

test('a job that became faster changed, too', () => {
  const change = findChange(hourly((i) => (i < 30 ? 60_000 : 20_000) * noise()))!
  expect(change.atUs).toBe(30 * HOUR)
  expect(change.afterUs).toBeLessThan(change.beforeUs)
})

test('of two steps the greater one is named', () => {
  expect(findChange(hourly((i) => (i < 60 ? 1000 : i < 120 ? 1300 : 5200)))?.atUs).toBe(120 * HOUR)
})

describe('nothing changed', () => {
  test.each([
    ['noise', () => 10_000 * noise()],
    ['wild noise', () => 1_000 * 20 ** random()],
    ['slow growth', (i: number) => 10_000 * 1.01 ** i * noise()],
    ['one slow day', (i: number) => (i >= 72 && i < 96 ? 30_000 : 10_000) * noise()],
    ['long nights', (i: number) => (i % 24 < 6 ? 40_000 : 10_000) * noise()],
    ['a step by a tenth', (i: number) => (i < 100 ? 10_000 : 11_000)],
    ['from 1 ms to 5 ms', (i: number) => (i < 100 ? 1 : 5)],
    ['three slow hours at the end', (i: number) => (i < 165 ? 10_000 : 30_000)],
  ])('%s', (_, of) => expect(findChange(hourly(of))).toBeUndefined())
  test('no run at all', () => expect(findChange([])).toBeUndefined())
})
