// Times and durations for people, in this machine's time zone; the server gets and gives times with their zone.

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/**
 * Three significant digits in the unit that fits: `120 ns`, `1.24 ms`, `1.24 s`, `3 m 12 s`, `2 h 5 m`, `3 d 4 h`,
 * `−1.24 s`.
 */
export function formatDuration(ms: number): string {
  if (ms < 0) return `-${formatDuration(-ms)}`
  // Rounded first, so that 59.996 s is a minute and not 60.0 s.
  const ns = Math.round(ms * 1e6)
  if (ns < 999.5) return `${ns} ns`
  if (ns < 999_500) return `${threeDigits(ns / 1e3)} µs`
  if (ms < 999.5) return `${threeDigits(ms)} ms`
  if (ms < 59_950) return `${threeDigits(ms / SECOND_MS)} s`
  if (Math.round(ms / SECOND_MS) < 3600) return pair(ms, MINUTE_MS, 'm', SECOND_MS, 's')
  if (Math.round(ms / MINUTE_MS) < 1440) return pair(ms, HOUR_MS, 'h', MINUTE_MS, 'm')
  return pair(ms, DAY_MS, 'd', HOUR_MS, 'h')
}

const threeDigits = (value: number): string => {
  const decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0
  return value.toFixed(decimals)
}

function pair(ms: number, largeMs: number, large: string, smallMs: number, small: string): string {
  const smalls = Math.round(ms / smallMs)
  const perLarge = largeMs / smallMs
  return `${Math.floor(smalls / perLarge)} ${large} ${smalls % perLarge} ${small}`
}

/** RFC 3339 → `2026-11-20 21:52:42.171`, local. */
export function formatLocalTime(at: string): string {
  const date = new Date(at)
  const two = (n: number) => String(n).padStart(2, '0')
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  const ms = String(date.getMilliseconds()).padStart(3, '0')
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${ms}`
}

/** RFC 3339 → `2026-11-20 21:52:42.171` in a time zone of IANA. */
export function formatZonedTime(at: string, timeZone: string): string {
  const parts = { dateStyle: 'short', timeStyle: 'medium', timeZone } as const
  const ms = String(new Date(at).getUTCMilliseconds()).padStart(3, '0')
  return `${new Intl.DateTimeFormat('sv-SE', parts).format(new Date(at))}.${ms}` // Swedish dates are ISO 8601
}

const LOCAL = /^(\d{4}-\d\d-\d\d)(?:[ Tt](\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?$/
const RFC3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/
const AGO = /^-\d{1,10}[smhdw]$/

/**
 * Converts a local time, as `formatLocalTime` shows it or shorter, to RFC 3339; returns RFC 3339 and relative times
 * (`-90m`) unchanged. Undefined for anything else, and for a day or an hour that does not exist.
 */
export function parseLocalTime(text: string): string | undefined {
  const [, day, minute = '00:00', second = '00', fraction = ''] = LOCAL.exec(text.trim()) ?? []
  if (day === undefined) return AGO.test(text) || (RFC3339.test(text) && exists(text)) ? text : undefined
  const time = `${day}T${minute}:${second}`
  if (!exists(time)) return undefined
  return new Date(time).toISOString().replace(/\.000Z$/, `${fraction === '' ? '' : `.${fraction}`}Z`)
}

/** `Date` turns 30 February into 2 March. */
function exists(time: string): boolean {
  const day = time.slice(0, 10)
  return !Number.isNaN(Date.parse(time)) && new Date(`${day}T00:00:00Z`).toISOString().startsWith(day)
}
