// Times for events, in µs since the epoch. Each is later than the one before, so that time and content identify an
// event and a retry of it is stored once. Durations follow the monotonic clock; only a wall clock that jumps far
// (sleep, NTP) moves the anchor.

const AHEAD_US = 100_000
const BEHIND_US = 60_000_000

export function createEventTimes(): () => string {
  let offsetUs = performance.timeOrigin * 1000
  let lastUs = 0
  return () => {
    const monotonicUs = performance.now() * 1000
    const jumpUs = Date.now() * 1000 - monotonicUs - offsetUs
    if (jumpUs > AHEAD_US || jumpUs < -BEHIND_US) {
      offsetUs += jumpUs
      if (jumpUs < 0) lastUs = 0
    }
    lastUs = Math.max(lastUs + 1, Math.floor(monotonicUs + offsetUs))
    return formatUs(lastUs)
  }
}

/** RFC 3339 with six digits, from µs since the epoch. */
export function formatUs(us: number): string {
  const whole = Math.round(us)
  const ms = Math.floor(whole / 1000)
  return `${new Date(ms).toISOString().slice(0, -1)}${String(whole - ms * 1000).padStart(3, '0')}Z`
}

export const nowUs = (): number => Date.now() * 1000

export const monotonicMs = (): number => performance.now()
