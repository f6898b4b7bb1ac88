// Formats counts, sizes and measured values for people.

const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 })
const precise = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 6 })
const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumSignificantDigits: 3 })
const power = new Intl.NumberFormat(undefined, { notation: 'scientific', maximumSignificantDigits: 6 })
const shortPower = new Intl.NumberFormat(undefined, { notation: 'scientific', maximumSignificantDigits: 3 })

export const formatCount = (n: number): string => whole.format(n)
/** For an axis: `1.2M`, `1E308`. */
export const formatCompact = (n: number): string => (hasManyZeros(n) ? shortPower : compact).format(n)
/** A metric's value with six digits; scientific (`1E308`, `5E-324`) where decimals would be all zeros. */
export const formatValue = (n: number): string => {
  if (!Number.isFinite(n)) return String(n)
  return (hasManyZeros(n) ? power : precise).format(n)
}

const hasManyZeros = (n: number): boolean => n !== 0 && (Math.abs(n) >= 1e15 || Math.abs(n) < 1e-6)

/** `3 runs`, `1 run`. */
export const plural = (n: number, one: string, many = `${one}s`): string => `${formatCount(n)} ${n === 1 ? one : many}`

/** `12.4 KiB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  return unit === 0 ? `${bytes} B` : `${value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`
}
