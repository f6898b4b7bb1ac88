// Keeps long work from holding the event loop: after some thousand steps other work gets its turn. Steps are counted, not timed, so that the same question
// does the same work everywhere; this many take about a millisecond.

const STEPS = 2048

/** `if (pace.spend(n)) await pace.rest()`: an await per step would cost more than the step. */
export function createPace() {
  let spent = 0
  return {
    spend(steps = 1): boolean {
      spent += steps
      return spent >= STEPS
    },
    rest(): Promise<void> {
      spent = 0
      return new Promise((resolve) => setImmediate(resolve))
    },
  }
}
