// Invitations into an account. Invariants:
// * Good once, for 7 days. Only the token's hash is kept, with the accounts, so that every node accepts it.
// * Accepting never signs in an existing person: the session whose address is the invited one accepts. For an unknown
//   address it creates the person. The owner has seen the link, too, so it verifies no address.
// * The invitations of an owner end with the role (members.ts).
import { toTime } from '../../clock.ts'
import { Problem } from '../../problem.ts'
import { all, get, insert, run, type Script, type SqlDatabase } from '../../state/database.ts'
import type { Invitation, Invited } from '../../wire/people.ts'
import type { Role } from '../../wire/roles.ts'
import { createId, createSessionToken, hashSecret } from '../secret.ts'
import { insertMember, insertPerson, type Person, type Seat, selectPersonByEmail, selectRole } from './person-rows.ts'

const VALID_MS = 7 * 86_400_000
const PENDING_MAX = 100

interface Row extends Seat {
  readonly id: string
  readonly email: string
  readonly role: Role
  readonly name: string
}

/** All reject with Problem `store_unavailable`, changes also with `disk_low` and `disk_failed`. */
export function createInvitations(database: SqlDatabase, nowMs: () => number) {
  function* find(token: string): Script<Row> {
    const row = yield* get<Row>(
      `SELECT invitation.id, account, invitation.email, role, name FROM invitation
       JOIN account ON account.id = invitation.account WHERE hash = $1 AND ends_ms > $2`,
      hashSecret(token),
      nowMs(),
    )
    if (row === undefined) throw new Problem('not_found', 'The invitation has expired, was withdrawn or was used.')
    return row
  }

  function* use({ id, account, role }: Row, person: string): Script<void> {
    if ((yield* selectRole({ account, person })) === undefined) yield* insertMember({ account, person }, role, nowMs())
    yield* run('DELETE FROM invitation WHERE id = $1', id)
    yield* run('UPDATE person SET last_account = $1 WHERE id = $2', account, person)
  }

  return {
    /** Invitations that can still be accepted, newest first. */
    async list(account: string): Promise<Invitation[]> {
      const rows = await database.read(() =>
        all<Pick<Row, 'id' | 'email' | 'role'> & { readonly ends_ms: number }>(
          `SELECT id, email, role, ends_ms FROM invitation WHERE account = $1 AND ends_ms > $2
           ORDER BY created_ms DESC, rowid DESC`,
          account,
          nowMs(),
        ),
      )
      return rows.map(({ ends_ms, ...row }) => ({ ...row, expires_at: toTime(ends_ms) }))
    },
    /**
     * Ends earlier ones, unless `mayMail` says that this one is not mailed. `email` is normalized. Throws Problem
     * `already_member`, `limit_reached`, `role_missing`.
     */
    async create(
      { account, person }: Seat,
      email: string,
      role: Role,
      mayMail?: (email: string) => Script<boolean>,
    ): Promise<Invitation & { readonly token: string; readonly isMailed: boolean }> {
      const token = createSessionToken()
      const id = createId('inv')
      const ends_ms = nowMs() + VALID_MS
      const isMailed = await database.write(function* () {
        if ((yield* selectRole({ account, person })) !== 'owner')
          throw new Problem('role_missing', 'Only an owner invites people.')
        yield* refuseMember(account, email)
        const isMailed = mayMail !== undefined && (yield* mayMail(email))
        yield* run(
          'DELETE FROM invitation WHERE account = $1 AND (email = $2 OR ends_ms <= $3)',
          account,
          mayMail !== undefined && !isMailed ? '' : email,
          nowMs(),
        )
        const counted = yield* get<{ n: number }>('SELECT count(*) n FROM invitation WHERE account = $1', account)
        if (counted!.n >= PENDING_MAX)
          throw new Problem('limit_reached', `At most ${PENDING_MAX} invitations can be open at once; withdraw some.`)
        const columns = { id, account, email, role, creator: person, hash: hashSecret(token) }
        yield* insert('invitation', { ...columns, created_ms: nowMs(), ends_ms })
        return isMailed
      })
      return { id, email, role, expires_at: toTime(ends_ms), token, isMailed }
    },
    /** Throws Problem `not_found`. */
    async revoke(account: string, id: string): Promise<{ readonly email: string }> {
      const remove = 'DELETE FROM invitation WHERE account = $1 AND id = $2 RETURNING email'
      const removed = await database.write(() => get<{ email: string }>(remove, account, id))
      if (removed === undefined) throw new Problem('not_found', 'The account has no invitation with this id.')
      return removed
    },
    /** Throws Problem `not_found`. */
    look: (token: string): Promise<Invited> =>
      database.read(function* () {
        const { name, email, role } = yield* find(token)
        return { account: { name }, email, role, known: (yield* selectPersonByEmail(email)) !== undefined }
      }),
    /** The person of the session joins. Throws Problem `not_found` or `invitation_for_another`. */
    join: (token: string, person: Person): Promise<Seat> =>
      database.write(function* () {
        const row = yield* find(token)
        if (row.email !== person.email)
          throw new Problem('invitation_for_another', 'Sign in with the address that was invited.')
        yield* use(row, person.id)
        return { account: row.account, person: person.id }
      }),
    /** A new person with this password hash joins. Throws `not_found`, `session_invalid` for a known address. */
    joinAsNew: (token: string, password: string): Promise<Seat & Person> =>
      database.write(function* () {
        const row = yield* find(token)
        if ((yield* selectPersonByEmail(row.email)) !== undefined)
          throw new Problem('session_invalid', 'There is a person with this address: sign in, then accept.')
        const person = yield* insertPerson(row.email, password, nowMs(), 'vouched')
        yield* use(row, person.id)
        return { ...person, account: row.account, person: person.id }
      }),
  }
}

/** Throws Problem `already_member`. */
function* refuseMember(account: string, email: string): Script<void> {
  const person = yield* selectPersonByEmail(email)
  if (person !== undefined && (yield* selectRole({ account, person: person.id })) !== undefined)
    throw new Problem('already_member', 'The account has a member with this address; change the role instead.')
}
