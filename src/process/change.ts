// Since when something takes longer or shorter. Pure.
//
// The moment that separates the logarithms of durations best (the split with the greatest variance between its two
// sides), if it is a step: the sides hardly overlap, the medians differ by a quarter, and most of the difference comes
// at that moment, so that slow growth does not count.
import { quantile } from './quantile.ts'

/** Times in µs. */
export interface Change {
  readonly atUs: number
  readonly beforeUs: number
  readonly afterUs: number
  /** So many runs came before it. */
  readonly of: number
}

/** In µs. */
export type Duration = readonly [atUs: number, us: number]

/** Of each side. */
const LEAST = 4
const RATIO = Math.log(1.25)
/** The neighbours of the split on each side, and the part of the difference that must lie between them. */
const NEAR = 6
const STEP = 0.6
/** Durations below count as this: 3 ms instead of 1 ms is no news. */
const LEAST_US = 10_000

/** undefined if nothing changed. `durations`: oldest first. */
export function findChange(durations: readonly Duration[]): Change | undefined {
  if (durations.length < 2 * LEAST) return undefined
  const logs = durations.map(([, us]) => Math.log(Math.max(LEAST_US, us)))
  const at = bestSplit(logs)
  if (at === undefined) return undefined
  const [before, after] = [logs.slice(0, at), logs.slice(at)]
  const [low, high] = [quantile(before, 0.5), quantile(after, 0.5)]
  const step = high - low
  const isApart = step > 0 ? quantile(after, 0.1) > quantile(before, 0.9) : quantile(after, 0.9) < quantile(before, 0.1)
  const isSharp = [-1, 0].every((i) => (logs[at + i]! - (low + high) / 2) * step > 0 === i >= 0)
  const near = quantile(after.slice(0, NEAR), 0.5) - quantile(before.slice(-NEAR), 0.5)
  if (!isApart || !isSharp || Math.abs(step) < RATIO || near / step < STEP) return undefined
  const median = (of: readonly Duration[]) =>
    quantile(
      of.map(([, us]) => us),
      0.5,
    )
  return {
    atUs: durations[at]![0],
    of: at,
    beforeUs: median(durations.slice(0, at)),
    afterUs: median(durations.slice(at)),
  }
}

/** The first index of the right side; the variance between the sides follows from sums of the left one. */
function bestSplit(values: readonly number[]): number | undefined {
  const n = values.length
  const total = values.reduce((sum, value) => sum + value, 0)
  let [best, bestGain, left] = [undefined as number | undefined, 0, 0]
  for (let i = 1; i <= n - LEAST; i++) {
    left += values[i - 1]!
    const gain = (i * (n - i) * (left / i - (total - left) / (n - i)) ** 2) / n
    if (i >= LEAST && gain > bestGain) [best, bestGain] = [i, gain]
  }
  return best
}
