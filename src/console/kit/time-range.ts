// The time range of a view: relative to now (`from=-6h`), so that it moves with the clock, or fixed (`from` and `to` in
// RFC 3339).
import { formatSpan } from '../../wire/span-text.ts'
import { formatMoment } from './format-time.ts'

export interface TimeRange {
  readonly fromMs: number
  readonly toMs: number
  /** Ends now and moves with the clock. */
  readonly isLive: boolean
  /** The API's parameters. */
  readonly query: { readonly from: string; readonly to?: string }
}

export const PRESETS = [
  { from: '-15m', label: '15 min' },
  { from: '-1h', label: '1 hour' },
  { from: '-6h', label: '6 hours' },
  { from: '-24h', label: '24 hours' },
  { from: '-7d', label: '7 days' },
  { from: '-30d', label: '30 days' },
] as const

/** The shortest preset that reaches back at least 1.1 × `agoMs`; `-30d` if none does. */
export const presetFor = (agoMs: number): string =>
  PRESETS.find(({ from }) => parseAgo(from)! >= agoMs * 1.1)?.from ?? '-30d'

const UNIT_MS: Readonly<Record<string, number>> = { s: 1e3, m: 60e3, h: 3600e3, d: 86_400e3, w: 604_800e3 }
const SHORTEST_MS = 1
const SECOND_MS = 1_000

/** Reads the range from the URL. Invalid values count as absent. */
export function readRange(params: URLSearchParams, nowMs: number, fallback = '-1h'): TimeRange {
  const [from, to] = [params.get('from'), params.get('to')]
  const [fromMs, toMs] = [Date.parse(from ?? ''), Date.parse(to ?? '')]
  if (from !== null && to !== null && fromMs < toMs) return { fromMs, toMs, isLive: false, query: { from, to } }
  const agoMs = parseAgo(from ?? '')
  if (agoMs !== undefined && from !== null) return { fromMs: nowMs - agoMs, toMs: nowMs, isLive: true, query: { from } }
  return { fromMs: nowMs - parseAgo(fallback)!, toMs: nowMs, isLive: true, query: { from: fallback } }
}

function parseAgo(text: string): number | undefined {
  const [, count, unit = ''] = /^-(\d{1,6})([smhdw])$/.exec(text) ?? []
  const ms = Number(count) * (UNIT_MS[unit] ?? Number.NaN)
  return ms > 0 ? ms : undefined
}

/** The URL parameters of a fixed range. */
export function fixRange(fromMs: number, toMs: number): { from: string; to: string } {
  const from = Math.floor(fromMs)
  return {
    from: new Date(from).toISOString(),
    to: new Date(Math.max(from + SHORTEST_MS, Math.ceil(toMs))).toISOString(),
  }
}

const MONTH_MS = 30 * 86_400_000

/** The month before a moment, and what is over of the one after it. */
export const monthsAround = (ms: number, nowMs: number) =>
  fixRange(ms - MONTH_MS, Math.min(ms + MONTH_MS, Math.max(ms + 1, nowMs)))

/** `20 Nov 21:00:00 – 22:00:00`, with the second day if it is another; undefined for a live range. */
export function describeRange({ fromMs, toMs, isLive }: TimeRange, nowMs: number): string | undefined {
  if (isLive) return undefined
  return `${formatMoment(fromMs, nowMs)} – ${formatMoment(toMs, fromMs)}`
}

/** `24 hours`, as its preset is called, or `90 min`. */
export const describeLive = ({ fromMs, toMs, query }: TimeRange): string =>
  PRESETS.find(({ from }) => from === query.from)?.label ?? formatSpan(toMs - fromMs)

const STEPS = ['1s', '5s', '10s', '30s', '1m', '5m', '10m', '30m', '1h', '3h', '6h', '12h', '1d', '7d', '30d'] as const

/** The shortest bucket length that divides a range into at most `max` buckets. */
export const chooseEvery = ({ fromMs, toMs }: TimeRange, max: number): string =>
  STEPS.find((step) => (toMs - fromMs) / everyMs(step) <= max) ?? '365d'

/** `5m` in ms. */
export const everyMs = (every: string): number => parseAgo(`-${every}`)!

const UNITS: Readonly<Record<string, string>> = { s: 'second', m: 'minute', h: 'hour', d: 'day' }

/** `30-minute buckets`. */
export const describeEvery = (every: string): string =>
  `${every.slice(0, -1)}-${UNITS[every.slice(-1)] ?? every} buckets`

/** The `from` parameter of a live range of this length: a matching preset, otherwise such as `-5400s`. */
export function liveFrom(lengthMs: number): string {
  const preset = PRESETS.find(({ from }) => Math.abs(parseAgo(from)! - lengthMs) < SECOND_MS)
  const seconds = Math.max(1, Math.round(lengthMs / SECOND_MS))
  return preset?.from ?? (seconds < 1e6 ? `-${seconds}s` : `-${Math.round(seconds / 60)}m`)
}

const DAY_MS = 86_400_000

export const isByDay = (every: string): boolean => every.endsWith('d')

/** Asks for buckets of this length; those of days are the reader's. */
export const inZone = (every: string): { readonly every: string; readonly tz?: string } =>
  isByDay(every) ? { every, tz: Intl.DateTimeFormat().resolvedOptions().timeZone } : { every }

/** The start of every bucket in a range, as the server has them: aligned to the epoch, days to the reader's zone. */
export function bucketsOf({ fromMs, toMs }: Pick<TimeRange, 'fromMs' | 'toMs'>, every: string): number[] {
  const step = everyMs(every)
  const buckets: number[] = []
  if (!isByDay(every)) {
    for (let at = Math.floor(fromMs / step) * step; at < toMs; at += step) buckets.push(at)
    return buckets
  }
  const days = step / DAY_MS
  const first = Math.floor(dayOf(fromMs) / days) * days
  for (let day = first; startOfDay(day) < toMs; day += days) buckets.push(startOfDay(day))
  return buckets
}

/** Whether the last bucket is not over. */
export const isBucketOpen = (atMs: readonly number[], every: string, nowMs: number): boolean => {
  const last = atMs.at(-1)
  return (
    last !== undefined &&
    last <= nowMs &&
    nowMs < (bucketsOf({ fromMs: last, toMs: last + 2 * everyMs(every) }, every)[1] ?? 0)
  )
}

/** The local day, counted from 1970-01-01. */
function dayOf(ms: number): number {
  const at = new Date(ms)
  return Date.UTC(at.getFullYear(), at.getMonth(), at.getDate()) / DAY_MS
}

function startOfDay(day: number): number {
  const at = new Date(day * DAY_MS)
  return new Date(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()).getTime()
}
