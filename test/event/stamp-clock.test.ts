import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createStampClock } from '../../src/event/stamp-clock.ts'
import { createStepClock } from '../support/step-clock.ts'

const HOUR_US = 3_600_000_000
const SECOND_US = 1_000_000

test('stamps follow the wall clock when nothing steps', () => {
  const clock = createStepClock()
  const stamps = createStampClock(clock, 0, 0)
  expect(stamps.next().us).toBe(clock.wallUs())
  clock.pass(10 * SECOND_US)
  expect(stamps.next().us).toBe(clock.wallUs())
  expect(stamps.leadUs()).toBe(0)
})

test('a node stamps in its own even digits, lane 0', () => {
  expect(createStampClock(createStepClock(), 0, 0).next().sub).toBe(0)
  expect(createStampClock(createStepClock(), 21, 0).next().sub).toBe(42)
  expect(createStampClock(createStepClock(), 499, 0).next().sub).toBe(998)
})

test('stamps of one and the same moment are a µs apart', () => {
  const stamps = createStampClock(createStepClock(), 0, 0)
  const first = stamps.next().us
  expect([stamps.next().us, stamps.next().us, stamps.next().us]).toEqual([first + 1, first + 2, first + 3])
})

test('a ten-second job measures ten seconds although the wall clock goes back an hour in between', () => {
  const clock = createStepClock()
  const stamps = createStampClock(clock, 0, 0)
  const start = stamps.next().us
  clock.pass(4 * SECOND_US)
  clock.step(-HOUR_US)
  clock.pass(6 * SECOND_US)
  expect(stamps.next().us - start).toBe(10 * SECOND_US)
  expect(stamps.leadUs()).toBe(HOUR_US)
})

test('the lead after a step back shrinks only as far as the wall clock catches up', () => {
  const clock = createStepClock()
  const stamps = createStampClock(clock, 0, 0)
  clock.step(-HOUR_US)
  clock.pass(HOUR_US)
  expect(stamps.leadUs()).toBe(HOUR_US)
  clock.step(HOUR_US)
  expect(stamps.leadUs()).toBe(0)
})

test('a wall clock that is set forward is followed', () => {
  const clock = createStepClock()
  const stamps = createStampClock(clock, 0, 0)
  stamps.next()
  clock.step(HOUR_US)
  expect(stamps.next().us).toBe(clock.wallUs())
})

test('a wall clock that is at most 100 ms ahead is not followed: durations stay exact', () => {
  const clock = createStepClock()
  const stamps = createStampClock(clock, 0, 0)
  const start = stamps.next().us
  clock.step(100_000)
  clock.pass(SECOND_US)
  expect(stamps.next().us - start).toBe(SECOND_US)
  clock.step(1_000)
  clock.pass(SECOND_US)
  expect(stamps.next().us).toBe(clock.wallUs())
})

test('after a restart the first stamp is later than the newest of the run before, also when the wall clock went back', () => {
  const clock = createStepClock()
  const before = createStampClock(clock, 0, 0)
  clock.pass(SECOND_US)
  const newest = before.next().us
  clock.step(-HOUR_US)
  const after = createStampClock(clock, 0, newest)
  const first = after.next().us
  expect(first).toBe(newest + 1)
  clock.pass(10 * SECOND_US)
  expect(after.next().us).toBe(newest + 10 * SECOND_US)
})

test('now is no earlier than any stamp given and no stamp is spent on asking', () => {
  const clock = createStepClock()
  const stamps = createStampClock(clock, 0, 0)
  let last = 0
  for (let i = 0; i < 50; i++) last = stamps.next().us
  expect(stamps.nowUs()).toBe(last)
  expect(stamps.nowUs()).toBe(last)
  expect(stamps.next().us).toBe(last + 1)
})

const STEPS = fc.oneof(
  fc.record({ do: fc.constant('stamp' as const) }),
  fc.record({ do: fc.constant('pass' as const), us: fc.nat(20 * SECOND_US) }),
  fc.record({ do: fc.constant('step' as const), us: fc.integer({ min: -HOUR_US, max: HOUR_US }) }),
  fc.record({ do: fc.constant('restart' as const) }),
)

test('stamps strictly increase over any steps of the clock and any restarts', () => {
  fc.assert(
    fc.property(fc.array(STEPS, { maxLength: 60 }), (steps) => {
      const clock = createStepClock()
      let stamps = createStampClock(clock, 0, 0)
      let last = 0
      for (const step of steps) {
        if (step.do === 'pass') clock.pass(step.us)
        else if (step.do === 'step') clock.step(step.us)
        else if (step.do === 'restart') stamps = createStampClock(clock, 0, last)
        else {
          const { us } = stamps.next()
          expect(us).toBeGreaterThan(last)
          expect(Number.isSafeInteger(us)).toBe(true)
          last = us
        }
      }
    }),
  )
})

test('a duration is never shorter than the time that passed, and longer only by a step forward or a crowd of stamps', () => {
  fc.assert(
    fc.property(fc.array(STEPS, { maxLength: 60 }), (steps) => {
      const clock = createStepClock()
      const stamps = createStampClock(clock, 0, 0)
      const first = stamps.next().us
      let passed = 0
      let forward = 0
      let given = 0
      for (const step of steps) {
        if (step.do === 'pass') {
          clock.pass(step.us)
          passed += step.us
        } else if (step.do === 'step') {
          clock.step(step.us)
          forward += Math.max(0, step.us)
        } else given++
      }
      const measured = stamps.next().us - first
      expect(measured).toBeGreaterThanOrEqual(passed)
      expect(measured).toBeLessThanOrEqual(passed + forward + given + 1001)
    }),
  )
})
