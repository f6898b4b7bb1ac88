// The buckets of `every`. Seconds to days without a time zone have one length from the epoch on. Weeks (from Monday),
// months and everything with a time zone follow its calendar (days of 23 or 25 hours): bounds are computed here.

import { NS_PER_S, parseSpan } from '../process/span.ts'
import type { Buckets } from '../store/source.ts'

const UNITS = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800, mo: 30 * 86_400 } as const
type Unit = keyof typeof UNITS

export interface Every {
  readonly count: number
  readonly unit: Unit
}

const [DAY_S, WEEK_DAYS, MONDAY] = [86_400, 7, 4] // 1970-01-05
const MAX_S = 36_500 * DAY_S

/** `10s`, `5m`, `1h`, `1d`, `1w`, `1mo`, up to 36,500 days; undefined for anything else. */
export function parseEvery(text: string): Every | undefined {
  const [, count, unit] = /^([1-9]\d{0,9})(s|m|h|d|w|mo)$/.exec(text) ?? []
  if (count === undefined || unit === undefined) return undefined
  const every = { count: Number(count), unit: unit as Unit }
  return lengthS(every) <= MAX_S ? every : undefined
}

const lengthS = ({ count, unit }: Every): number => count * UNITS[unit]

/** Whether a calendar has such buckets: those of hours end with their day. */
export const fitsDays = (every: Every): boolean => !'smh'.includes(every.unit) || lengthS(every) <= DAY_S

/** About how many buckets a range has. With a time zone each day ends its last bucket: a day has two of `23h`. */
export function countBuckets(every: Every, tz: string | undefined, fromNs: bigint, toNs: bigint): number {
  const length = lengthS(every)
  const endsDaily = tz !== undefined && 'smh'.includes(every.unit)
  return Math.ceil(Number(toNs - fromNs) / 1e9 / (endsDaily ? DAY_S / Math.ceil(DAY_S / length) : length))
}

export function isTimeZone(tz: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: tz }) !== undefined
  } catch {
    return false
  }
}

/** `tz` is one that the runtime knows. */
export function bucketsOf(every: Every, tz: string | undefined, fromNs: bigint, toNs: bigint): Buckets {
  const isCalendar = every.unit === 'w' || every.unit === 'mo'
  if (tz === undefined && !isCalendar) return { everyNs: parseSpan(`${every.count}${every.unit}`)! }
  const [fromS, toS] = [Number(fromNs / NS_PER_S), Number((toNs + NS_PER_S - 1n) / NS_PER_S)]
  const bounds: number[] = []
  for (const atS of boundsFrom(every, tz === undefined ? () => 0 : offsetOf(tz), fromS, toS)) {
    if (atS <= (bounds.at(-1) ?? Number.NEGATIVE_INFINITY)) continue // a day that the zone skipped
    if (atS <= fromS) bounds.length = 0
    bounds.push(atS)
    if (atS >= toS) break
  }
  return { bounds: bounds.map((atS) => BigInt(Math.max(0, atS)) * NS_PER_S) }
}

/** Seconds by which local time is ahead of UTC at a moment. */
type Offset = (atS: number) => number

/** The starts of buckets, in s since the epoch, from one that is not after `fromS` on, without end. */
function* boundsFrom(every: Every, offset: Offset, fromS: number, toS: number): Generator<number> {
  const { count, unit } = every
  const today = Math.floor((fromS + offset(fromS)) / DAY_S)
  const aligned = (n: number) => Math.floor(n / count) * count
  switch (unit) {
    case 'mo': {
      const date = new Date(today * DAY_S * 1000)
      for (let month = aligned((date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth()); ; month += count)
        yield startOfDay(Date.UTC(1970, month) / 1000 / DAY_S, offset)
    }
    case 'w':
      for (let week = aligned(Math.floor((today - MONDAY) / WEEK_DAYS)); ; week += count)
        yield startOfDay(week * WEEK_DAYS + MONDAY, offset)
    case 'd':
      for (let day = aligned(today); ; day += count) yield startOfDay(day, offset)
    default: {
      // from each midnight on, by elapsed time; the last one of a day ends with it
      const length = lengthS(every)
      for (let day = today; ; day++) {
        const [start, end] = [startOfDay(day, offset), startOfDay(day + 1, offset)]
        const skipped = Math.max(0, Math.floor((fromS - start) / length))
        for (let at = start + skipped * length; at < end && at < toS + length; at += length) yield at
      }
    }
  }
}

/** The first moment of a local day (since 1970-01-01): midnight, or the change of the clocks if that skips midnight. */
function startOfDay(day: number, offset: Offset): number {
  const midnight = day * DAY_S
  const earlier = midnight - 2 * DAY_S
  const before = offset(earlier)
  const at = midnight - before
  if (offset(at - 1) === before) return Math.max(at, midnight - offset(at))
  // the clocks changed since: find when
  let [low, high] = [earlier, at - 1]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offset(middle) === before) low = middle
    else high = middle
  }
  return Math.max(high, midnight - offset(high))
}

/** Looked up once a week, and where the clocks change within it: a look-up takes 10 µs or more. */
function offsetOf(tz: string): Offset {
  const lookUp = lookUpOffset(tz)
  const weekly = new Map<number, number>()
  const atWeek = (week: number): number => {
    const known = weekly.get(week) ?? lookUp(week * WEEK_DAYS * DAY_S)
    weekly.set(week, known)
    return known
  }
  return (atS) => {
    const week = Math.floor(atS / (WEEK_DAYS * DAY_S))
    const begin = atWeek(week)
    return begin === atWeek(week + 1) ? begin : lookUp(atS)
  }
}

function lookUpOffset(tz: string): Offset {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: tz,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  return (atS) => {
    const of = Object.fromEntries(format.formatToParts(atS * 1000).map(({ type, value }) => [type, Number(value)]))
    return Date.UTC(of.year!, of.month! - 1, of.day!, of.hour!, of.minute!, of.second!) / 1000 - atS
  }
}
