// A clock that a test moves: time passes for both of its readings, a step moves the wall alone.
import { type Clock, systemClock } from '../../src/clock.ts'

export interface StepClock extends Clock {
  pass(us: number): void
  /** Moves the wall clock, as an administrator or NTP does; negative = back. */
  step(us: number): void
}

export function createStepClock(wallUs = 1_790_000_000_000_000): StepClock {
  let wall = wallUs
  let monotonic = 5_000_000
  return {
    wallUs: () => Math.floor(wall / 1000) * 1000, // ms resolution, as the system's
    monotonicUs: () => monotonic,
    pass(us) {
      wall += us
      monotonic += us
    },
    step(us) {
      wall += us
    },
  }
}

/** Shows the system's time, moved by what a test says. */
export function createRunningClock(): StepClock {
  let passed = 0
  let stepped = 0
  return {
    wallUs: () => systemClock.wallUs() + passed + stepped,
    monotonicUs: () => systemClock.monotonicUs() + passed,
    pass(us) {
      passed += us
    },
    step(us) {
      stepped += us
    },
  }
}
