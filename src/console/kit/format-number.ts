// Formats durations, counts, sizes and measured values for people.

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

/** `812 µs`, `12.4 ms`, `3.20 s`, `3 m 12 s`, `2 h 05 m`, `3 d 4 h`; a dash for a missing duration. */
export function formatDuration(ms: number | null): string {
  if (ms === null) return '–'
  if (ms === 0) return '0 s'
  if (ms < 0.9995) return `${Math.round(ms * 1000)} µs`
  if (ms < 999.5) return `${digits(ms)} ms`
  const s = ms / 1000
  if (s < 59.95) return `${digits(s)} s`
  const seconds = Math.round(s)
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${pad(seconds % 60)} s`
  const minutes = Math.round(s / 60)
  if (minutes < 1440) return `${Math.floor(minutes / 60)} h ${pad(minutes % 60)} m`
  const hours = Math.round(s / 3600)
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** Three significant digits. */
const digits = (value: number): string => value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0)
const pad = (n: number): string => String(n).padStart(2, '0')

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
