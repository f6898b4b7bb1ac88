// Since when something takes longer.
import { describe, expect, test } from 'bun:test'
import { findChange } from '../../src/query/change.ts'
import { seededRandom } from '../support/random.ts'

const HOUR = 3_600_000
const random = seededRandom(7)
const noise = () => 1 + (random() - 0.5) / 5
const hourly = (of: (hour: number) => number, hours = 168) =>
  Array.from({ length: hours }, (_, i) => ({ atMs: i * HOUR, ms: of(i) }))

test('a step is found at its hour, with the medians of both sides', () => {
  const change = findChange(hourly((i) => (i < 140 ? 14_000 : 35_000) * noise()))!
  expect(change.atMs).toBe(140 * HOUR)
  expect(change.beforeMs / 14_000).toBeCloseTo(1, 1)
  expect(change.afterMs / 35_000).toBeCloseTo(1, 1)
})

test('a job that became faster changed, too', () => {
  const change = findChange(hourly((i) => (i < 30 ? 60_000 : 20_000) * noise()))!
  expect(change.atMs).toBe(30 * HOUR)
  expect(change.afterMs).toBeLessThan(change.beforeMs)
})

test('of two steps the greater one is named', () => {
  expect(findChange(hourly((i) => (i < 60 ? 1000 : i < 120 ? 1300 : 5200)))?.atMs).toBe(120 * HOUR)
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
