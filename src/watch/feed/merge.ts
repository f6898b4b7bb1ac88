// Merges streams, each in the order of arrival, into one.
interface Arrived {
  readonly arrivedUs: number
}

export function createMerge<T extends Arrived>() {
  const streams = new Map<string, { items: T[]; at: number }>()

  function earliest() {
    let found: { items: T[]; at: number } | undefined
    for (const stream of streams.values())
      if (stream.at < stream.items.length)
        if (found === undefined || stream.items[stream.at]!.arrivedUs < found.items[found.at]!.arrivedUs) found = stream
    return found
  }

  return {
    /** Adds to the end of a stream. */
    add(stream: string, items: readonly T[]): void {
      const known = streams.get(stream)
      const rest = known?.items.slice(known.at) ?? []
      streams.set(stream, { items: [...rest, ...items], at: 0 })
    },
    peek(): T | undefined {
      const stream = earliest()
      return stream?.items[stream.at]
    },
    take(): T | undefined {
      const stream = earliest()
      return stream?.items[stream.at++]
    },
    /** What of a stream is not taken. */
    rest(stream: string): readonly T[] {
      const known = streams.get(stream)
      return known?.items.slice(known.at) ?? []
    },
    /** The arrival of the last item of each stream that holds any. */
    lastUs: (): number[] =>
      [...streams.values()].flatMap(({ items, at }) => (at < items.length ? [items.at(-1)!.arrivedUs] : [])),
    isEmpty: (): boolean => earliest() === undefined,
  }
}
