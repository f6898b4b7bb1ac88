// Spans of time as flags take them.
const UNIT_S: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** `0`, `90s`, `30m`, `24h`, `7d`; a number alone is seconds. Undefined for anything else. */
export function parseSpanS(text: string): number | undefined {
  const [, count, unit = 's'] = /^(\d{1,8})([smhd])?$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * UNIT_S[unit]!
}
