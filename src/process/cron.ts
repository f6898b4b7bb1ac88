// Cron expressions: what they mean is cron-expression.ts, when they are due is croner. Croner applies daylight saving,
// except that it repeats fixed hours: here the second occurrence of a local hour is due only if the hour or the minute
// begins with `*`, as in Debian's cron and cronie.
import { Cron } from 'croner'
import { readCron } from './cron-expression.ts'

const REMEMBERED = 16
/** A transition that repeats local times lies within this time before the second ones. */
const TRANSITION_MS = 3 * 3600e3

export type Schedule = ReturnType<typeof createSchedule>

/** Throws an Error that names the fault of the expression or the time zone. */
export function createSchedule(expression: string, timeZone: string) {
  const offsetAt = createOffset(timeZone) // croner reports an invalid zone only when it computes a time
  const { pattern, areDaysJoined, isRepeated } = readCron(expression)
  const options = { timezone: timeZone, mode: '5-or-6-parts', domAndDow: areDaysJoined, paused: true } as const
  const cron = new Cron(pattern, options)
  const isDue = (date: Date) => isRepeated || !isSecond(date.getTime(), offsetAt)
  const toUs = (date: Date | null | undefined) => (date ? date.getTime() * 1000 : undefined)
  // croner takes 0.1 ms per answer, and the same times are asked for repeatedly
  const stretches: { fromUs: number; nextUs: number }[] = []
  const previous = new Map<number, number | undefined>()
  return {
    /** The first due time after `us`, in µs; undefined after the last one. */
    nextUs(us: number): number | undefined {
      const known = stretches.find(({ fromUs, nextUs }) => fromUs <= us && us < nextUs)
      if (known !== undefined) return known.nextUs
      // in whole seconds; croner never returns the given time itself
      let date = cron.nextRun(new Date(Math.floor(us / 1e6) * 1000))
      while (date !== null && !isDue(date)) date = cron.nextRun(date)
      const nextUs = toUs(date)
      if (nextUs !== undefined) stretches.unshift({ fromUs: us, nextUs })
      stretches.splice(REMEMBERED)
      return nextUs
    },
    /** The last due time before `us`, in µs. */
    previousUs(us: number): number | undefined {
      if (previous.has(us)) return previous.get(us)
      let date = cron.previousRuns(1, new Date(Math.ceil(us / 1e6) * 1000))[0]
      while (date !== undefined && !isDue(date)) date = cron.previousRuns(1, date)[0]
      const previousUs = toUs(date)
      if (previous.size >= REMEMBERED) previous.clear()
      previous.set(us, previousUs)
      return previousUs
    },
  }
}

/** The difference of local time and UTC, in ms. */
function createOffset(timeZone: string): (ms: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    ...({ timeZone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' } as const),
    ...({ hour: 'numeric', minute: 'numeric', second: 'numeric' } as const),
  })
  return (ms) => {
    const parts = format.formatToParts(ms)
    const of = (name: string) => Number(parts.find(({ type }) => type === name)?.value)
    return Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second')) - ms
  }
}

/** The local time of this moment was there before, because the clocks were set back in between. */
function isSecond(ms: number, offsetAt: (ms: number) => number): boolean {
  const offset = offsetAt(ms)
  const backMs = offsetAt(ms - TRANSITION_MS) - offset
  return backMs > 0 && offsetAt(ms - backMs) - offset === backMs
}

/** RFC 3339; null without an expression, and after its last time. */
export function nextDueOf(due: { cron?: string; tz?: string } | null, nowUs: number): string | null {
  if (due?.cron === undefined) return null
  const us = createSchedule(due.cron, due.tz ?? 'UTC').nextUs(nowUs)
  return us === undefined ? null : new Date(us / 1000).toISOString()
}
