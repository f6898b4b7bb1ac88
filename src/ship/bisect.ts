// Chooses which events of a batch to send next, so that the few refused ones are found with few requests. Pure.
//
//   decided │ suspect: holds a refused event │ unknown …                     │ set aside
//   ────────┼────────────────────────────────┼───────────────────────────────┤  (a later, known gap)
//           └ ask for its first half         └ ask for all of it
//
// Invariants: every event is in exactly one range or decided; ranges ascend and touch only if the first is suspect;
// only an event that was sent alone is decided as refused; a stored event is never sent again.
//
// With k refused events of N a search costs at most k·(⌈log₂N⌉ + 2) + 1 requests: ⌈log₂N⌉ halvings, the event alone,
// and the rest after it. That is within 2k·⌈log₂N⌉ + 1. After a refused event the next one is sent alone: adjacent
// refused events cost one request each instead of one search each.

export interface Span {
  readonly from: number
  /** Exclusive. */
  readonly to: number
}

interface Range extends Span {
  from: number
  to: number
  suspect: boolean
}

const NEIGHBOURS = 2

/** `weights[i]` ≥ 1 is the number of lines of event i; a request weighs at most `maxWeight` unless it is one event. */
export function createBisection(weights: readonly number[], maxWeight: number) {
  const weightBefore = new Float64Array(weights.length + 1)
  for (const [i, weight] of weights.entries()) weightBefore[i + 1] = weightBefore[i]! + weight

  let ranges: Range[] = weights.length > 0 ? [{ from: 0, to: weights.length, suspect: false }] : []
  let lastRefused = -1
  let refusedInARow = 0
  let limit = maxWeight

  const weigh = ({ from, to }: Span): number => weightBefore[to]! - weightBefore[from]!

  /** The longest span from `from` within `to` and the limit. */
  function fit(from: number, to: number): Span {
    let low = from + 1
    let high = to
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (weigh({ from, to: middle }) <= limit) low = middle
      else high = middle - 1
    }
    return { from, to: low }
  }

  function next(): Span | undefined {
    const range = ranges[0]
    if (!range) return undefined
    const { from, to } = range
    if (range.suspect) return fit(from, from + Math.ceil((to - from) / 2))
    if (refusedInARow >= NEIGHBOURS && from === lastRefused + 1) return { from, to: from + 1 }
    return fit(from, to)
  }

  /** Ranges that touch become one, unless the first is known to hold a refused event. */
  function join(): void {
    const joined: Range[] = []
    for (const range of ranges) {
      const last = joined.at(-1)
      if (last && !last.suspect && !range.suspect && last.to === range.from) last.to = range.to
      else joined.push(range)
    }
    ranges = joined
  }

  /** Takes the answered span off the first range; what is left of it is suspect if `suspect`. */
  function settle(to: number, suspect: boolean): void {
    const range = ranges[0]!
    if (to === range.to) ranges.shift()
    else {
      range.from = to
      range.suspect = suspect
    }
    join()
  }

  function decideRefused({ from, to }: Span): number {
    refusedInARow = from === lastRefused + 1 ? refusedInARow + 1 : 1
    lastRefused = from
    settle(to, false)
    return from
  }

  function asked(): Span {
    const span = next()
    if (!span) throw new Error('nothing was asked for')
    return span
  }

  return {
    /** The events to send next; undefined when all are decided. Asking twice gives the same answer. */
    next,
    /** The range of `next` is stored. */
    stored(): void {
      const { to } = asked()
      settle(to, ranges[0]!.suspect)
    },
    /** The range of `next` was refused. Returns the index of the event when it was a single one: that is decided. */
    refused(): number | undefined {
      const span = asked()
      if (span.to - span.from === 1) return decideRefused(span)
      settle(span.to, false)
      ranges.unshift({ ...span, suspect: true })
      return undefined
    },
    /** The range of `next` was too large to send; requests weigh half of it at most from now on. Returns as above. */
    tooLarge(): number | undefined {
      const span = asked()
      if (span.to - span.from === 1) return decideRefused(span)
      limit = Math.max(1, Math.floor(weigh(span) / 2))
      return undefined
    },
    /** Undecides events that were decided as refused. */
    putBack(indexes: readonly number[]): void {
      refusedInARow = 0
      ranges.push(...indexes.map((i) => ({ from: i, to: i + 1, suspect: false })))
      ranges.sort((a, b) => a.from - b.from)
      join()
    },
    /** The weight a request may have by now. */
    get maxWeight(): number {
      return limit
    },
  }
}
