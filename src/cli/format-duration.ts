// Lengths of time for people: three digits that count, in the unit that fits.

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** `120 ns`, `1.24 ms`, `1.24 s`, `3 m 12 s`, `2 h 5 m`, `3 d 4 h`. Negative ones have a minus sign. */
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
