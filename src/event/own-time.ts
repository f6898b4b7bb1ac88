// The time that an event brings along (`at`): its form, how old it may be and how far ahead.
import type { Faults } from './faults.ts'
import { parseRfc3339 } from './rfc3339.ts'

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
    faults.add('/at', 'must be an RFC 3339 time with at most nine digits of a second')
    return undefined
  }
  const us = Number(ns / 1000n)
  const nowUs = wallUs()
  if (us < nowUs - maxAgeUs) faults.add('/at', 'is too long ago')
  else if (us > nowUs + MAX_AHEAD_US) faults.add('/at', 'is more than 5 minutes ahead')
  return us
}
