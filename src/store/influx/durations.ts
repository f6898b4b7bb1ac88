// The durations of many runs, for exact percentiles in 8 bytes per run. Pieces are sorted, and the k-th smallest is
// found by bisecting its value: sorting all at once would block the event loop for seconds.

const PIECE = 8192

export function createDurations() {
  const pieces: Float64Array[] = []
  let latest: number[] = []
  let [count, sum, max] = [0, 0, 0]

  /** The k-th smallest, from 0. */
  function at(k: number): number {
    if (latest.length > 0) {
      pieces.push(Float64Array.from(latest).sort())
      latest = []
    }
    if (pieces.length === 1) return pieces[0]![k]!
    let [low, high] = [0, max]
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      if (pieces.reduce((below, piece) => below + countUpTo(piece, middle), 0) > k) high = middle
      else low = middle + 1
    }
    return low
  }

  return {
    /** Whole µs, not negative. */
    add(us: number): void {
      count++
      sum += us
      if (us > max) max = us
      if (latest.push(us) < PIECE) return
      pieces.push(Float64Array.from(latest).sort())
      latest = []
    },
    get count() {
      return count
    },
    /** ms; null without any. Linear interpolation at q·(n−1), as `quantile` in test/support/summarize-timings.ts. */
    quantileMs(q: number): number | null {
      if (count === 0) return null
      const place = q * (count - 1)
      const [below, above] = [at(Math.floor(place)) / 1000, at(Math.ceil(place)) / 1000]
      return below + (above - below) * (place - Math.floor(place))
    },
    meanMs: (): number | null => (count === 0 ? null : sum / 1000 / count),
    maxMs: (): number | null => (count === 0 ? null : max / 1000),
  }
}

/** How many of the sorted values are not above `us`. */
function countUpTo(piece: Float64Array, us: number): number {
  let low = 0
  for (let high = piece.length; low < high; ) {
    const middle = (low + high) >> 1
    if (piece[middle]! <= us) low = middle + 1
    else high = middle
  }
  return low
}
