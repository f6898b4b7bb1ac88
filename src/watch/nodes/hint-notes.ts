// What a node that does not evaluate accepted recently, reported to the one that does. In two generations: each event
// is in at least two reports.
import type { EventHint } from '../evaluate/hint-book.ts'
import type { NodeReport } from './node-table.ts'

const MAX_ACCOUNTS = 1000
const MAX_PROCESSES = 20

type Notes = Map<string, Set<string> | null>

export function createHintNotes() {
  let fresh: Notes = new Map()
  let older: readonly Notes[] = []
  return {
    note({ account, process, kind }: EventHint): void {
      if (fresh.size >= MAX_ACCOUNTS && !fresh.has(account)) return
      const known = fresh.get(account)
      if (known === null) return
      // an exception or a metric is found whatever process it names
      if (process === undefined || kind !== 'mark' || (known?.size ?? 0) >= MAX_PROCESSES) fresh.set(account, null)
      else if (known === undefined) fresh.set(account, new Set([process]))
      else known.add(process)
    },
    report(): NonNullable<NodeReport['hints']> {
      const all = [fresh, ...older]
      if (all.some((notes) => notes.size >= MAX_ACCOUNTS)) return 'all'
      const joined: Record<string, string[] | null> = {}
      for (const [account, processes] of all.flatMap((notes) => [...notes])) {
        const known = joined[account]
        joined[account] = known === null || processes === null ? null : [...new Set([...(known ?? []), ...processes])]
      }
      return joined
    },
    /** Call it after each report. */
    age(): void {
      older = [fresh, ...older].slice(0, 2)
      fresh = new Map()
    },
  }
}
