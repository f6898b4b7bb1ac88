// Rows of buckets → lines of a chart over the same moments, with gaps where a bucket has nothing.

import { parseTime } from './format-time.ts'
import type { Line } from './line-chart.ts'
import { everyMs, type TimeRange } from './time-range.ts'

interface Row {
  readonly at?: string
}

/** Every bucket of a range, aligned as the server aligns them (to the epoch). */
export function bucketsOf({ fromMs, toMs }: TimeRange, every: string): number[] {
  const step = everyMs(every)
  const buckets: number[] = []
  for (let at = Math.floor(fromMs / step) * step; at < toMs; at += step) buckets.push(at)
  return buckets
}

export function toLine<R extends Row>(
  label: string,
  rows: readonly R[],
  atMs: readonly number[],
  figureOf: (row: R) => number | null,
): Line {
  const byBucket = new Map(rows.map((row) => [parseTime(row.at ?? ''), figureOf(row)]))
  return { label, values: atMs.map((at) => byBucket.get(at) ?? null) }
}
