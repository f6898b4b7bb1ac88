// Times for people, in this machine's time zone; the server gets and gives times with their zone.

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
