// The range of time that a view is of: relative to now (`from=-6h`), so that it moves on, or fixed (`from` and `to` in RFC 3339).
import { formatClock, formatFullDay, formatMoment } from './format-time.ts'

export interface TimeRange {
  readonly fromMs: number
  readonly toMs: number
  /** Reaches to now and moves with it. */
  readonly isLive: boolean
  /** As the API takes them. */
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

/** The shortest preset that reaches so far back, with a tenth to spare; `-30d` beyond it. */
export const presetFor = (agoMs: number): string =>
  PRESETS.find(({ from }) => parseAgo(from)! >= agoMs * 1.1)?.from ?? '-30d'

const UNIT_MS: Readonly<Record<string, number>> = { s: 1e3, m: 60e3, h: 3600e3, d: 86_400e3, w: 604_800e3 }
const SHORTEST_MS = 1
const SECOND_MS = 1_000

/** What the address says; what it says wrongly counts as not said. */
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

/** A fixed range as the address holds it. */
export function fixRange(fromMs: number, toMs: number): { from: string; to: string } {
  const from = Math.floor(fromMs)
  return {
    from: new Date(from).toISOString(),
    to: new Date(Math.max(from + SHORTEST_MS, Math.ceil(toMs))).toISOString(),
  }
}

/** `20 Nov 21:00:00 – 22:00:00`; undefined for one that moves with now. */
export function describeRange({ fromMs, toMs, isLive }: TimeRange, nowMs: number): string | undefined {
  if (isLive) return undefined
  const end = formatFullDay(fromMs) === formatFullDay(toMs) ? formatClock(toMs) : formatMoment(toMs, nowMs)
  return `${formatMoment(fromMs, nowMs)} – ${end}`
}

const STEPS = ['1s', '5s', '10s', '30s', '1m', '5m', '10m', '30m', '1h', '3h', '6h', '12h', '1d', '7d', '30d'] as const

/** The shortest length of a bucket of which a range has at most `max`. */
export const chooseEvery = ({ fromMs, toMs }: TimeRange, max: number): string =>
  STEPS.find((step) => (toMs - fromMs) / everyMs(step) <= max) ?? '365d'

/** `5m` in ms. */
export const everyMs = (every: string): number => parseAgo(`-${every}`)!

const UNITS: Readonly<Record<string, string>> = { s: 'second', m: 'minute', h: 'hour', d: 'day' }

/** `30-minute buckets`. */
export const describeEvery = (every: string): string =>
  `${every.slice(0, -1)}-${UNITS[every.slice(-1)] ?? every} buckets`

/** A live range of this length, as the address holds it: a preset where one fits, else `-5400s`. */
export function liveFrom(lengthMs: number): string {
  const preset = PRESETS.find(({ from }) => Math.abs(parseAgo(from)! - lengthMs) < SECOND_MS)
  const seconds = Math.max(1, Math.round(lengthMs / SECOND_MS))
  return preset?.from ?? (seconds < 1e6 ? `-${seconds}s` : `-${Math.round(seconds / 60)}m`)
}

/** Every bucket of a range, aligned as the server aligns them (to the epoch). */
export function bucketsOf({ fromMs, toMs }: TimeRange, every: string): number[] {
  const step = everyMs(every)
  const buckets: number[] = []
  for (let at = Math.floor(fromMs / step) * step; at < toMs; at += step) buckets.push(at)
  return buckets
}
