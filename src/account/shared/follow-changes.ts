// Keeps this node's copy of the keys and accounts up to date. Invariants:
// * The change counter is polled, so a lost connection is noticed; a change of this node is read back at once.
// * Only changes after a value of the counter that has the same mark in the database are added to what the node knows.
//   Otherwise (failover to a replica that lagged, restore, another database) everything is read again.
// * Memory first, then the file: a revoked key must fail even while the disk is full.
import type { Clock } from '../../clock.ts'
import type { Logger } from '../../log.ts'
import { all, get, type Script } from '../../state/database.ts'
import type { Postgres } from '../../state/postgres.ts'
import { KEY_COLUMNS, type KeyRing } from '../key-ring.ts'
import type { Delta, Followed, Replica, SharedKeyRow } from './replica.ts'

const POLL_EVERY_MS = 500
/** A new node, or one that was away for longer than its events could wait, has nothing of accounts deleted before. */
const REMOVALS_OF_NEW_NODE_MS = 30 * 86_400_000

export interface FollowChangesOptions {
  readonly postgres: Pick<Postgres, 'readOneMoment'>
  readonly replica: Replica
  readonly ring: KeyRing
  readonly clock: Clock
  readonly log: Logger
  /** An account was deleted: forget its series. */
  onRemoved(account: string): void
}

interface Counter {
  readonly version: number
  readonly mark: string
  readonly database_id: string
  readonly salt: string
  /** The mark of the version that this node has followed so far; null when the database does not know it. */
  readonly followed_mark: string | null
}

export type FollowChanges = ReturnType<typeof createFollowChanges>

export function createFollowChanges(options: FollowChangesOptions) {
  const { postgres, replica, ring, clock, log, onRemoved } = options
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let isStopped = false
  let isAway = false
  let isFileBehind = false

  async function pull(): Promise<void> {
    const followed = replica.followed()
    const recentMs = Math.floor(clock.wallUs() / 1000) - REMOVALS_OF_NEW_NODE_MS
    const delta = await postgres.readOneMoment(() => readDelta(followed, recentMs))
    if (delta === undefined) return
    if (delta.whole !== undefined) {
      if (followed.mark !== '' && !isFileBehind)
        log.warn('accounts: PostgreSQL has lost or replaced changes (failover or restore); all keys are read again')
      ring.clear()
    }
    for (const key of delta.keys) {
      if (key.revoked_ms === null) ring.set(key)
      else ring.delete(key.hash)
    }
    for (const account of delta.removed) {
      ring.dropAccount(account)
      onRemoved(account)
    }
    writeDown(delta)
  }

  /** If the write fails, the version stays as it was, and the next poll reads the same changes again. */
  function writeDown(delta: Delta): void {
    try {
      replica.apply(delta)
      isFileBehind = false
    } catch (err) {
      if (!isFileBehind) log.warn({ err }, 'accounts: the copy of the keys cannot be written; trying again')
      isFileBehind = true
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

function* readDelta(followed: Followed, recentMs: number): Script<Delta | undefined> {
  const { version, mark, database_id, salt, followed_mark } = (yield* get<Counter>(
    `SELECT version, coalesce(mark, '') AS mark, database_id, salt,
       (SELECT mark FROM change_history WHERE version = $1) AS followed_mark
     FROM change_counter LEFT JOIN change_history USING (version), series_salt`,
    followed.version,
  ))!
  const isKnown = followed.database_id === database_id && followed.mark === followed_mark
  if (isKnown && followed.version === version) return undefined
  const since = isKnown ? followed.version : 0
  const removed = yield* all<{ account: string }>(
    'SELECT account FROM removal WHERE changed > $1 AND deleted_ms > $2',
    since,
    since === 0 ? recentMs : 0,
  )
  const accounts = yield* all<{ id: string; operator: number }>(
    'SELECT id, operator FROM account WHERE changed > $1',
    since,
  )
  const keys = yield* all<SharedKeyRow>(`SELECT ${KEY_COLUMNS}, revoked_ms FROM api_key WHERE changed > $1`, since)
  const delta = { version, mark, removed: removed.map((row) => row.account), accounts, keys }
  return isKnown ? delta : { ...delta, whole: { databaseId: database_id, salt } }
}
