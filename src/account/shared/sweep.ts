// Reads all accounts, keys and removals of PostgreSQL, a page of each step, and writes what differs: no step takes long at
// 100,000 accounts. In the order of their keys, so that each page is compared with the same stretch of the file. What
// changes meanwhile is read as news, also on stretches that were passed.
import type { Clock } from '../../clock.ts'
import { all, type SqlDatabase } from '../../state/database.ts'
import { KEY_COLUMNS, type KeyRing, type KeyRow } from '../key-ring.ts'
import type { Suspensions } from '../suspensions.ts'
import { ACCOUNT_COLUMNS, type AccountState, type Removal, type Replica } from './replica.ts'

export const PAGE_ROWS = 1_000
/** Behind every id and hash. */
const END = '~'

interface SweepOptions {
  readonly postgres: Pick<SqlDatabase, 'read'>
  readonly replica: Replica
  readonly ring: KeyRing
  readonly suspensions: Pick<Suspensions, 'note'>
  readonly clock: Clock
  /** An account is there no more. */
  forgetAccount(account: string): void
  /** Resolves also if the file does not take it. */
  write(work: Promise<unknown>): Promise<void>
}

type Table = 'account' | 'api_key' | 'removal'
const NEXT = { account: 'api_key', api_key: 'removal', removal: undefined } as const

export function createSweep(options: SweepOptions) {
  const { postgres, replica, ring, suspensions, clock, forgetAccount, write } = options
  let place: { readonly table: Table; readonly after: string } | undefined

  async function readPage<Row>(table: Table, key: string, columns: string, after: string) {
    const rows = await postgres.read(() =>
      all<Row>(`SELECT ${columns} FROM ${table} WHERE ${key} > $1 ORDER BY ${key} LIMIT ${PAGE_ROWS}`, after),
    )
    const isLast = rows.length < PAGE_ROWS
    return { rows, last: isLast ? END : String((rows.at(-1) as Record<string, unknown>)[key]), isLast }
  }

  /** Resolves to the last row's key, and whether the table has ended. */
  async function readTable(table: Table, after: string): Promise<{ readonly last: string; readonly isLast: boolean }> {
    switch (table) {
      case 'account': {
        const page = await readPage<AccountState>(table, 'id', ACCOUNT_COLUMNS.join(), after)
        page.rows.forEach(suspensions.note)
        const { lost, written } = replica.compareAccounts(page.rows, after, page.last)
        for (const id of lost) forgetAccount(id)
        await write(written)
        return page
      }
      case 'api_key': {
        const page = await readPage<KeyRow & { readonly revoked_ms: number | null }>(
          ...([table, 'hash', `${KEY_COLUMNS}, revoked_ms`, after] as const),
        )
        const live = page.rows.flatMap(({ revoked_ms, ...key }) => (revoked_ms === null ? [key] : []))
        for (const key of live) ring.set(key)
        await write(replica.compareKeys(live, after, page.last))
        return page
      }
      case 'removal': {
        const page = await readPage<Removal>(table, 'account', 'account, deleted_ms', after)
        await write(replica.compareRemovals(page.rows, clock.wallUs() / 1000))
        return page
      }
      default:
        return table satisfies never
    }
  }

  return {
    isRunning: (): boolean => place !== undefined,
    begin(): void {
      ring.beginSweep()
      place = { table: 'account', after: '' }
    },
    /** Resolves to true after the last page. A page that fails is read again by the next step. */
    async step(): Promise<boolean> {
      if (place === undefined) return true
      const { table } = place
      const { last, isLast } = await readTable(table, place.after)
      if (!isLast) place = { table, after: last }
      else {
        const next = NEXT[table]
        place = next && { table: next, after: '' }
      }
      if (place === undefined) await ring.endSweep()
      return place === undefined
    },
  }
}
