// The words for times that sentences about processes use.
import type { Words } from '../../wire/describe-process.ts'
import { formatDuration } from './format-number.ts'
import { formatDay, formatFullDay, formatShortClock } from './format-time.ts'

/** `23:00` today, `24 Nov 23:00` on another day. */
export const shortMoment = (ms: number, nowMs: number): string =>
  formatFullDay(ms) === formatFullDay(nowMs) ? formatShortClock(ms) : `${formatDay(ms)} ${formatShortClock(ms)}`

/** No line ends between a number and its unit. */
const unbroken = (text: string): string => text.replaceAll(' ', '\u00a0')

export const wordsAt = (nowMs: number): Words => ({
  duration: (ms) => unbroken(formatDuration(ms)),
  moment: (ms) => shortMoment(ms, nowMs),
})
