// Accounts that the operator suspended: their keys are refused, and nothing of them is judged or notified. Known in
// memory, from the file that `account` is in at the start: a suspension holds without PostgreSQL and on a full disk.
import type { Database } from 'bun:sqlite'
import type { KeyRing } from './key-ring.ts'

/**
 * Members of an account's row: when it was suspended and resumed. Both null: it never was. Each change has a later time
 * than the one before, whatever the clocks of nodes say.
 */
export interface SuspensionState {
  readonly id: string
  /** When it was suspended last: ms since the epoch. */
  readonly suspended_ms: number | null
  /** When that ended; null: not yet. */
  readonly resumed_ms: number | null
}

/** The newest one of an account. Times are µs since the epoch. */
export interface Suspension {
  readonly account: string
  readonly fromUs: number
  /** Undefined: it lasts. */
  readonly toUs: number | undefined
}

export type Suspensions = ReturnType<typeof loadSuspensions>

export function loadSuspensions(db: Database, ring: Pick<KeyRing, 'setSuspended'>) {
  const known = new Map<string, Suspension>()

  function note({ id, suspended_ms, resumed_ms }: SuspensionState): void {
    if (suspended_ms === null && !known.has(id)) return
    if (suspended_ms === null) known.delete(id)
    else {
      const toUs = resumed_ms === null ? undefined : resumed_ms * 1000
      known.set(id, { account: id, fromUs: suspended_ms * 1000, toUs })
    }
    ring.setSuspended(id, isSuspended(id))
  }

  /** Undefined: it is not suspended. */
  function sinceUs(account: string): number | undefined {
    const last = known.get(account)
    return last?.toUs === undefined ? last?.fromUs : undefined
  }
  const isSuspended = (account: string): boolean => sinceUs(account) !== undefined

  const rows = db.query<SuspensionState, []>(
    'SELECT id, suspended_ms, resumed_ms FROM account WHERE suspended_ms IS NOT NULL',
  )
  for (const row of rows.iterate()) note(row)

  return {
    note,
    /** The same of a row that may have been read before what is known now: an older state changes nothing. */
    noteUnlessOlder(row: SuspensionState): void {
      const last = known.get(row.id)
      const fromUs = (row.suspended_ms ?? 0) * 1000
      const isOlder = last && (fromUs < last.fromUs || (fromUs === last.fromUs && row.resumed_ms === null))
      if (!isOlder) note(row)
    },
    sinceUs,
    isSuspended,
    /** The newest of each account that was ever suspended. */
    all: (): Iterable<Suspension> => known.values(),
    count: (): number => [...known.keys()].filter(isSuspended).length,
    /** The account is gone. */
    dropAccount(account: string): void {
      if (known.delete(account)) ring.setSuspended(account, false)
    },
  }
}
