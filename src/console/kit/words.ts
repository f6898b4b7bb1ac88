// The words for times that sentences about processes use.

import type { Words } from '../../wire/describe-process.ts'
import type { OverviewProcess } from '../../wire/overview.ts'
import { missedText } from '../../wire/words.ts'
import { formatDuration, formatTimes } from './format-number.ts'
import { formatDay, formatFullDay, formatMoment, formatShortClock, parseTime } from './format-time.ts'

type Expected = Pick<OverviewProcess, 'next_start_at' | 'late_at' | 'every_s' | 'state'>

/** `23:00` today, `24 Nov 23:00` on another day. */
export const shortMoment = (ms: number, nowMs: number): string =>
  formatFullDay(ms) === formatFullDay(nowMs) ? formatShortClock(ms) : `${formatDay(ms)} ${formatShortClock(ms)}`

/** `due now` lasts this part of the time between due and late, or of the usual gap if that is shorter. */
const DUE_NOW = 0.1

/**
 * `about 03:16` behind `before`, `due now` for a while, then `late from 04:40`; of one that did
 * not come `missed; was due 03:16`, or `late since 04:40` if only a watch expected it. Undefined: nothing can be said.
 */
export function describeNext(
  { next_start_at: next, late_at: late, every_s: everyS, state }: Expected,
  nowMs: number,
  before = '',
) {
  if (next === null && late === null) return undefined
  const [ms, lateMs] = [next === null ? Infinity : parseTime(next), late === null ? Infinity : parseTime(late)]
  const at = (ms: number) => shortMoment(ms, nowMs)
  const isRunning = state === 'running' || state === 'overdue'
  if (isRunning && ms <= nowMs) return undefined // the next start may wait for it
  const isLate = state === 'silent' || (lateMs < nowMs && !isRunning)
  const text = (): string => {
    if (isLate && ms <= nowMs) return missedText(at(ms))
    if (isLate) return lateMs < nowMs ? `late since ${at(lateMs)}` : 'late'
    if (nowMs < ms && next !== null) return `${before}about ${at(ms)}`
    const waitMs = Math.min(lateMs - ms, everyS === null ? Infinity : everyS * 1000)
    const isDue = next !== null && nowMs - ms <= DUE_NOW * waitMs
    return isDue || lateMs <= nowMs ? 'due now' : `late from ${at(lateMs)}`
  }
  return { text: text(), isLate }
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
