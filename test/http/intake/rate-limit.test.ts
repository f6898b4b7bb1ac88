import { expect, test } from 'bun:test'
import { createRateLimit } from '../../../src/http/intake/rate-limit.ts'
import { createStepClock } from '../../support/step-clock.ts'

const takeMany = (limit: ReturnType<typeof createRateLimit>, key: string, count: number) =>
  Array.from({ length: count }, () => limit.take(key) === 0)

test('zero means no limit', () => {
  const limit = createRateLimit(createStepClock(), 0)
  expect(takeMany(limit, 'k', 10_000).every(Boolean)).toBe(true)
})

test('allows a burst of one second’s events, then refills', () => {
  const clock = createStepClock()
  const limit = createRateLimit(clock, 5)
  expect(takeMany(limit, 'k', 6)).toEqual([true, true, true, true, true, false])
  expect(limit.take('k')).toBeCloseTo(0.2, 5)
  clock.pass(200_000)
  expect(takeMany(limit, 'k', 2)).toEqual([true, false])
})

test('limits each account separately', () => {
  const limit = createRateLimit(createStepClock(), 1)
  expect([limit.take('a'), limit.take('b')]).toEqual([0, 0])
  expect(limit.take('a')).toBeGreaterThan(0)
})

test('a long pause saves up at most one second’s events', () => {
  const clock = createStepClock()
  const limit = createRateLimit(clock, 3)
  takeMany(limit, 'k', 3)
  clock.pass(3_600_000_000)
  expect(limit.remaining('k')).toBe(3)
  expect(takeMany(limit, 'k', 4)).toEqual([true, true, true, false])
})

test('is not affected by steps of the wall clock', () => {
  const clock = createStepClock()
  const limit = createRateLimit(clock, 1)
  limit.take('k')
  clock.step(3_600_000_000)
  expect(limit.take('k')).toBe(1)
  clock.step(-7_200_000_000)
  expect(limit.take('k')).toBe(1)
})

test('a debt must be paid off before the next event passes', () => {
  const clock = createStepClock()
  const limit = createRateLimit(clock, 10)
  expect(limit.take('k')).toBe(0)
  limit.owe('k', 10_000)
  expect(limit.remaining('k')).toBe(0)
  expect(limit.take('k')).toBeCloseTo(999.2, 5)
  clock.pass(999_300_000)
  expect(limit.take('k')).toBe(0)
})

test('without a limit there is no debt', () => {
  const limit = createRateLimit(createStepClock(), 0)
  limit.owe('k', 10_000)
  expect(limit.take('k')).toBe(0)
})
