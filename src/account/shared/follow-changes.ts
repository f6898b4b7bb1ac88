// Keeps this node's copy of the keys and accounts up to date. Invariants:
// * The counter of changes is polled, so a lost connection is noticed; a change of this node is read back at once. Then
//   the rows that changed since are read, a page at a time. Where the history does not have that moment (a restored
//   database, a node that was away for long), everything is read; once an hour everything is compared, in the order of
//   keys, so that each page is compared with the same stretch of the file.
// * Memory first, then the file: a revoked key must fail even while the disk is full. Until a sweep has found the file
//   whole again, it does not say up to which moment it knows everything.
// * A missing account (a restored database) loses its keys here and nothing else: data goes only by the list `removal`.
import type { Clock } from '../../clock.ts'
import type { Logger } from '../../log.ts'
import { all, get, places, type Script, type SqlDatabase, type Value } from '../../state/database.ts'
import { whyAway } from '../../state/postgres.ts'
import { KEY_COLUMNS, type KeyRing } from '../key-ring.ts'
import type { Suspensions } from '../suspensions.ts'
import {
  ACCOUNT_COLUMNS,
  type AccountState,
  type ChangedKey,
  type Moment,
  type Removal,
  type Replica,
  type Stretch,
} from './replica.ts'

const POLL_EVERY_MS = 500
const PAGE_ROWS = 1_000
const SWEEP_EVERY_US = 3_600_000_000
/** A sweep gets so many pages of each poll: changes do not wait for it. */
const SWEPT_PER_POLL = 4
/** Behind every id and hash. */
const END = '~'

const TABLES = {
  account: { key: 'id', columns: ACCOUNT_COLUMNS.join() },
  api_key: { key: 'hash', columns: `${KEY_COLUMNS}, revoked_ms` },
  removal: { key: 'account', columns: 'account, deleted_ms' },
} as const
const IN_ORDER = ['account', 'api_key', 'removal'] as const

type Table = (typeof IN_ORDER)[number]
interface Rows {
  account: AccountState
  api_key: ChangedKey
  removal: Removal
}

interface FollowChangesOptions {
  readonly postgres: Pick<SqlDatabase, 'read'>
  readonly replica: Replica
  readonly ring: KeyRing
  readonly suspensions: Pick<Suspensions, 'note'>
  readonly clock: Clock
  readonly log: Logger
  /** An account was deleted: forget its series. */
  onRemoved(account: string): void
}

export type FollowChanges = ReturnType<typeof createFollowChanges>

