// Limits by key: each has a bucket of `limit` tokens, which fills evenly within `windowS`. What is taken from an empty
// bucket by `owe` is debt: the key then waits for longer. A bucket is one number, the time at which it is full again
// (generic cell rate algorithm). Memory is bounded by `maxEntries`:
// * Keys of strangers have a `coarser` one, for which there is a table as large. While a table is full, keys that it
//   lacks count as their next coarser one: nobody is forgotten, and nobody is refused but with neighbours who guess.
// * Without one, and in the coarsest table, the key that took longest ago is forgotten: nobody is refused for room.
import type { Clock } from '../clock.ts'
import { Problem } from '../problem.ts'

interface TokenBucketsOptions {
  readonly clock: Clock
  /** 0 = no limit. */
  readonly limit: number
  readonly windowS: number
  readonly maxEntries: number
  /** The key of the network around that of a key; undefined for the widest. Absent: keys have none. */
  coarser?(key: string): string | undefined
}

/** Monotonic time at which a bucket is full again; the Map's order is that of the last token taken. */
type Table = Map<string, number>

export type TokenBuckets = ReturnType<typeof createTokenBuckets>

export function createTokenBuckets({ clock, limit, windowS, maxEntries, coarser }: TokenBucketsOptions) {
  const windowUs = windowS * 1e6
  const stepUs = windowUs / limit
  /** One per width of keys, the finest first. */
  const tables: Table[] = []

  function hasRoom(table: Table): boolean {
    for (const [key, us] of table) {
      if (us > clock.monotonicUs()) break
      table.delete(key) // a full bucket is as good as none
    }
    return table.size < maxEntries
  }

  /** The table that counts the key, and the key by which. */
  function find(key: string, width = 0): readonly [Table, string] {
    const table = tables[width] ?? new Map<string, number>()
    tables[width] = table
    if (table.has(key) || hasRoom(table)) return [table, key]
    const wider = coarser?.(key)
    return wider === undefined ? [table, key] : find(wider, width + 1)
  }

  const fullAfter = (table: Table, key: string, tokens: number) =>
    Math.max(table.get(key) ?? 0, clock.monotonicUs()) + tokens * stepUs

  function set(table: Table, key: string, us: number): void {
    table.delete(key)
    if (table.size >= maxEntries) table.delete(table.keys().next().value!)
    table.set(key, us)
  }

  /** Takes a token; 0, or the seconds to wait for one: then none was taken. */
  function take(asked: string): number {
    if (limit === 0) return 0
    const [table, key] = find(asked)
    const next = fullAfter(table, key, 1)
    const waitUs = next - clock.monotonicUs() - windowUs
    if (waitUs > 1) return waitUs / 1e6 // the µs is for what the sums were rounded by
    set(table, key, next)
    return 0
  }

  return {
    limit,
    take,
    /** Takes so many tokens, whether or not they are there. */
    owe(asked: string, tokens: number): void {
      if (limit === 0 || tokens === 0) return
      const [table, key] = find(asked)
      set(table, key, fullAfter(table, key, tokens))
    },
    /** Takes a token. Throws Problem `rate_limited` with the seconds to wait for one. */
    attempt(key: string): void {
      const waitS = take(key)
      if (waitS > 0) throw tooManyAttempts(waitS)
    },
    /** Takes one attempt back because it succeeded. */
    forgive(asked: string): void {
      const [table, key] = find(asked)
      const at = table.get(key)
      if (at !== undefined) table.set(key, at - stepUs)
    },
  }
}

export const tooManyAttempts = (waitS: number): Problem =>
  new Problem('rate_limited', 'Too many attempts. Wait before the next one.', { retryAfterS: Math.ceil(waitS) })
