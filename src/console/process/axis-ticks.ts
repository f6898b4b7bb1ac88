// Where the lines of a chart's grid are: round durations, and days or hours of the reader's zone.
import { formatDay, formatShortClock } from '../kit/format-time.ts'

const [S, M, H, D] = [1_000, 60_000, 3_600_000, 86_400_000]
const DECADES = [1, 2, 5, 10, 20, 50, 100, 200, 500]
const STEPS_MS = [
  ...DECADES.map((n) => n / 1000),
  ...DECADES,
  ...[1, 2, 5, 10, 15, 30].map((n) => n * S),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * M),
  ...[1, 2, 3, 6, 12].map((n) => n * H),
  ...[1, 2, 5, 10, 30].map((n) => n * D),
]
const TICKS_MAX = 4
const HOUR_STEPS = [1, 2, 3, 6, 12]

/** From 0 on, at most `TICKS_MAX` steps; `topMs` is the greatest value. */
export function durationTicks(topMs: number): number[] {
  const step = STEPS_MS.find((ms) => topMs / ms <= TICKS_MAX) ?? topMs
  return Array.from({ length: Math.floor(topMs / step) + 1 }, (_, i) => i * step)
}

interface TimeTick {
  readonly atMs: number
  readonly label: string
}

/** Midnights over more than two days, otherwise hours; about `most` of them. */
export function timeTicks(fromMs: number, toMs: number, most: number): TimeTick[] {
  const lengthMs = toMs - fromMs
  const isLong = lengthMs > 2 * D
  const count = Math.max(2, Math.floor(most))
  const days = Math.max(1, Math.ceil(lengthMs / D / count))
  const hours = HOUR_STEPS.find((n) => lengthMs / (n * H) <= count) ?? 24
  const ticks: TimeTick[] = []
  const at = new Date(fromMs)
  at.setHours(0, 0, 0, 0)
  while (at.getTime() < toMs) {
    const atMs = at.getTime()
    const isMidnight = at.getHours() === 0
    if (atMs > fromMs + lengthMs * 0.02 && atMs < toMs - lengthMs * 0.03)
      ticks.push({ atMs, label: isLong || isMidnight ? formatDay(atMs) : formatShortClock(atMs) })
    if (isLong) at.setDate(at.getDate() + days)
    else at.setHours(at.getHours() + hours)
  }
  return ticks
}
