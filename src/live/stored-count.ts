// Counts what this node has stored of an account that is looked at on another node. An event counts once its store has
// it; later events wait until the earlier ones are counted, so that a steady stream moves the count, too. Everything
// that the log held before the count began is one more event, of any time.
import type { LoggedEvent, Seqs } from './account.ts'

interface Waiting {
  seqs: Seqs
  earliestUs: number
}

/** So many counts are repeated, for a node that missed some. */
const REPEATED = 8

export type StoredCount = ReturnType<typeof createStoredCount>

/** `begun`: behind what the log holds. */
export function createStoredCount(
  begun: Seqs,
  isDelivered: (seqs: Seqs) => boolean,
  timeOf: (event: LoggedEvent) => number,
) {
  let first: Waiting | undefined = { seqs: begun, earliestUs: 0 }
  let next: Waiting | undefined
  const counts: (readonly [count: number, earliestUs: number])[] = [[0, Number.MAX_SAFE_INTEGER]]

  const add = (to: Waiting | undefined, one: LoggedEvent): Waiting => ({
    seqs: {
      points: Math.max(to?.seqs.points ?? 0, one.seqs.points),
      exceptions: Math.max(to?.seqs.exceptions ?? 0, one.seqs.exceptions),
    },
    earliestUs: Math.min(to?.earliestUs ?? Number.MAX_SAFE_INTEGER, timeOf(one)),
  })

  return {
    note(events: readonly LoggedEvent[]): void {
      for (const one of events) next = add(next, one)
    },
    take(): readonly (readonly [count: number, earliestUs: number])[] {
      if (first === undefined) {
        first = next
        next = undefined
      }
      if (first !== undefined && isDelivered(first.seqs)) {
        counts.push([counts.at(-1)![0] + 1, first.earliestUs])
        if (counts.length > REPEATED) counts.shift()
        first = undefined
      }
      return [...counts]
    },
  }
}
