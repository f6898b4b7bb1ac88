// The only reader of time. Everything else is handed a Clock, so that a test can step it.

export interface Clock {
  /** Wall clock, µs since the epoch (ms resolution); may step in either direction. */
  wallUs(): number
  /** Monotonic clock, µs since some fixed moment of this process; never steps. */
  monotonicUs(): number
}

/** RFC 3339 with milliseconds, from ms since the epoch. */
export const toTime = (ms: number): string => new Date(ms).toISOString()

export const systemClock: Clock = {
  wallUs: () => Date.now() * 1000,
  monotonicUs: () => Bun.nanoseconds() / 1000,
}
