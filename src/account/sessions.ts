// Sessions: a random token in a cookie, its SHA-256 here; each shows one account of its person. Only in the database:
// they outlast restarts, hold at every node, and end at once when revoked. Each request reads the current role. `seen`
// is written at most once a minute, and not while the database accepts no write, so reading goes through.
import { toTime } from '../clock.ts'
import type { Logger } from '../log.ts'
import { Problem } from '../problem.ts'
import { all, get, insert, run, type Script, type SqlDatabase } from '../state/database.ts'
import type { Role } from '../wire/roles.ts'
import type { SessionEntry } from '../wire/sessions.ts'
import { type Seat, selectRole } from './people/person-rows.ts'
import { createId, createSessionToken, hashSecret } from './secret.ts'

const DAY_MS = 86_400_000
const SESSION_IDLE_MS = 7 * DAY_MS
const SESSION_MAX_MS = 30 * DAY_MS
const SEEN_EVERY_MS = 60_000
const SESSIONS_MAX = 100
const USER_AGENT_MAX = 300
/** PostgreSQL has no LIMIT -1, and SQLite no OFFSET without a LIMIT. */
const MANY = 1_000_000

export interface FoundSession extends Seat {
  readonly id: string
  readonly email: string
  /** The person's current role in the account. */
  readonly role: Role
  readonly proof: SessionProof
  /** ms since the epoch. */
  readonly createdMs: number
  /** Null: by age and use alone. */
  readonly endsMs: number | null
}

/** How the person signed in. */
export type SessionProof = 'password' | 'oidc'

interface NewSession extends Seat {
  readonly userAgent: string
  /** The session ends, so that a sign-in always changes the token. */
  readonly oldToken?: string | undefined
  readonly proof?: SessionProof
  /** ms since the epoch; absent: by age and use alone. */
  readonly endsMs?: number
}

const TIMES = 'session.created_ms AS "createdMs", seen_ms AS "seenMs", ends_ms AS "endsMs"'
const LIVE = 'session.seen_ms > $2 AND session.created_ms > $3 AND coalesce(session.ends_ms > $4, true)'

export type Sessions = ReturnType<typeof createSessions>

/** All reject with Problem `store_unavailable`, changes also with `disk_low` and `disk_failed`. */
export function createSessions(database: SqlDatabase, nowMs: () => number, log: Logger) {
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
    async find(token: string): Promise<FoundSession | undefined> {
      const now = nowMs()
      const row = await database.read(() =>
        get<FoundSession & { readonly seenMs: number }>(
          `SELECT session.id, session.account, session.person, email, role, proof, ${TIMES} FROM session
           JOIN membership ON membership.account = session.account AND membership.person = session.person
           JOIN person ON person.id = session.person WHERE hash = $1 AND ${LIVE}`,
          hashSecret(token),
          now - SESSION_IDLE_MS,
          now - SESSION_MAX_MS,
          now,
        ),
      )
      if (row === undefined) return undefined
      const { seenMs, ...found } = row
      if (now - seenMs >= SEEN_EVERY_MS) await tryTouch(row.id, now)
      return found
    },
    /** The token. The person's oldest sessions beyond 100 end. */
    async create({ account, person, userAgent, oldToken, proof = 'password', endsMs }: NewSession): Promise<string> {
      const token = createSessionToken()
      const now = nowMs()
      await database.write(function* () {
        if (oldToken !== undefined) yield* run('DELETE FROM session WHERE hash = $1', hashSecret(oldToken))
        yield* run(
          'DELETE FROM session WHERE seen_ms <= $1 OR created_ms <= $2 OR ends_ms <= $3',
          now - SESSION_IDLE_MS,
          now - SESSION_MAX_MS,
          now,
        )
        // the person may have been removed since the proof
        if ((yield* selectRole({ account, person })) === undefined)
          throw new Problem('credentials_invalid', 'You are no longer a member of the account. Sign in again.')
        const user_agent = userAgent.toWellFormed().replaceAll('\0', '').slice(0, USER_AGENT_MAX)
        const times = { created_ms: now, seen_ms: now, ends_ms: endsMs ?? null }
        const hash = hashSecret(token)
        yield* insert('session', { id: createId('ses'), account, person, hash, user_agent, proof, ...times })
        yield* run(
          `DELETE FROM session WHERE id IN (SELECT id FROM session WHERE person = $1
           ORDER BY created_ms DESC, rowid DESC LIMIT ${MANY} OFFSET ${SESSIONS_MAX})`,
          person,
        )
      })
      return token
    },
    /** The session shows another account of its person from now on. Throws Problem `not_found`. */
    async enter(id: string, { account, person }: Seat): Promise<void> {
      await database.write(function* () {
        if ((yield* selectRole({ account, person })) === undefined)
          throw new Problem('not_found', 'You do not belong to an account with this id.')
        yield* run('UPDATE session SET account = $1 WHERE id = $2 AND person = $3', account, id, person)
        yield* run('UPDATE person SET last_account = $1 WHERE id = $2', account, person)
      })
    },
    /** The sessions of a person, most recently seen first. */
    async list(person: string): Promise<Omit<SessionEntry, 'current'>[]> {
      const now = nowMs()
      const rows = await database.read(() =>
        all<
          Pick<FoundSession, 'id' | 'createdMs' | 'endsMs'> & { readonly user_agent: string; readonly seenMs: number }
        >(
          `SELECT id, user_agent, ${TIMES} FROM session WHERE person = $1 AND ${LIVE}
           ORDER BY seen_ms DESC, rowid DESC`,
          person,
          now - SESSION_IDLE_MS,
          now - SESSION_MAX_MS,
          now,
        ),
      )
      return rows.map(({ id, user_agent, createdMs, seenMs, endsMs }) => {
        const lastMs = Math.min(seenMs + SESSION_IDLE_MS, createdMs + SESSION_MAX_MS)
        const [created_at, last_seen_at] = [toTime(createdMs), toTime(seenMs)]
        return { id, user_agent, created_at, last_seen_at, expires_at: toTime(Math.min(lastMs, endsMs ?? lastMs)) }
      })
    },
    /** Throws Problem `not_found`. */
    async revoke(person: string, id: string): Promise<void> {
      const changes = await database.write(() => run('DELETE FROM session WHERE person = $1 AND id = $2', person, id))
      if (changes === 0) throw new Problem('not_found', 'You have no session with this id.')
    },
    /** Ends all sessions of a person. */
    revokeAll: (person: string): Promise<number> =>
      database.write(() => run('DELETE FROM session WHERE person = $1', person)),
    /** Ends all sessions of a person but one. For use inside a `write`. */
    *revokeOthers(person: string, keepId: string = ''): Script<void> {
      yield* run('DELETE FROM session WHERE person = $1 AND id <> $2', person, keepId)
    },
  }
}
