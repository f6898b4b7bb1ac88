// People and their passwords. An address belongs to one person, in all accounts.
import { type Fault, Problem } from '../../problem.ts'
import { run, type SqlDatabase } from '../../state/database.ts'
import { normalizeEmail, passwordFault } from '../credentials.ts'
import type { Passwords } from '../passwords.ts'
import type { Sessions } from '../sessions.ts'
import type { ProvePassword } from '../sign-in.ts'
import {
  type Person,
  type PersonRow,
  type Seat,
  selectLanding,
  selectPerson,
  selectPersonByEmail,
  stillThere,
} from './person-rows.ts'

/** Everything rejects with Problem `store_unavailable` while PostgreSQL is away. */
export interface People {
  /** Throws Problem `credentials_invalid` (the same, as late, for an unknown address) or `rate_limited`. */
  signIn(attempt: { email: string; password: string; address: string }): Promise<Seat>
  /** The account that a person who was proved otherwise enters. Throws Problem `credentials_invalid`. */
  landing(person: string): Promise<Seat>
  find(email: string): Promise<Person | undefined>
  /** Ends all other sessions and links. Throws like `confirmPassword`, and Problem `fields_invalid` at `/new_password`. */
  changePassword(id: string, change: { currentPassword: string; newPassword: string; session: string }): Promise<void>
  /** false: the person signs in by the provider alone. */
  hasPassword(id: string): Promise<boolean>
  /** Resolves when it is the person's password. Throws Problem `password_wrong` or `rate_limited`. */
  confirmPassword(id: string, proof: { password: string; session: string }): Promise<void>
  /**
   * Without the old password: for the machine's operator, or with a mailed link (`isVerified`). Ends all sessions and
   * links. Throws Problem `not_found`, `fields_invalid`.
   */
  resetPassword(who: { email: string } | { id: string }, password: string, isVerified?: boolean): Promise<Person>
}

export interface PeopleParts {
  readonly database: SqlDatabase
  readonly passwords: Passwords
  readonly sessions: Sessions
  readonly provePassword: ProvePassword
  nowMs(): number
}

export function createPeople({ database, passwords, sessions, provePassword, nowMs }: PeopleParts): People {
  const findByEmail = (email: string) => database.read(() => selectPersonByEmail(email))

  async function landing(person: string): Promise<Seat> {
    const seat = await database.read(() => selectLanding(person))
    if (seat === undefined) throw new Problem('credentials_invalid', 'This address is a member of no account any more.')
    return { account: seat.account, person }
  }

  async function confirm(id: string, password: string, session: string): Promise<PersonRow> {
    const row = await database.read(() => selectPerson(id))
    if (row === undefined) throw new Problem('session_invalid', 'The person was removed.')
    try {
      await provePassword({ email: row.email, password, session, hash: () => row.password ?? undefined })
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'credentials_invalid') throw error
      const detail = password === '' ? 'Send your password.' : 'The current password is wrong.'
      throw new Problem('password_wrong', detail)
    }
    return row
  }

  return {
    async signIn({ email, password, address }) {
      let row: PersonRow | undefined
      const hash = async (normal: string) => {
        row = await findByEmail(normal)
        return row?.password ?? undefined
      }
      await provePassword({ email, password, address, hash })
      await database.read(() => stillThere(row!, 'credentials_invalid'))
      return landing(row!.id)
    },
    landing,
    find: async (email) => {
      const row = await findByEmail(normalizeEmail(email) ?? '')
      return row && { id: row.id, email: row.email }
    },
    async changePassword(id, { currentPassword, newPassword, session }) {
      const row = await confirm(id, currentPassword, session)
      refuseFault(passwordFault(newPassword, row.email, '/new_password'))
      const hash = await passwords.hash(newPassword, session)
      await database.write(function* () {
        yield* stillThere(row, 'password_wrong')
        yield* run('UPDATE person SET password = $1 WHERE id = $2', hash, id)
        yield* run('DELETE FROM ticket WHERE person = $1', id)
        yield* sessions.revokeOthers(id, session)
      })
    },
    hasPassword: async (id) => (await database.read(() => selectPerson(id)))?.password != null,
    async confirmPassword(id, { password, session }) {
      const row = await confirm(id, password, session)
      await database.read(() => stillThere(row, 'password_wrong'))
    },
    async resetPassword(who, password, isVerified = false) {
      const row = await ('id' in who
        ? database.read(() => selectPerson(who.id))
        : findByEmail(normalizeEmail(who.email) ?? ''))
      refuseFault(passwordFault(password, row?.email))
      if (row === undefined) throw new Problem('not_found', 'No account has this e-mail address.')
      const hash = await passwords.hash(password)
      await database.write(function* () {
        yield* run('UPDATE person SET password = $1 WHERE id = $2', hash, row.id)
        if (isVerified)
          yield* run('UPDATE person SET verified_ms = coalesce(verified_ms, $1) WHERE id = $2', nowMs(), row.id)
        yield* run('DELETE FROM ticket WHERE person = $1', row.id)
        yield* sessions.revokeOthers(row.id)
      })
      return { id: row.id, email: row.email }
    },
  }
}

function refuseFault(fault: Fault | undefined): void {
  if (fault !== undefined) throw new Problem('fields_invalid', 'The new password cannot be used.', { errors: [fault] })
}
