// The faults of a span such as `10m` in the conditions of a watch.
import type { Fault } from '../../problem.ts'
import { parseSpan, spanUs } from '../../process/span.ts'

/** None for an absent span. `limit` is the fault of a span of `belowUs` or more. */
export function spanFaults(
  pointer: string,
  text: string | undefined | null,
  belowUs = Number.POSITIVE_INFINITY,
  limit = '',
): Fault[] {
  if (text == null) return []
  if (parseSpan(text) === undefined)
    return [{ pointer, detail: 'must be a time span such as 30s, 10m, 26h or 7d, at least 1s' }]
  return spanUs(text) >= belowUs ? [{ pointer, detail: limit }] : []
}
