// The words for times that sentences about processes use.

import type { Words } from '../../wire/describe-process.ts'
import { formatDuration, formatTimes } from './format-number.ts'
import { formatDay, formatFullDay, formatMoment, formatShortClock } from './format-time.ts'

/** `23:00` today, `24 Nov 23:00` on another day. */
export const shortMoment = (ms: number, nowMs: number): string =>
  formatFullDay(ms) === formatFullDay(nowMs) ? formatShortClock(ms) : `${formatDay(ms)} ${formatShortClock(ms)}`

/** Of the time between when it is due and when it is late. */
const DUE_NOW = 0.1

/** When something is expected: `about 03:16`, `due now` for a tenth of the time until it is late, then `by 04:40`. */
export function expectedMoment(ms: number, lateMs: number | undefined, nowMs: number): string {
  if (nowMs < ms) return `about ${shortMoment(ms, nowMs)}`
  const isStillDue = lateMs === undefined || nowMs - ms <= DUE_NOW * (lateMs - ms) || nowMs >= lateMs
  return isStillDue ? 'due now' : `by ${shortMoment(lateMs, nowMs)}`
}

/** Times of the server's texts, such as `2026-11-21 03:10 UTC`, in the reader's zone; with seconds if they have any. */
export const inReadersZone = (text: string, nowMs: number): string =>
  text.replace(/(\d{4}-\d\d-\d\d) (\d\d:\d\d)(:\d\d)? UTC/g, (_, day, time, seconds = '') =>
    (seconds === '' ? shortMoment : formatMoment)(Date.parse(`${day}T${time}${seconds}Z`), nowMs),
  )

/** No line ends between a number and its unit. */
const unbroken = (text: string): string => text.replaceAll(' ', '\u00a0')

export const wordsAt = (nowMs: number): Words => ({
  duration: (ms) => unbroken(formatDuration(ms)),
  moment: (ms) => shortMoment(ms, nowMs),
  times: formatTimes,
})
