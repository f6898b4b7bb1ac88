// The time an event brings along (`at`): how old and how far ahead it may be.
import { parseRfc3339 } from './rfc3339.ts'

/** How far ahead of the wall clock an event's own time may lie. */
export const MAX_AHEAD_US = 5 * 60 * 1_000_000

/** µs since the epoch, digits beyond the µs cut. The text must have passed the check of its format. */
export const ownTimeUs = (at: string): number => Number(parseRfc3339(at)! / 1000n)

/** What is wrong with a time, judged by the wall clock; undefined when it may stand. */
export function ownTimeFault(us: number, wallUs: number, maxAgeUs: number): string | undefined {
  if (us < wallUs - maxAgeUs) return 'is too long ago'
  return us > wallUs + MAX_AHEAD_US ? 'is more than 5 minutes ahead' : undefined
}
