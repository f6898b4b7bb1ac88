// Formats counts, sizes, durations and measured values for people: decimals as the browser's language writes them.
import * as spans from '../../wire/span-text.ts'

const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 })
const precise = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 6 })
const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumSignificantDigits: 3 })
const power = new Intl.NumberFormat(undefined, { notation: 'scientific', maximumSignificantDigits: 6 })
const shortPower = new Intl.NumberFormat(undefined, { notation: 'scientific', maximumSignificantDigits: 3 })

export const formatCount = (n: number): string => whole.format(n)
/** For an axis: `1.2M`, `1E308`. */
export const formatCompact = (n: number): string => millions((hasManyZeros(n) ? shortPower : compact).format(n))
/** British English writes `2m` for two million, which is two minutes here. */
export const millions = (text: string): string => text.replace(/(\d)m$/, '$1M')
/** A metric's value with six digits; scientific (`1E308`, `5E-324`) where decimals would be all zeros. */
export const formatValue = (n: number): string => {
  if (!Number.isFinite(n)) return String(n)
  return (hasManyZeros(n) ? power : precise).format(n)
}

const whole15 = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 15 })
/** Every digit that a number has; scientific as `formatValue`. */
export const formatExact = (n: number): string =>
  Number.isFinite(n) && !hasManyZeros(n) ? whole15.format(n) : formatValue(n)

const hasManyZeros = (n: number): boolean => n !== 0 && (Math.abs(n) >= 1e15 || Math.abs(n) < 1e-6)

const point = new Intl.NumberFormat().formatToParts(1.5).find(({ type }) => type === 'decimal')?.value ?? '.'
/** For numbers that were written with a point. */
export const withPoint = (text: string, sign = point): string => text.replace(/(\d)\.(\d)/g, `$1${sign}$2`)

/** `12.4 ms`, `3 m 02 s`; see wire/span-text.ts. */
export const formatDuration = (ms: number | null): string => withPoint(spans.formatDuration(ms))

const figure = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 3 })
/** Three digits: `0.125`, `435`, `1.44M`. */
export const formatFigure = (n: number): string =>
  Math.abs(n) < 1_000 && !hasManyZeros(n) ? figure.format(n) : formatCompact(n)

/** `2.5`, of how many times as long. */
export const formatTimes = (times: number): string => withPoint(spans.formatTimes(times))

/** `3 runs`, `1 run`. */
export const plural = (n: number, one: string, many = `${one}s`): string => `${formatCount(n)} ${n === 1 ? one : many}`

/** `12.4 KiB`, in three digits. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  return unit === 0 ? `${bytes} B` : `${figure.format(value)} ${units[unit]}`
}
