// A moment on the command line: local time, RFC 3339, or a span from now.
import { systemClock } from '../clock.ts'
import { parseSpanS } from './exec/parse-exec-call.ts'
import { parseLocalTime } from './format-time.ts'
import { invalidArgument } from './program.ts'

/** RFC 3339. */
export function parseMoment(text: string): string {
  const seconds = /^[1-9]\d*[smhd]$/.test(text) ? parseSpanS(text) : undefined
  const time = seconds === undefined ? parseLocalTime(text) : new Date(systemClock.wallUs() / 1000 + seconds * 1000)
  if (time instanceof Date && !Number.isNaN(time.getTime())) return time.toISOString()
  if (typeof time === 'string' && !time.startsWith('-')) return time
  throw invalidArgument('Expected an existing local time ("2026-11-20 21:00"), RFC 3339 or a span such as 2h.')
}
