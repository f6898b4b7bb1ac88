import { expect, test } from 'bun:test'
import { createRateLimit } from '../../../src/http/intake/rate-limit.ts'
import { createStepClock } from '../../support/step-clock.ts'

const takeMany = (limit: ReturnType<typeof createRateLimit>, key: string, count: number) =>
  Array.from({ length: count }, () => limit.take(key) === 0)

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
