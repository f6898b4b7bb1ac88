// The words for times that sentences about processes use.

import type { Words } from '../../wire/describe-process.ts'
import { formatDuration } from '../../wire/span-text.ts'
import { formatDay, formatFullDay, formatMoment, formatShortClock } from './format-time.ts'

/** `23:00` today, `24 Nov 23:00` on another day. */
export const shortMoment = (ms: number, nowMs: number): string =>
  formatFullDay(ms) === formatFullDay(nowMs) ? formatShortClock(ms) : `${formatDay(ms)} ${formatShortClock(ms)}`

/** When something is expected: `about 03:16`, or `due now` from then on. */
export const expectedMoment = (ms: number, nowMs: number): string =>
  ms <= nowMs ? 'due now' : `about ${shortMoment(ms, nowMs)}`

/** Times of the server's texts, such as `2026-11-21 03:10 UTC`, in the reader's zone; with seconds if they have them. */
export const inReadersZone = (text: string, nowMs: number): string =>
  text.replace(/(\d{4}-\d\d-\d\d) (\d\d:\d\d)(:\d\d)? UTC/g, (_, day, time, seconds = '') =>
    (seconds === '' ? shortMoment : formatMoment)(Date.parse(`${day}T${time}${seconds}Z`), nowMs),
  )

/** No line ends between a number and its unit. */
const unbroken = (text: string): string => text.replaceAll(' ', '\u00a0')

export const wordsAt = (nowMs: number): Words => ({
  duration: (ms) => unbroken(formatDuration(ms)),
  moment: (ms) => shortMoment(ms, nowMs),
})
