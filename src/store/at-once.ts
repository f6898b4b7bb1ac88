// How many timings ran at the same moment in each bucket of a series: the most at its beginning and at its starts.
//
// A timing runs from its first mark, or the beginning of the range, to its last; a running one on to the end of the
// range. One that ends as another begins does not run beside it, and one of a single mark runs at that moment alone.
import { groupInTurns, rest, spend } from '../turns.ts'
import { bucketNs } from './order.ts'
import type { Buckets, TimingSummaryRow } from './source.ts'

/** A bucket in which a timing begins or ends. */
export interface Level extends Pick<TimingSummaryRow, 'process' | 'meta'> {
  readonly atNs: bigint
  /** The most after any of these moments. */
  readonly peak: number
  /** How many more run at its end than at its beginning. */
  readonly gained: number
}

type Range = Buckets & { readonly fromNs: bigint; readonly toNs: bigint }

/** The figures of a row without runs. */
export const NO_FIGURES = {
  count: 0,
  meanMs: null,
  p50Ms: null,
  p95Ms: null,
  p99Ms: null,
  maxMs: null,
  failed: 0,
  running: 0,
  abandoned: 0,
  orphan: 0,
} as const

/** The rows of a series with `atOnce`; a bucket in which something ran but nothing was settled gets a row. */
export async function addAtOnce(
  rows: readonly TimingSummaryRow[],
  levels: readonly Level[],
  range: Range,
): Promise<TimingSummaryRow[]> {
  const keyOf = ({ process, meta }: Pick<TimingSummaryRow, 'process' | 'meta'>) => JSON.stringify([process, meta])
  const starts = bucketStarts(range)
  const rowsOf = await groupInTurns(rows, keyOf)
  const found: TimingSummaryRow[] = []
  for (const [key, own] of await groupInTurns(levels, keyOf)) {
    const levelAt = new Map(own.map((level) => [level.atNs, level]))
    const rowAt = new Map(rowsOf.get(key)?.map((row) => [row.atNs, row]))
    const { process, meta } = own[0]!
    let open = 0
    for (const atNs of starts) {
      const level = levelAt.get(atNs)
      const atOnce = Math.max(open, level?.peak ?? 0)
      open += level?.gained ?? 0
      const row = rowAt.get(atNs) ?? { process, ...(meta !== undefined && { meta }), atNs, ...NO_FIGURES }
      if (atOnce > 0) found.push({ ...row, atOnce })
      if (spend()) await rest()
    }
  }
  return found
}

/** Of every bucket that the range touches, oldest first. */
function bucketStarts({ fromNs, toNs, everyNs, bounds }: Range): bigint[] {
  if (bounds !== undefined) return bounds.filter((atNs) => atNs < toNs)
  const starts: bigint[] = []
  for (let atNs = bucketNs(fromNs, { everyNs: everyNs! }); atNs < toNs; atNs += everyNs!) starts.push(atNs)
  return starts
}
