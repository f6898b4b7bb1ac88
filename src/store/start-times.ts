// When each process and meta started: what a store returns, and which of it counts as starts.

/** When a process and meta started, or where `isEnd`, ended; a mark sent twice may count twice. */
export interface StartTimes {
  readonly process: string
  readonly meta: string
  readonly isEnd: boolean
  /** The newest, newest first: at most `each`, and at least what tells how often it usually starts. */
  readonly newest: readonly bigint[]
  /** The beginnings of the hours that hold one, in s, in any order. */
  readonly hours: readonly number[]
}

/**
 * Of each process and meta its starts, or its ends where it rarely sends a start: a job that only reports its success
 * has a rhythm, too.
 */
export function selectStarts(rows: readonly StartTimes[]): StartTimes[] {
  const groups = Map.groupBy(rows, ({ process, meta }) => JSON.stringify([process, meta]))
  return [...groups.values()].map((same) => {
    const starts = same.find(({ isEnd }) => !isEnd)
    const ends = same.find(({ isEnd }) => isEnd)
    if (starts === undefined || ends === undefined) return (starts ?? ends)!
    return ends.hours.length > 2 * starts.hours.length ? ends : starts
  })
}
