// Times as people here read and write them: those of this machine's time zone. What is exchanged with the server has its zone with it.

/** RFC 3339 → `2026-11-20 21:52:42.171`, local. */
export function formatLocalTime(at: string): string {
  const date = new Date(at)
  const two = (n: number) => String(n).padStart(2, '0')
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  const ms = String(date.getMilliseconds()).padStart(3, '0')
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${ms}`
}

const LOCAL = /^(\d{4}-\d\d-\d\d)(?:[ Tt](\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?$/
const RFC3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/
const AGO = /^-\d{1,10}[smhdw]$/

/**
 * A local time, as `formatLocalTime` shows it or shorter, becomes RFC 3339; what is RFC 3339 or so long ago (`-90m`) stays as it is.
 * Undefined for anything else, and for a day or an hour that does not exist.
 */
export function parseLocalTime(text: string): string | undefined {
  const [, day, minute = '00:00', second = '00', fraction = ''] = LOCAL.exec(text.trim()) ?? []
  if (day === undefined) return AGO.test(text) || (RFC3339.test(text) && exists(text)) ? text : undefined
  const time = `${day}T${minute}:${second}`
  if (!exists(time)) return undefined
  return new Date(time).toISOString().replace(/\.000Z$/, `${fraction === '' ? '' : `.${fraction}`}Z`)
}

/** `Date` makes 2 March of 30 February. */
function exists(time: string): boolean {
  const day = time.slice(0, 10)
  return !Number.isNaN(Date.parse(time)) && new Date(`${day}T00:00:00Z`).toISOString().startsWith(day)
}
