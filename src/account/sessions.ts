// Sessions of people who signed in: a random token in a cookie, its SHA-256 here. They live in SQLite alone, so they outlast a restart
// and a revoked one is gone at once. `seen` is written at most once a minute, so that reading pages does not write; on a disk that
// takes no write it is not written at all, and reading goes on.
import type { Clock } from '../clock.ts'
import type { Logger } from '../log.ts'
import { Problem } from '../problem.ts'
import type { AccountDatabase } from './database.ts'
import { createId, createSessionToken, hashSecret } from './secret.ts'

const DAY_MS = 86_400_000
export const SESSION_IDLE_MS = 7 * DAY_MS
export const SESSION_MAX_MS = 30 * DAY_MS
const SEEN_EVERY_MS = 60_000
const SESSIONS_MAX = 100
const USER_AGENT_MAX = 300

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

export interface Sessions {
  find(token: string): FoundSession | undefined
  /** Ends the session of `oldToken`, so that a sign-in always changes the token. The account's oldest beyond 100 end too. */
  create(account: string, userAgent: string, oldToken?: string): string
  /** Most recently seen first. */
  list(account: string): Session[]
  /** Throws Problem `not_found`. */
  revoke(account: string, id: string): void
  /** Ends all sessions of an account but one. For use inside a `write`. */
  revokeOthers(account: string, keepId?: string): void
}

interface Row {
  id: string
  account: string
  user_agent: string
  created_ms: number
  seen_ms: number
}

export function createSessions({ db, write }: AccountDatabase, clock: Clock, log: Logger): Sessions {
  const nowMs = () => Math.floor(clock.wallUs() / 1000)
  const live = 'seen_ms > ?2 AND created_ms > ?3'
  const selectByHash = db.query<Row, [string, number, number]>(`SELECT * FROM session WHERE hash = ?1 AND ${live}`)
  const selectAll = db.query<Row, [string, number, number]>(
    `SELECT * FROM session WHERE account = ?1 AND ${live} ORDER BY seen_ms DESC, rowid DESC`,
  )
  const touch = db.query<null, [number, string]>('UPDATE session SET seen_ms = ? WHERE id = ?')
  const insert = db.query<null, [string, string, string, string, number, number]>(
    'INSERT INTO session (id, account, hash, user_agent, created_ms, seen_ms) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const deleteByHash = db.query<null, [string]>('DELETE FROM session WHERE hash = ?')
  const deleteOne = db.query<null, [string, string]>('DELETE FROM session WHERE account = ? AND id = ?')
  const deleteOthers = db.query<null, [string, string]>('DELETE FROM session WHERE account = ? AND id <> ?')
  const deleteEnded = db.query<null, [number, number]>('DELETE FROM session WHERE seen_ms <= ? OR created_ms <= ?')
  const deleteBeyondMax = db.query<null, [string]>(
    `DELETE FROM session WHERE id IN (SELECT id FROM session WHERE account = ? ORDER BY created_ms DESC, rowid DESC LIMIT -1 OFFSET ${SESSIONS_MAX})`,
  )

  let isTouchFailing = false
  function tryTouch(id: string, now: number): void {
    try {
      write(() => touch.run(now, id))
      isTouchFailing = false
    } catch (err) {
      if (!isTouchFailing) log.warn({ err }, 'accounts: when sessions were last seen cannot be written now')
      isTouchFailing = true
    }
  }

  return {
    find(token) {
      const now = nowMs()
      const row = selectByHash.get(hashSecret(token), now - SESSION_IDLE_MS, now - SESSION_MAX_MS)
      if (row === null) return undefined
      if (now - row.seen_ms >= SEEN_EVERY_MS) tryTouch(row.id, now)
      return { id: row.id, account: row.account }
    },
    create(account, userAgent, oldToken) {
      const token = createSessionToken()
      const now = nowMs()
      write(() => {
        if (oldToken !== undefined) deleteByHash.run(hashSecret(oldToken))
        deleteEnded.run(now - SESSION_IDLE_MS, now - SESSION_MAX_MS)
        insert.run(
          createId('ses'),
          account,
          hashSecret(token),
          userAgent.toWellFormed().slice(0, USER_AGENT_MAX),
          now,
          now,
        )
        deleteBeyondMax.run(account)
      })
      return token
    },
    list(account) {
      const now = nowMs()
      return selectAll.all(account, now - SESSION_IDLE_MS, now - SESSION_MAX_MS).map((row) => ({
        id: row.id,
        userAgent: row.user_agent,
        createdMs: row.created_ms,
        seenMs: row.seen_ms,
        expiresMs: Math.min(row.seen_ms + SESSION_IDLE_MS, row.created_ms + SESSION_MAX_MS),
      }))
    },
    revoke(account, id) {
      const { changes } = write(() => deleteOne.run(account, id))
      if (changes === 0) throw new Problem('not_found', 'The account has no session with this id.')
    },
    revokeOthers: (account, keepId = '') => void deleteOthers.run(account, keepId),
  }
}
