// Whether an account stored something since an earlier question, without asking a store: counts per account in memory.
// It is a hint: counts restart with the process, and events that other nodes store are not seen.
import type { Event } from '../event/event.ts'
import { timeUs } from '../event/stamp.ts'
import type { Sink } from '../store/sink.ts'

interface AccountChanges {
  /** Differs once an event of the account was stored. */
  readonly version: string
  /** Differs once an event was stored that is older than a minute: it may belong to a run anywhere in the past. */
  readonly late: string
  /** Differs once an exception was stored. */
  readonly raised: string
  /** Every event counts; false where other nodes store events as well. */
  readonly whole: boolean
}

interface Counts {
  stored: number
  late: number
  raised: number
}

/** Beyond it all accounts count from the start again, in a new epoch: every open page asks once more. */
const ACCOUNTS_MAX = 10_000
const LATE_US = 60_000_000

export type Changes = ReturnType<typeof createChanges>

export function createChanges(nowUs: () => number, hasOtherNodes: boolean) {
  const counts = new Map<string, Counts>()
  let epoch = nowUs()

  function countsOf(account: string): Counts {
    const known = counts.get(account)
    if (known !== undefined) return known
    if (counts.size >= ACCOUNTS_MAX) {
      counts.clear()
      epoch++
    }
    const fresh = { stored: 0, late: 0, raised: 0 }
    counts.set(account, fresh)
    return fresh
  }

  return {
    note(events: readonly Event[]): void {
      const lateUs = nowUs() - LATE_US
      for (const { account, stamp, kind } of events) {
        const held = countsOf(account)
        held.stored++
        if (kind === 'exception') held.raised++
        if (timeUs(stamp) < lateUs) held.late++
      }
    },
    /** Something else of the account changed that its answers show. */
    touch(account: string): void {
      const held = countsOf(account)
      held.stored++
      held.raised++ // a group was resolved, perhaps
    },
    of(account: string): AccountChanges {
      const { stored, late, raised } = counts.get(account) ?? { stored: 0, late: 0, raised: 0 }
      const since = epoch.toString(36)
      return {
        version: `${since}.${stored}`,
        late: `${since}.${late}`,
        raised: `${since}.${raised}`,
        whole: !hasOtherNodes,
      }
    },
  }
}

/** The sink, with every batch noted that it may have stored: one whose answer was lost may be visible, too. */
export const noteStored = (sink: Sink, changes: Changes): Sink => ({
  ...sink,
  async write(events) {
    try {
      return await sink.write(events)
    } finally {
      changes.note(events)
    }
  },
})
