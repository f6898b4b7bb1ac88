// Keeps this node's copy of the keys and accounts up to date. Invariants:
// * The newest change is polled, so a lost connection is noticed; a change of this node is read back at once. When it
//   differs, and once a minute, everything is read: there is no history to follow, and none to get wrong.
// * Memory first, then the file: a revoked key must fail even while the disk is full.
// * A missing account (a restored database) loses its keys here and nothing else: data goes only by the list `removal`.
import type { Clock } from '../../clock.ts'
import type { Logger } from '../../log.ts'
import { all, get, type Script } from '../../state/database.ts'
import type { Postgres } from '../../state/postgres.ts'
import { KEY_COLUMNS, type KeyRing, type KeyRow } from '../key-ring.ts'
import type { Replica, Snapshot } from './replica.ts'

const POLL_EVERY_MS = 500
const READ_ALL_EVERY_US = 60_000_000

interface FollowChangesOptions {
  readonly postgres: Pick<Postgres, 'read' | 'readOneMoment'>
  readonly replica: Replica
  readonly ring: KeyRing
  readonly clock: Clock
  readonly log: Logger
  /** An account was deleted: forget its series. */
  onRemoved(account: string): void
}

export type FollowChanges = ReturnType<typeof createFollowChanges>

export function createFollowChanges(options: FollowChangesOptions) {
  const { postgres, replica, ring, clock, log, onRemoved } = options
  /** The newest change when everything was read, and when that was; undefined while the file lags behind. */
  let read: { readonly change: string; readonly atUs: number } | undefined
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let isStopped = false
  let isAway = false
  let isFileBehind = false

  async function pull(): Promise<void> {
    const nowUs = clock.monotonicUs()
    if (read !== undefined && nowUs - read.atUs < READ_ALL_EVERY_US) {
      if ((await postgres.read(selectNewestChange)) === read.change) return
    }
    const { change, ...snapshot } = await postgres.readOneMoment(selectAll)
    ring.replace(snapshot.keys)
    for (const account of replica.accountsMissingFrom(snapshot)) onRemoved(account)
    read = writeDown(snapshot) ? { change, atUs: nowUs } : undefined
  }

  /** False if the write failed: the next poll reads everything again. */
  function writeDown(snapshot: Snapshot): boolean {
    try {
      replica.apply(snapshot, clock.wallUs() / 1000)
      isFileBehind = false
      return true
    } catch (err) {
      if (!isFileBehind) log.warn({ err }, 'accounts: the copy of the keys cannot be written; trying again')
      isFileBehind = true
      return false
    }
  }

  function startPull(): Promise<void> {
    running = pull().finally(() => {
      running = undefined
    })
    return running
  }

  /** A pull that runs already may have read before the change, so the caller waits for the one after it. */
  function catchUp(): Promise<void> {
    if (running === undefined) return startPull()
    next ??= running
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
      if (!isAway) log.warn({ err }, 'accounts: PostgreSQL does not answer; events are accepted by the known keys')
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

/** Of a key, an account or a removal. A lost and repeated history reaches the same number, but with another mark. */
function* selectNewestChange(): Script<string> {
  const row = yield* get(
    `SELECT database_id, newest, (SELECT mark FROM change_history WHERE version = newest) AS mark
     FROM change_counter, (SELECT greatest((SELECT max(changed) FROM api_key), (SELECT max(changed) FROM account),
       (SELECT max(changed) FROM removal)) AS newest) AS changes`,
  )
  return JSON.stringify(row)
}

function* selectAll(): Script<Snapshot & { readonly change: string }> {
  const change = yield* selectNewestChange()
  const { database_id } = (yield* get<{ database_id: string }>('SELECT database_id FROM change_counter'))!
  const accounts = yield* all<Snapshot['accounts'][number]>('SELECT id, operator, disputed_by FROM account')
  const removed = yield* all<Snapshot['removed'][number]>('SELECT account, deleted_ms FROM removal')
  const keys = yield* all<KeyRow>(`SELECT ${KEY_COLUMNS} FROM api_key WHERE revoked_ms IS NULL`)
  return { change, databaseId: database_id, accounts, removed, keys }
}
