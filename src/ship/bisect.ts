// Chooses which events of a batch to send next, so that the few refused ones are found with few requests. Pure.
//
//   a refused request is suspect: its first half is sent next, and what is behind it joins the rest
//
// With k refused events of N a search costs at most k·(⌈log₂N⌉ + 2) + 1 requests: ⌈log₂N⌉ halvings, the event alone,
// and the rest after it. Behind two refused events in a row the next one is sent alone.

const NEIGHBOURS = 2

/** `weights[i]` ≥ 1 is the number of lines of event i; a request weighs at most `maxWeight` unless it is one event. */
export function createBisection(weights: readonly number[], maxWeight: number) {
  /** Known to hold a refused event. */
  let suspect: readonly number[] = []
  let rest: readonly number[] = weights.map((_, index) => index)
  let refusedInARow = 0
  let limit = maxWeight

  function next(): readonly number[] {
    if (suspect.length > 0) return fit(suspect.slice(0, Math.ceil(suspect.length / 2)))
    return refusedInARow >= NEIGHBOURS ? rest.slice(0, 1) : fit(rest)
  }

  /** The first events that a request may have. */
  function fit(events: readonly number[]): readonly number[] {
    let weight = 0
    const end = events.findIndex((event, i) => {
      weight += weights[event]!
      return i > 0 && weight > limit
    })
    return end < 0 ? events : events.slice(0, end)
  }

  function refused(): number | undefined {
    const asked = next()
    rest = suspect.length > 0 ? [...suspect.slice(asked.length), ...rest] : rest.slice(asked.length)
    suspect = asked.length === 1 ? [] : asked
    if (asked.length > 1) return undefined
    refusedInARow++
    return asked[0]
  }

  return {
    /** The events to send next, as indexes; none when all are decided. Asking twice gives the same answer. */
    next,
    /** Those of `next` are stored. */
    stored(): void {
      const { length } = next()
      if (suspect.length > 0) suspect = suspect.slice(length)
      else rest = rest.slice(length)
      refusedInARow = 0
    },
    /** Those of `next` were refused. Returns the event when it was a single one: that is decided. */
    refused,
    /** Those of `next` were too large to send; requests weigh half of it at most from now on. Returns as above. */
    tooLarge(): number | undefined {
      const asked = next()
      if (asked.length === 1) return refused()
      limit = Math.max(1, Math.floor(asked.reduce((sum, event) => sum + weights[event]!, 0) / 2))
      return undefined
    },
    /** Undecides events that were decided as refused. */
    putBack(events: readonly number[]): void {
      rest = [...events, ...rest]
    },
    /** Decides events without sending them; returns those that were undecided. */
    takeOut(matches: (event: number) => boolean): readonly number[] {
      const taken = [...suspect, ...rest].filter(matches)
      suspect = suspect.filter((event) => !matches(event))
      rest = rest.filter((event) => !matches(event))
      return taken
    },
    /** The weight a request may have by now. */
    get maxWeight(): number {
      return limit
    },
  }
}
