// Spans such as `10m` in the conditions of a watch.
import type { Fault } from '../../problem.ts'
import { parseSpan } from '../../query/span.ts'

const US_PER_NS = 1000n

/** A span in µs; the schema has validated it. */
export function spanUs(text: string): number {
  const ns = parseSpan(text)
  if (ns === undefined) throw new RangeError('not a span')
  return Number(ns / US_PER_NS)
}

/** None for an absent span. `limit` is the fault of a span of `belowUs` or more. */
export function spanFaults(
  pointer: string,
  text: string | undefined | null,
  belowUs = Number.POSITIVE_INFINITY,
  limit = '',
): Fault[] {
  if (text == null) return []
  const ns = parseSpan(text)
  if (ns === undefined) return [{ pointer, detail: 'must be a time span such as 30s, 10m, 26h or 7d, at least 1s' }]
  return Number(ns / US_PER_NS) >= belowUs ? [{ pointer, detail: limit }] : []
}
