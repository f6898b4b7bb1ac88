// How often something starts, and from when on it counts as silent. Pure.
//
//   usual    the median gap between its newest 60 starts (needs 5 gaps, and starts that lie an hour apart: six tries by
//            hand, or a burst of a queue, are no rhythm)
//   next     the usual gap after its last start; of a job that starts at most hourly the pause that followed a week
//            before, if that was longer: a job of weekdays is not due on Saturday
//   longest  its longest gap: between these starts, and before them between hours of the last 40 days with a start,
//            so that a job of every few minutes keeps its nights and weekends
//   silent   after twice the longest gap; if it starts steadily (no gap is longer than 1.25 times the usual one) after
//            the longest gap and an hour or a tenth of it, whichever is more, and never later than twice the longest
//
// A steady start that failed to come once in twenty times and three weeks is no habit: that one gap does not count.
// Starts within a hundredth of the longest gap are one start: two workers that begin an hourly job are no rhythm of ms.
import { quantile } from './quantile.ts'

/** Starts that are read per process and meta. */
export const RHYTHM_STARTS = 60
const FEWEST_GAPS = 5
const STEADY = 1.25
const HOUR_MS = 3_600_000
const LEAST_KNOWN_MS = HOUR_MS
const SLACK_MS = HOUR_MS
/** A habit shows within this many gaps and this time. */
const HABIT_GAPS = 20
const HABIT_MS = 21 * 24 * HOUR_MS
/** Twice 3 ms is no silence. */
const LEAST_MS = 60_000

export interface Rhythm {
  /** The usual gap. */
  readonly everyMs: number
  readonly nextMs: number
  /** Silent from then on. */
  readonly lateMs: number
}

/**
 * undefined below 5 gaps, and while all starts are known to lie within an hour. `starts`: the newest `RHYTHM_STARTS`,
 * ms, newest first. `hours`: the beginnings of hours that hold a start, ms, in any order.
 */
export function findRhythm(starts: readonly number[], hours: readonly number[] = []): Rhythm | undefined {
  const last = starts[0]
  const apart = withoutTwins(starts)
  const near = gapsOf(apart)
  if (last === undefined || near.length < FEWEST_GAPS) return undefined
  const everyMs = quantile(near, 0.5)
  const first = apart.at(-1)!
  const firstHour = Math.floor(first / HOUR_MS) * HOUR_MS
  const earlier = [...new Set(hours)].filter((hour) => hour < firstHour).sort((a, b) => b - a)
  // of two hours only this much is certain: a start at the end of one and a start at the beginning of the other
  const far = gapsOf([firstHour, ...earlier]).map((gap) => gap - HOUR_MS)
  const oldest = earlier.at(-1) ?? first
  if (last - Math.min(first, oldest + HOUR_MS) < LEAST_KNOWN_MS) return undefined
  const pauses = gapsOf(starts).filter((gap) => gap > leastGapOf(starts))
  const gaps = [...pauses, ...far]
  const steady = gaps.filter((gap) => gap <= STEADY * everyMs)
  const odd = gaps.length - steady.length
  const isKnownWell = steady.length >= HABIT_GAPS && last - oldest >= HABIT_MS
  const isSteady = odd === 0 || (odd === 1 && isKnownWell)
  const longest = Math.max(...(isSteady ? steady : gaps))
  const slack = isSteady ? Math.min(longest, Math.max(SLACK_MS, longest / 10)) : longest
  return {
    everyMs,
    nextMs: last + pauseAfter(last, everyMs, [...starts, ...hours]),
    lateMs: last + Math.max(longest + slack, everyMs + LEAST_MS),
  }
}

const WEEK_MS = 7 * 24 * HOUR_MS
const PAUSE = 1.5

/** The usual gap, or the pause of the week before. */
function pauseAfter(last: number, everyMs: number, at: readonly number[]): number {
  if (everyMs < HOUR_MS) return everyMs // within an hour nothing is known of a week ago
  const hourOf = (ms: number) => Math.floor(ms / HOUR_MS) * HOUR_MS
  const hours = new Set(at.map(hourOf))
  const weekAgo = hourOf(last) - WEEK_MS
  const before = [weekAgo, weekAgo - HOUR_MS, weekAgo + HOUR_MS].find((hour) => hours.has(hour))
  if (before === undefined) return everyMs
  const gap = Math.min(...[...hours].filter((hour) => hour > before)) - before
  return gap > PAUSE * everyMs ? gap : everyMs
}

const TWIN = 0.01
const leastGapOf = (newestFirst: readonly number[]): number => TWIN * Math.max(0, ...gapsOf(newestFirst))

function withoutTwins(newestFirst: readonly number[]): number[] {
  const leastMs = leastGapOf(newestFirst)
  let kept = Number.POSITIVE_INFINITY
  return newestFirst.filter((at) => {
    if (kept - at <= leastMs) return false
    kept = at
    return true
  })
}

const gapsOf = (newestFirst: readonly number[]): number[] => newestFirst.slice(1).map((at, i) => newestFirst[i]! - at)
