// Keeps long work from blocking the event loop: yields after some thousand steps, about a millisecond. Steps are
// counted, not timed, so that a question does the same work on every machine.

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
