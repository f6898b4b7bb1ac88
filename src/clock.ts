// The only reader of time. Everything else is handed a Clock, so that a test can step it.

export interface Clock {
  /** Wall clock, µs since the epoch (ms resolution); may step in either direction. */
  wallUs(): number
  /** Monotonic clock, µs since some fixed moment of this process; never steps. */
  monotonicUs(): number
}

/** Throws an Error for the operator: by a clock that was never set, every event would be refused or buried. */
export function refuseWrongClock({ wallUs }: Clock): void {
  const us = wallUs()
  const [firstUs, endUs] = ['2020-01-01', '2262-01-01'].map((day) => Date.parse(day) * 1000)
  if (us >= firstUs! && us < endUs!) return
  throw new Error(
    `the clock of this machine is wrong: it shows ${toTime(us / 1000)}, which is not between 2020 and 2262; set it, ` +
      'then start again',
  )
}

/** RFC 3339 with milliseconds, from ms since the epoch. */
export const toTime = (ms: number): string => new Date(ms).toISOString()

export const systemClock: Clock = {
  wallUs: () => Date.now() * 1000,
  monotonicUs: () => Bun.nanoseconds() / 1000,
}
