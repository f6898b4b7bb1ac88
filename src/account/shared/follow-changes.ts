// Keeps this node's copy of the keys and accounts up to date. Invariants:
// * The counter of changes is polled, so a lost connection is noticed; a change of this node is read back at once. Then
//   the rows that changed since are read, a page at a time. Where the history does not have that moment (a restored
//   database, a node that was away for long), everything is read; once an hour everything is compared (sweep.ts).
// * Memory first, then the file: a revoked key must fail even while the disk is full. Until a sweep has found the file
//   whole again, it does not say up to which moment it knows everything.
// * A missing account (a restored database) loses its keys here and nothing else: data goes only by the list `removal`.
import type { Clock } from '../../clock.ts'
import type { Logger } from '../../log.ts'
import { all, get, type Script, type SqlDatabase } from '../../state/database.ts'
import { whyAway } from '../../state/postgres.ts'
import { KEY_COLUMNS, type KeyRing, type KeyRow } from '../key-ring.ts'
import type { Suspensions } from '../suspensions.ts'
import { ACCOUNT_COLUMNS, type AccountState, type Moment, type Removal, type Replica } from './replica.ts'
import { createSweep, PAGE_ROWS } from './sweep.ts'

const POLL_EVERY_MS = 500
const SWEEP_EVERY_US = 3_600_000_000
/** A sweep gets so many pages of each poll: changes do not wait for it. */
const SWEPT_PER_POLL = 4

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

export function createFollowChanges(options: FollowChangesOptions) {
  const { postgres, replica, ring, suspensions, clock, log } = options
  /** What memory knows everything up to. */
  let since: (Moment & { readonly newest: number }) | undefined
  let isStarted = false
  let sweptUs = clock.monotonicUs()
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let isStopped = false
  let isAway = false
  /** The file lacks a change that it could not take. */
  let isFileBehind = false
  /** The file has taken everything since the sweep began, also the news. */
  let isWhole = false
  const sweep = createSweep({ ...options, forgetAccount, write })

  function forgetAccount(account: string): void {
    ring.dropAccount(account)
    options.onRemoved(account)
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

  async function pull(): Promise<void> {
    if (!isStarted) {
      const moment = replica.moment()
      since = moment && { ...moment, newest: 0 }
      isStarted = true
    }
    const head = await postgres.read(() => selectHead(since))
    if (since === undefined || !head.isKnown || head.newest < since.newest) {
      beginSweep()
      let isSwept = false
      while (!isSwept) isSwept = await sweep.step()
      since = head
      await endSweep(head)
    } else {
      if (head.newest > since.version) {
        await readNews(since.version)
        if (!isFileBehind) await write(replica.noteMoment(head))
      }
      since = head
      await sweepOn(head)
    }
  }

  function beginSweep(): void {
    sweptUs = clock.monotonicUs()
    isWhole = true
    sweep.begin()
  }

  async function endSweep(moment: Moment): Promise<void> {
    if (!isWhole) return
    isFileBehind = false
    await write(replica.noteMoment(moment))
  }

  /** Once an hour, and after the file could not be written: some pages of the sweep. */
  async function sweepOn(moment: Moment): Promise<void> {
    if (!sweep.isRunning()) {
      if (!isFileBehind && clock.monotonicUs() - sweptUs < SWEEP_EVERY_US) return
      beginSweep()
    }
    for (let i = 0; i < SWEPT_PER_POLL; i++) if (await sweep.step()) return endSweep(moment)
  }

  /** Everything that changed after this version: in memory at once, then in the file. */
  async function readNews(version: number): Promise<void> {
    const accounts = pagesOf<AccountState>(postgres, 'account', 'id', ACCOUNT_COLUMNS.join(), version)
    for await (const page of accounts) {
      page.forEach(suspensions.note)
      await write(replica.setAccounts(page))
    }
    const columns = `${KEY_COLUMNS}, revoked_ms`
    for await (const page of pagesOf<ChangedKey>(postgres, 'api_key', 'hash', columns, version)) {
      for (const key of page) {
        if (key.revoked_ms === null) ring.set(key)
        else ring.delete(key.hash)
      }
      await write(replica.setKeys(page))
    }
    const removals = pagesOf<Removal>(postgres, 'removal', 'account', 'account, deleted_ms', version)
    for await (const page of removals) {
      for (const { account } of page) forgetAccount(account)
      await write(replica.remove(page))
    }
  }

  function startPull(): Promise<void> {
    running = pull().finally(() => {
      running = undefined
    })
    return running
  }

  /** A pull that runs already may have read before the change, so the caller waits for the one after it; one at a time. */
  function catchUp(): Promise<void> {
    if (next !== undefined) return next
    if (running === undefined) return startPull()
    next = running
      .catch(() => {})
      .then(() => {
        next = undefined
        return startPull()
      })
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
      await running?.catch(() => {})
    },
  }
}

type ChangedKey = KeyRow & { readonly revoked_ms: number | null }

/** Rows that changed after this version, by the order of the change and their key. */
async function* pagesOf<Row>(
  postgres: Pick<SqlDatabase, 'read'>,
  table: 'account' | 'api_key' | 'removal',
  key: 'id' | 'hash' | 'account',
  columns: string,
  version: number,
): AsyncGenerator<Row[]> {
  let [changed, last] = [version, '\uffff']
  for (;;) {
    const rows = await postgres.read(() =>
      all<Row & { readonly changed_at: number; readonly key_at: string }>(
        `SELECT ${columns}, changed AS changed_at, ${key} AS key_at FROM ${table}
         WHERE (changed, ${key}) > ($1, $2) ORDER BY changed, ${key} LIMIT ${PAGE_ROWS}`,
        changed,
        last,
      ),
    )
    if (rows.length > 0) yield rows.map(({ changed_at: _, key_at: __, ...row }) => row as unknown as Row)
    if (rows.length < PAGE_ROWS) return
    const end = rows.at(-1)!
    changed = end.changed_at
    last = end.key_at
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