export function createFollowChanges({
  postgres,
  replica,
  ring,
  suspensions,
  clock,
  log,
  onRemoved,
}: FollowChangesOptions) {
  const known = replica.moment()
  /** Memory knows every change up to this. */
  let since: (Moment & { readonly newest: number }) | undefined = known && { ...known, newest: 0 }
  let sweptUs = clock.monotonicUs()
  /** The page that a sweep reads next; undefined while none runs. */
  let place: { readonly table: Table; readonly after: string } | undefined
  let turn: Promise<void> = Promise.resolve()
  let next: Promise<void> | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let isStopped = false
  let isAway = false
  /** The file lacks a change that it could not take. */
  let isFileBehind = false
  /** The file has taken everything since the sweep began, also the news. */
  let isWhole = false

  function forgetAccount(account: string): void {
    ring.dropAccount(account)
    onRemoved(account)
  }

  async function write(work: Promise<unknown>): Promise<void> {
    try {
      await work
    } catch (err) {
      if (!isFileBehind) log.warn({ err }, 'accounts: the copy of the keys cannot be written; trying again')
      isFileBehind = true
      isWhole = false
    }
  }

  /** Rows are known in memory at once, then in the file. `stretch`: they are all of it. */
  const take: { readonly [T in Table]: (rows: readonly Rows[T][], stretch?: Stretch) => Promise<void> } = {
    account(rows, stretch) {
      rows.forEach(suspensions.note)
      const { lost, written } = replica.setAccounts(rows, stretch)
      lost.forEach(forgetAccount)
      return write(written)
    },
    api_key(rows, stretch) {
      for (const key of rows) {
        if (key.revoked_ms === null) ring.set(key)
        else ring.delete(key.hash)
      }
      return write(replica.setKeys(rows, stretch))
    },
    removal(rows) {
      for (const { account } of rows) forgetAccount(account)
      return write(replica.setRemovals(rows, clock.wallUs() / 1000))
    },
  }

  /** In this order, behind a row. */
  const readPage = <T extends Table>(table: T, order: string, ...after: Value[]) =>
    postgres.read(() =>
      all<Rows[T] & { readonly changed_at: number; readonly key_at: string }>(
        `SELECT ${TABLES[table].columns}, changed AS changed_at, ${TABLES[table].key} AS key_at FROM ${table}
         WHERE (${order}) > ${places(1, after.length)} ORDER BY ${order} LIMIT ${PAGE_ROWS}`,
        ...after,
      ),
    )

  /** Rows that changed after this version. */
  async function readNews<T extends Table>(table: T, version: number): Promise<void> {
    for (let [changed, key, isLast] = [version, '\uffff', false]; !isLast; ) {
      const rows = await readPage(table, `changed, ${TABLES[table].key}`, changed, key)
      if (rows.length > 0) await take[table](rows)
      isLast = rows.length < PAGE_ROWS
      ;({ changed_at: changed, key_at: key } = rows.at(-1) ?? { changed_at: changed, key_at: key })
    }
  }

  function beginSweep(): void {
    sweptUs = clock.monotonicUs()
    isWhole = true
    ring.beginSweep()
    place = { table: 'account', after: '' }
  }

  /** One that fails is read again by the next call. */
  async function sweepPage<T extends Table>(table: T, after: string, head: Moment): Promise<void> {
    const rows = await readPage(table, TABLES[table].key, after)
    const isLast = rows.length < PAGE_ROWS
    const last = isLast ? END : rows.at(-1)!.key_at
    await take[table](rows, { after, last })
    const nextTable = isLast ? IN_ORDER[IN_ORDER.indexOf(table) + 1] : table
    place = nextTable && { table: nextTable, after: isLast ? '' : last }
    if (place !== undefined) return
    await ring.endSweep()
    if (!isWhole) return
    isFileBehind = false
    await write(replica.noteMoment(head))
  }

  async function pull(): Promise<void> {
    const head = await postgres.read(() => selectHead(since))
    let pages = SWEPT_PER_POLL
    if (since === undefined || !head.isKnown || head.newest < since.newest) {
      beginSweep()
      pages = Number.POSITIVE_INFINITY
    } else {
      if (head.newest > since.version) {
        for (const table of IN_ORDER) await readNews(table, since.version)
        if (!isFileBehind) await write(replica.noteMoment(head))
      }
      since = head
      const isDue = isFileBehind || clock.monotonicUs() - sweptUs >= SWEEP_EVERY_US
      if (place === undefined && isDue) beginSweep()
    }
    for (; pages > 0 && place !== undefined; pages--) await sweepPage(place.table, place.after, head)
    since = head
  }

  /** One at a time. One that runs already may have read before the change, so the caller waits for the next. */
  function catchUp(): Promise<void> {
    next ??= turn.then(() => {
      next = undefined
      return pull()
    })
    turn = next.catch(() => {})
    return next
  }

  async function poll(): Promise<void> {
    try {
      await catchUp()
      if (isAway) log.info('accounts: PostgreSQL answers again')
      isAway = false
    } catch (err) {
      if (!isAway) log.warn({ err }, `accounts: ${whyAway(err)}; events are accepted by the known keys`)
      isAway = true
    }
    if (!isStopped) timer = setTimeout(() => void poll(), POLL_EVERY_MS)
  }

  let polling: Promise<void> | undefined
  return {
    /** Resolves when this node knows every change committed before the call. Rejects with `store_unavailable`. */
    catchUp,
    start(): void {
      polling = poll()
    },
    async stop(): Promise<void> {
      isStopped = true
      clearTimeout(timer)
      await polling
      await turn
    },
  }
}

interface Head extends Moment {
  /** The newest change of a key, an account or a removal. */
  readonly newest: number
  /** The moment asked about is in this database's history. */
  readonly isKnown: boolean
}

/** A lost and repeated history reaches the same number, but with another mark. */
function* selectHead(since: Moment | undefined): Script<Head> {
  const row = yield* get<{ id: string; version: number; mark: string | null; newest: number | null; known: number }>(
    `SELECT database_id AS id, change_counter.version, mark, greatest((SELECT max(changed) FROM api_key),
       (SELECT max(changed) FROM account), (SELECT max(changed) FROM removal)) AS newest,
       (SELECT count(*) FROM change_history WHERE version = $1 AND mark = $2) AS known
     FROM change_counter LEFT JOIN change_history ON change_history.version = change_counter.version`,
    since?.version ?? -1,
    since?.mark ?? '',
  )
  const { id, version, mark, newest, known } = row!
  const isKnown = known === 1 && id === since?.databaseId
  return { databaseId: id, version, mark: mark ?? '', newest: newest ?? 0, isKnown }
}
