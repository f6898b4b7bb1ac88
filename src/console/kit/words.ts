// The words for times that sentences about processes use.
import type { Words } from '../../wire/describe-process.ts'
import { formatDuration } from './format-number.ts'
import { formatDay, formatFullDay, formatShortClock } from './format-time.ts'

/** `23:00` today, `24 Nov 23:00` on another day. */
export const shortMoment = (ms: number, nowMs: number): string =>
  formatFullDay(ms) === formatFullDay(nowMs) ? formatShortClock(ms) : `${formatDay(ms)} ${formatShortClock(ms)}`

export const wordsAt = (nowMs: number): Words => ({
  duration: formatDuration,
  moment: (ms) => shortMoment(ms, nowMs),
})
