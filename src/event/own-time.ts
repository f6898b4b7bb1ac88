// The time that an event brings along (`at`): its form, how old it may be and how far ahead.
import type { Faults } from './faults.ts'

/** How far ahead of the wall clock an event's own time may lie. */
export const MAX_AHEAD_US = 5 * 60 * 1_000_000

export interface OwnTimes {
  readonly maxAgeUs: number
  wallUs(): number
}

/** µs since the epoch, digits beyond the µs cut; undefined when faulty. */
export function parseOwnTime(at: unknown, { wallUs, maxAgeUs }: OwnTimes, faults: Faults): number | undefined {
  const ns = typeof at === 'string' ? parseRfc3339(at) : undefined
  if (ns === undefined) {
    faults.add('/at', 'must be an RFC 3339 time such as 2026-11-20T21:52:42Z, with at most nine digits of a second')
    return undefined
  }
  const us = Number(ns / 1000n)
  const nowUs = wallUs()
  if (us < nowUs - maxAgeUs) faults.add('/at', `is too long ago: older than MAX_AGE (${inWords(maxAgeUs)})`)
  else if (us > nowUs + MAX_AHEAD_US) faults.add('/at', 'is more than 5 minutes ahead')
  return us
}

/** In the greatest unit that holds it without a rest. */
function inWords(spanUs: number): string {
  const seconds = Math.floor(spanUs / 1_000_000)
  const [unit, suffix] = UNITS.find(([unit]) => seconds % unit === 0)!
  return `${seconds / unit}${suffix}`
}

const UNITS: readonly (readonly [seconds: number, suffix: string])[] = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'm'],
  [1, 's'],
]

// RFC 3339 times of callers, exact to the nanosecond.
const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/

/** Nanoseconds since the epoch; undefined unless RFC 3339 with at most nine digits and no leap second. */
export function parseRfc3339(text: string): bigint | undefined {
  const match = RFC3339.exec(text)
  if (match === null) return undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number)
  const [, , , , , , , fraction = '', sign, offsetHour = '0', offsetMinute = '0'] = match
  if (hour > 23 || minute > 59 || second > 59 || Number(offsetHour) > 23 || Number(offsetMinute) > 59) return undefined
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined
  const offset = (Number(offsetHour) * 60 + Number(offsetMinute)) * (sign === '-' ? -60 : 60)
  const seconds = date.getTime() / 1000 + hour * 3600 + minute * 60 + second - offset
  return BigInt(seconds) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0'))
}
