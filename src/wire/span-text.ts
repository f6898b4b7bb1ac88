// Durations and spans of time, as people read them and as flags and forms have them. Free of schemas: it is in the
// console's bundle.
const UNIT_S: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** `0`, `90s`, `30m`, `24h`, `7d`; a number alone is seconds. Undefined for anything else. */
export function parseSpanS(text: string): number | undefined {
  const [, count, unit = 's'] = /^(\d+)([smhd])?$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * UNIT_S[unit]!
}

/** `90m`, `2h`, `1d`: whole units of the greatest that fits. Takes whole seconds. */
export function formatSpanS(seconds: number): string {
  const unit = (['d', 'h', 'm'] as const).find((it) => seconds % UNIT_S[it]! === 0) ?? 's'
  return `${seconds / UNIT_S[unit]!}${unit}`
}

/** `1m` → `1 min`. */
export const spellSpan = (span: string): string =>
  span.replace(/^(\d+)([smhd])$/, (_, n, unit) => `${n} ${unit === 'm' ? 'min' : unit}`)

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** `45 s`, `12 min`, `5 h`, `4 days`: about how long. */
export function formatSpan(ms: number): string {
  if (ms < 90_000) return `${Math.max(0, Math.round(ms / 1000))} s`
  if (ms < 90 * MINUTE_MS) return `${Math.round(ms / MINUTE_MS)} min`
  if (ms < 36 * HOUR_MS) return `${Math.round(ms / HOUR_MS)} h`
  return `${Math.round(ms / DAY_MS)} days`
}

/**
 * Three significant digits in the unit that fits: `120 ns`, `812 µs`, `12.4 ms`, `3.20 s`, `3 m 02 s`, `2 h 05 m`,
 * `3 d 4 h`, `-1.24 s`; a dash for a missing duration.
 */
export function formatDuration(ms: number | null): string {
  if (ms === null) return '–'
  if (ms === 0) return '0 s'
  if (ms < 0) return `-${formatDuration(-ms)}`
  // Rounded first, so that 59.996 s is a minute and not 60.0 s.
  const ns = Math.round(ms * 1e6)
  if (ns < 1_000) return `${ns} ns`
  if (ns < 999_500) return `${threeDigits(ns / 1e3)} µs`
  if (ms < 999.5) return `${threeDigits(ms)} ms`
  if (ms < 59_950) return `${threeDigits(ms / SECOND_MS)} s`
  if (Math.round(ms / SECOND_MS) < 3600) return `${pair(ms, MINUTE_MS, 'm', SECOND_MS, 2)} s`
  if (Math.round(ms / MINUTE_MS) < 1440) return `${pair(ms, HOUR_MS, 'h', MINUTE_MS, 2)} m`
  return `${pair(ms, DAY_MS, 'd', HOUR_MS, 1)} h`
}

/** `2.5`, of how many times as long: whole from ten on. */
export const formatTimes = (times: number): string =>
  times < 9.95 ? times.toFixed(1).replace(/\.0$/, '') : String(Math.round(times))

const threeDigits = (value: number): string => value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0)

function pair(ms: number, largeMs: number, large: string, smallMs: number, digits: number): string {
  const smalls = Math.round(ms / smallMs)
  const perLarge = largeMs / smallMs
  return `${Math.floor(smalls / perLarge)} ${large} ${String(smalls % perLarge).padStart(digits, '0')}`
}
