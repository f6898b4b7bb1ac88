import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { systemClock } from '../../src/clock.ts'
import { createStampClock } from '../../src/event/stamp-clock.ts'
import { createStepClock } from '../support/step-clock.ts'

const HOUR_US = 3_600_000_000
const MINUTE_US = 60_000_000
const SECOND_US = 1_000_000

/** A clock, and the stamps of a node that has given none before. */
function begin(nodeId = 0) {
  const clock = createStepClock()
  return { clock, stamps: createStampClock(clock, nodeId, 0) }
}

test('stamps follow the wall clock when nothing steps', () => {
  const { clock, stamps } = begin()
  expect(stamps.next().us).toBe(clock.wallUs())
  clock.pass(10 * SECOND_US)
  expect(stamps.next().us).toBe(clock.wallUs())
  expect(stamps.leadUs()).toBe(0)
})

test('a node uses its own even digits (lane 0)', () => {
  for (const nodeId of [0, 21, 249]) expect(begin(nodeId).stamps.next().sub).toBe(4 * nodeId)
})

test('stamps of the same moment are a µs apart', () => {
  const { stamps } = begin()
  const first = stamps.next().us
  expect([stamps.next().us, stamps.next().us, stamps.next().us]).toEqual([first + 1, first + 2, first + 3])
})

test('a ten-second job measures ten seconds although the wall clock goes back a minute in between', () => {
  const { clock, stamps } = begin()
  const start = stamps.next().us
  clock.pass(4 * SECOND_US)
  clock.step(-MINUTE_US)
  clock.pass(6 * SECOND_US)
  expect(stamps.next().us - start).toBe(10 * SECOND_US)
  expect(stamps.leadUs()).toBe(MINUTE_US)
})

test('the lead after a step back shrinks by a hundredth of the time that passes, and is gone at once when the wall clock catches up', () => {
  const { clock, stamps } = begin()
  clock.step(-MINUTE_US)
  stamps.next()
  for (let s = 0; s < 1000; s++) {
    const { us } = stamps.next()
    clock.pass(SECOND_US)
    expect(stamps.next().us - us).toBeWithin(0.98 * SECOND_US, SECOND_US)
  }
  expect(stamps.leadUs()).toBeWithin(49 * SECOND_US, 51 * SECOND_US)
  for (let s = 0; s < 5100; s++) {
    clock.pass(SECOND_US)
    stamps.next()
  }
  expect(stamps.leadUs()).toBeWithin(0, 5001)
  clock.step(-MINUTE_US)
  stamps.next()
  clock.step(MINUTE_US)
  expect(stamps.leadUs()).toBeWithin(0, 5001)
})

test.each([1, 2, 3, 4])('a pause after the reading %d of a clock puts no stamp ahead of the wall clock', (nth) => {
  const clock = createStepClock()
  let left = nth
  const read = (get: () => number) => () => {
    const us = get()
    if (--left === 0) clock.pass(45 * SECOND_US)
    return us
  }
  const paused = { wallUs: read(clock.wallUs), monotonicUs: read(clock.monotonicUs) }
  const stamps = createStampClock(paused, 0, 0)
  for (let i = 0; i < 3; i++) {
    expect(stamps.next().us).toBeLessThanOrEqual(clock.wallUs() + 10)
    clock.pass(SECOND_US)
  }
  expect(stamps.leadUs()).toBe(0)
})

test('follows a wall clock that is set forward', () => {
  const { clock, stamps } = begin()
  stamps.next()
  clock.step(HOUR_US)
  expect(stamps.next().us).toBe(clock.wallUs())
})

test('follows a wall clock that is set forward by a few milliseconds', () => {
  const { clock, stamps } = begin()
  const start = stamps.next().us
  clock.step(3000)
  clock.pass(SECOND_US)
  expect(stamps.next().us - start).toBe(SECOND_US + 3000)
  clock.step(-3000)
  clock.pass(SECOND_US)
  expect(stamps.next().us - start).toBe(2 * SECOND_US + 3000)
})

test('an end at another node of this machine, 50 µs after its start, is never before it', () => {
  const nodes = Array.from({ length: 20 }, (_, nodeId) => {
    pause(nodeId * 50) // the wall clock shows whole milliseconds: each begins at another part of one
    return createStampClock(systemClock, nodeId, 0)
  })
  let early = 0
  for (const one of nodes)
    for (const other of nodes) {
      const start = one.next().us
      pause(50)
      if (other.next().us <= start) early++
    }
  expect(early).toBe(0)
})

/** Busy, for timers are too coarse. */
function pause(us: number): void {
  const untilUs = systemClock.monotonicUs() + us
  while (systemClock.monotonicUs() < untilUs);
}

test('the first stamp after a restart is later than all earlier ones, also when the wall clock went back', () => {
  const { clock, stamps: before } = begin()
  clock.pass(SECOND_US)
  const newest = before.next().us
  clock.step(-MINUTE_US)
  const after = createStampClock(clock, 0, newest)
  const first = after.next().us
  expect(first).toBe(newest + 1)
  clock.pass(10 * SECOND_US)
  expect(after.next().us).toBe(newest + 9.9 * SECOND_US) // it leads, so it runs at 99 %
})

test('now() is not earlier than any stamp and uses up no stamp', () => {
  const { stamps } = begin()
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

test('stamps increase over any steps of the clock and any restarts', () => {
  fc.assert(
    fc.property(fc.array(STEPS, { maxLength: 60 }), (steps) => {
      const clock = createStepClock()
      let floorUs = 0
      let stamps = createStampClock(clock, 0, floorUs)
      for (const step of steps) {
        if (step.do === 'pass') clock.pass(step.us)
        else if (step.do === 'step') clock.step(step.us)
        else if (step.do === 'restart') stamps = createStampClock(clock, 0, floorUs)
        else {
          const { us } = stamps.next()
          expect(us).toBeGreaterThan(floorUs)
          expect(Number.isSafeInteger(us)).toBe(true)
          floorUs = us
        }
      }
    }),
  )
})

test('a wall clock that was an hour ahead is waited for, over restarts as well', () => {
  const { clock, stamps } = begin()
  clock.step(HOUR_US)
  const ahead = stamps.next().us
  clock.step(-HOUR_US)
  clock.pass(5 * SECOND_US)
  expect(stamps.next().us).toBe(ahead + 5 * SECOND_US)
  const after = createStampClock(clock, 0, ahead + 5 * SECOND_US)
  expect(after.next().us).toBe(ahead + 5 * SECOND_US + 1)
  clock.pass(2 * HOUR_US)
  clock.step(HOUR_US)
  expect(after.next().us).toBe(clock.wallUs())
  expect(after.leadUs()).toBe(0)
})

const MOSTLY_FORWARD = fc.oneof(
  fc.record({ do: fc.constant('stamp' as const) }),
  fc.record({ do: fc.constant('pass' as const), us: fc.nat(20 * SECOND_US) }),
  fc.record({ do: fc.constant('step' as const), us: fc.integer({ min: -900_000, max: HOUR_US }) }),
)

test('a duration is never shorter than the time that passed, and longer only by a step forward or a crowd of stamps', () => {
  fc.assert(
    fc.property(fc.array(MOSTLY_FORWARD, { maxLength: 60 }), (steps) => {
      const { clock, stamps } = begin()
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
