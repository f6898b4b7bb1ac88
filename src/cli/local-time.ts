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

/** A local time, as `formatLocalTime` shows it or shorter, becomes RFC 3339; anything else is left to the server to judge. */
export function parseLocalTime(text: string): string {
  const [, day, minute = '00:00', second = '00', fraction = ''] = LOCAL.exec(text.trim()) ?? []
  if (day === undefined) return text
  const date = new Date(`${day}T${minute}:${second}`)
  if (Number.isNaN(date.getTime())) return text
  return date.toISOString().replace(/\.000Z$/, `${fraction === '' ? '' : `.${fraction}`}Z`)
}
