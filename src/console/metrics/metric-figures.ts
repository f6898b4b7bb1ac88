// How a metric's figures are named, written and summed up in a sentence.

import type { MetricRow } from '../../wire/metrics.ts'
import { formatBytes, formatCompact, formatDuration, formatExact, formatValue, plural } from '../kit/format-number.ts'
import { describeEvery } from '../kit/time-range.ts'

export const STAT_TEXT = {
  mean: 'Mean',
  min: 'Min',
  max: 'Max',
  sum: 'Sum',
  last: 'Last',
  count: 'Count',
} as const satisfies Partial<Record<keyof MetricRow, string>>

export type Stat = keyof typeof STAT_TEXT
export const STATS = Object.keys(STAT_TEXT) as [Stat, ...Stat[]]

/** Chosen by the unit at the end of a metric's name, such as `load_ms`, `seconds` or `heap bytes`. */
export function formatterOf(name: string, stat: Stat): (value: number) => string {
  if (stat === 'count') return formatValue
  const unit = unitOf(name)
  if (unit === 'ms') return (value) => (value < 0 ? formatValue(value) : formatDuration(value))
  if (unit === 'bytes') return (value) => (value < 0 ? formatValue(value) : formatBytes(value))
  if (unit === 'percent') return (value) => `${formatValue(value)} %`
  if (unit !== undefined) return (value) => (value < 0 ? formatValue(value) : formatDuration(value * 1000))
  return (value) => (Math.abs(value) >= 1e5 ? formatCompact(value) : formatValue(value))
}

const UNITS = { ms: 'ms', bytes: 'bytes', percent: '%', s: 's' } as const

/** Every digit, with the unit of the name. */
export function exactOf(name: string, stat: Stat): (value: number) => string {
  const unit = stat === 'count' ? undefined : unitOf(name)
  return (value) => (unit === undefined ? formatExact(value) : `${formatExact(value)} ${UNITS[unit]}`)
}

function unitOf(name: string): keyof typeof UNITS | undefined {
  const unit = /(?:^|[^a-z])(ms|milliseconds|s|secs?|seconds|bytes|percent|pct)$/i.exec(name)?.[1]?.toLowerCase()
  if (unit === undefined) return undefined
  if (unit === 'ms' || unit === 'milliseconds') return 'ms'
  if (unit === 'percent' || unit === 'pct') return 'percent'
  return unit === 'bytes' ? 'bytes' : 's'
}

export function describeFigures(
  rows: readonly MetricRow[],
  stat: Stat,
  every: string,
  format: (value: number) => string,
): string {
  const count = rows.reduce((sum, row) => sum + row.count, 0)
  if (count === 0) return 'No values in this range.'
  const least = rows.reduce((least, row) => Math.min(least, row.min), Number.POSITIVE_INFINITY)
  const most = rows.reduce((most, row) => Math.max(most, row.max), Number.NEGATIVE_INFINITY)
  const values = `${plural(count, 'value')} from ${format(least)} to ${format(most)}`
  return `${STAT_TEXT[stat]} in ${describeEvery(every)}. ${values}.`
}
