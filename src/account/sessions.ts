// Sessions of people who signed in: a random token in a cookie, its SHA-256 here. They live in the database alone, so they outlast a restart,
// hold at every node, and a revoked one is gone at once. `seen` is written at most once a minute, so that reading pages does not write; while
// the database accepts no write it is not written at all, and reading continues.
import type { Clock } from '../clock.ts'
import type { Logger } from '../log.ts'
import { Problem } from '../problem.ts'
import { all, get, run, type Script, type SqlDatabase } from '../state/database.ts'
import { createId, createSessionToken, hashSecret } from './secret.ts'

const DAY_MS = 86_400_000
export const SESSION_IDLE_MS = 7 * DAY_MS
export const SESSION_MAX_MS = 30 * DAY_MS
const SEEN_EVERY_MS = 60_000
const SESSIONS_MAX = 100
const USER_AGENT_MAX = 300
/** PostgreSQL has no LIMIT -1, and SQLite no OFFSET without a LIMIT. */
const MANY = 1_000_000

export interface FoundSession {
  readonly id: string
  readonly account: string
}

/** Times are ms since the epoch. */
export interface Session {
  readonly id: string
  readonly userAgent: string
  readonly createdMs: number
  readonly seenMs: number
  readonly expiresMs: number
}

/** All reject with Problem `store_unavailable`, changes also with `disk_low` and `disk_failed`. */
export interface Sessions {
  find(token: string): Promise<FoundSession | undefined>
  /** Ends the session of `oldToken`, so that a sign-in always changes the token. The account's oldest beyond 100 end too. */
  create(account: string, userAgent: string, oldToken?: string): Promise<string>
  /** Most recently seen first. */
  list(account: string): Promise<Session[]>
  /** Throws Problem `not_found`. */
  revoke(account: string, id: string): Promise<void>
  /** Ends all sessions of an account but one. For use inside a `write`. */
  revokeOthers(account: string, keepId?: string): Script<void>
}

interface Row {
  id: string
  account: string
  user_agent: string
  created_ms: number
  seen_ms: number
}

const LIVE = 'seen_ms > $2 AND created_ms > $3'

export function createSessions(database: SqlDatabase, clock: Clock, log: Logger): Sessions {
  const nowMs = () => Math.floor(clock.wallUs() / 1000)

  let isTouchFailing = false
  async function tryTouch(id: string, now: number): Promise<void> {
    try {
      await database.write(() => run('UPDATE session SET seen_ms = $1 WHERE id = $2', now, id))
      isTouchFailing = false
    } catch (err) {
      if (!isTouchFailing) log.warn({ err }, 'accounts: when sessions were last seen cannot be written now')
      isTouchFailing = true
    }
  }

  return {
    async find(token) {
      const now = nowMs()
      const row = await database.read(() =>
        get<Row>(
          `SELECT * FROM session WHERE hash = $1 AND ${LIVE}`,
          hashSecret(token),
          now - SESSION_IDLE_MS,
          now - SESSION_MAX_MS,
        ),
      )
      if (row === undefined) return undefined
      if (now - row.seen_ms >= SEEN_EVERY_MS) await tryTouch(row.id, now)
      return { id: row.id, account: row.account }
    },
    async create(account, userAgent, oldToken) {
      const token = createSessionToken()
      const now = nowMs()
      await database.write(function* () {
        if (oldToken !== undefined) yield* run('DELETE FROM session WHERE hash = $1', hashSecret(oldToken))
        yield* run(
          'DELETE FROM session WHERE seen_ms <= $1 OR created_ms <= $2',
          now - SESSION_IDLE_MS,
          now - SESSION_MAX_MS,
        )
        yield* run(
          'INSERT INTO session (id, account, hash, user_agent, created_ms, seen_ms) VALUES ($1, $2, $3, $4, $5, $6)',
          createId('ses'),
          account,
          hashSecret(token),
          userAgent.toWellFormed().replaceAll('\0', '').slice(0, USER_AGENT_MAX),
          now,
          now,
        )
        yield* run(
          `DELETE FROM session WHERE id IN (SELECT id FROM session WHERE account = $1
           ORDER BY created_ms DESC, rowid DESC LIMIT ${MANY} OFFSET ${SESSIONS_MAX})`,
          account,
        )
      })
      return token
    },
    async list(account) {
      const now = nowMs()
      const rows = await database.read(() =>
        all<Row>(
          `SELECT * FROM session WHERE account = $1 AND ${LIVE} ORDER BY seen_ms DESC, rowid DESC`,
          account,
          now - SESSION_IDLE_MS,
          now - SESSION_MAX_MS,
        ),
      )
      return rows.map((row) => ({
        id: row.id,
        userAgent: row.user_agent,
        createdMs: row.created_ms,
        seenMs: row.seen_ms,
        expiresMs: Math.min(row.seen_ms + SESSION_IDLE_MS, row.created_ms + SESSION_MAX_MS),
      }))
    },
    async revoke(account, id) {
      const changes = await database.write(() => run('DELETE FROM session WHERE account = $1 AND id = $2', account, id))
      if (changes === 0) throw new Problem('not_found', 'The account has no session with this id.')
    },
    *revokeOthers(account, keepId = '') {
      yield* run('DELETE FROM session WHERE account = $1 AND id <> $2', account, keepId)
    },
  }
}
