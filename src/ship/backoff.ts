// The pause before the next retry: full jitter (a random share of a doubling ceiling) spreads senders over time when a
// store recovers. Stint uses non-cryptographic random numbers only here.
const FIRST_MS = 100

export function createBackoff(random: () => number = Math.random) {
  let ceilingMs = FIRST_MS
  return {
    /** The next pause in ms: a random part of 100 ms · 2ⁿ, the ceiling never above `capMs`. */
    nextMs(capMs: number): number {
      const pauseMs = Math.ceil(random() * Math.min(ceilingMs, capMs))
      ceilingMs = Math.min(ceilingMs * 2, capMs)
      return pauseMs
    },
    /** Something worked: the next pause is a short one again. */
    reset(): void {
      ceilingMs = FIRST_MS
    },
  }
}

/** Resolves after `ms`, or at once when the signal aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}
