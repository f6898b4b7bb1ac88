// Formats times for people: in the browser's zone, with the date unless it is today.
import { formatSpan } from '../../wire/span-text.ts'

const FORMATS = {
  clock: { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
  shortClock: { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  day: { day: 'numeric', month: 'short' },
  fullDay: { day: 'numeric', month: 'short', year: 'numeric' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>

const formatters = new Map<string, Intl.DateTimeFormat>()

/** Formatters are cached: creating one takes longer than using it a hundred times. */
function format(name: keyof typeof FORMATS, ms: number): string {
  const held = formatters.get(name) ?? new Intl.DateTimeFormat(undefined, FORMATS[name])
  formatters.set(name, held)
  return held.format(ms)
}

/** `21:52:42` */
export const formatClock = (ms: number): string => format('clock', ms)
/** `21:52` */
export const formatShortClock = (ms: number): string => format('shortClock', ms)
/** `20 Nov` */
export const formatDay = (ms: number): string => format('day', ms)
/** `20 Nov 2026` */
export const formatFullDay = (ms: number): string => format('fullDay', ms)

/** RFC 3339 → ms since the epoch, µs as a fraction: an exception in a run's last millisecond belongs to it. */
export function parseTime(at: string): number {
  const us = /\.\d{3}(\d{3})/.exec(at)?.[1]
  return Date.parse(at) + (us === undefined ? 0 : Number(us) / 1000)
}

/** Further away a day of the year could be one of another year. */
const SAME_YEAR_MS = 300 * 86_400_000

/** `21:52:42` today, `19 Nov 21:52:42` on another day, `19 Nov 2025 21:52:42` most of a year away. */
export function formatMoment(ms: number, nowMs: number): string {
  if (formatFullDay(ms) === formatFullDay(nowMs)) return formatClock(ms)
  return `${Math.abs(nowMs - ms) < SAME_YEAR_MS ? formatDay(ms) : formatFullDay(ms)} ${formatClock(ms)}`
}

/** `just now`, `5 min ago`, `3 h ago`, `12 days ago`: as the sentences about processes say it. */
export function formatAgo(ms: number, nowMs: number): string {
  const agoMs = nowMs - ms
  if (Math.abs(agoMs) < 5_000) return 'just now'
  return agoMs < 0 ? `in ${formatSpan(-agoMs)}` : `${formatSpan(agoMs)} ago`
}

/** The time 1 ns later, as RFC 3339 with nine digits: as `to` it makes a range that holds only this time. */
export function afterNs(at: string): string {
  const [, second = '', digits = ''] = /^(.*?)(?:\.(\d{1,9}))?Z$/i.exec(at) ?? []
  const ns = Number(digits.padEnd(9, '0')) + 1
  if (ns < 1_000_000_000) return `${second}.${String(ns).padStart(9, '0')}Z`
  return new Date(Date.parse(`${second}Z`) + 1000).toISOString().replace(/\.\d+Z$/, '.000000000Z')
}

/** The offset of the browser's zone from UTC at a time, in ms. */
export const zoneOffsetMs = (ms: number): number => -new Date(ms).getTimezoneOffset() * 60_000

/** `UTC`, `GMT+2`, or the zone's name in the browser's language. */
export function zoneName(ms: number): string {
  const parts = new Intl.DateTimeFormat(undefined, { timeZoneName: 'short' }).formatToParts(ms)
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'UTC'
}

/** `datetime-local` has no zone: its text is read and written in the browser's. */
export const writeMoment = (ms: number): string => new Date(ms + zoneOffsetMs(ms)).toISOString().slice(0, 19)
export const readMoment = (text: string): number => Date.parse(text)
