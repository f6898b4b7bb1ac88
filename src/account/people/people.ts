// People and their passwords. An address belongs to one person, in all accounts.
import { type Fault, Problem } from '../../problem.ts'
import { run, type SqlDatabase } from '../../state/database.ts'
import { normalizeEmail, passwordFault } from '../credentials.ts'
import type { Passwords } from '../passwords.ts'
import type { Sessions } from '../sessions.ts'
import type { ProvePassword } from '../sign-in.ts'
import { isClaim, isOnlyInvited, type Proved, proveAddress } from './first-proof.ts'
import {
  type Person,
  type PersonRow,
  type Seat,
  selectLanding,
  selectPerson,
  selectPersonByEmail,
  stillThere,
} from './person-rows.ts'

interface PeopleParts {
  readonly database: SqlDatabase
  readonly passwords: Passwords
  readonly sessions: Sessions
  readonly provePassword: ProvePassword
  readonly isSignUpOpen: boolean
  nowMs(): number
}

export type People = ReturnType<typeof createPeople>

/** Everything rejects with Problem `store_unavailable` while PostgreSQL is away. */
export function createPeople({ database, passwords, sessions, provePassword, isSignUpOpen, nowMs }: PeopleParts) {
  const findByEmail = (email: string) => database.read(() => selectPersonByEmail(email))

  async function landing(person: string): Promise<Seat> {
    const seat = await database.read(() => selectLanding(person))
    if (seat === undefined)
      throw new Problem('credentials_invalid', 'This address does not belong to an account any more.')
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
    /** Throws Problem `credentials_invalid` (the same, as late, for an unknown address) or `rate_limited`. */
    async signIn({ email, password, address }: { email: string; password: string; address: string }): Promise<Seat> {
      let row: PersonRow | undefined
      const hash = async (normal: string) => {
        row = await findByEmail(normal)
        return row?.password ?? undefined
      }
      await provePassword({ email, password, address, hash })
      await database.read(() => stillThere(row!, 'credentials_invalid'))
      return landing(row!.id)
    },
    /** The account that a person who was proved otherwise enters. Throws Problem `credentials_invalid`. */
    landing,
    async find(email: string): Promise<Person | undefined> {
      const row = await findByEmail(normalizeEmail(email) ?? '')
      return row && { id: row.id, email: row.email }
    },
    /** See first-proof.ts. */
    isOnlyInvited: (id: string): Promise<boolean> =>
      database.read(function* () {
        const row = yield* selectPerson(id)
        return row !== undefined && (yield* isOnlyInvited(row))
      }),
    /** Ends all other sessions and links. Throws like `confirmPassword`, and `fields_invalid` at `/new_password`. */
    async changePassword(
      id: string,
      { currentPassword, newPassword, session }: { currentPassword: string; newPassword: string; session: string },
    ): Promise<void> {
      const row = await confirm(id, currentPassword, session)
      refuseFault(passwordFault(newPassword, row.email, '/new_password'))
      const hash = await passwords.hash(newPassword, { name: session, isKnown: true })
      await database.write(function* () {
        yield* stillThere(row, 'password_wrong')
        yield* run('UPDATE person SET password = $1 WHERE id = $2', hash, id)
        yield* run('DELETE FROM ticket WHERE person = $1', id)
        yield* sessions.revokeOthers(id, session)
      })
    },
    /** false: the person signs in by the provider alone. */
    hasPassword: async (id: string): Promise<boolean> =>
      (await database.read(() => selectPerson(id)))?.password != null,
    /** Resolves when it is the person's password. Throws Problem `password_wrong` or `rate_limited`. */
    async confirmPassword(id: string, { password, session }: { password: string; session: string }): Promise<void> {
      const row = await confirm(id, password, session)
      await database.read(() => stillThere(row, 'password_wrong'))
    },
    /**
     * Without the old password: for the machine's operator, or with a mailed link (`isProof`). Ends all sessions and
     * links. `disputed`: the accounts whose claim it ended. Throws Problem `not_found`, `fields_invalid`.
     */
    async resetPassword(
      who: { email: string } | { id: string },
      password: string,
      isProof = false,
    ): Promise<Person & { readonly disputed: readonly string[] }> {
      const row = await ('id' in who
        ? database.read(() => selectPerson(who.id))
        : findByEmail(normalizeEmail(who.email) ?? ''))
      refuseFault(passwordFault(password, row?.email))
      if (row === undefined) throw new Problem('not_found', 'No account has this e-mail address.')
      const hash = await passwords.hash(password)
      const disputed = await database.write(function* () {
        const proof = { by: 'password', isSignUpOpen, nowMs: nowMs() } as const
        const { disputed } = isProof ? yield* proveAddress(row, proof) : { disputed: [] }
        yield* run('UPDATE person SET password = $1 WHERE id = $2', hash, row.id)
        yield* run('DELETE FROM ticket WHERE person = $1', row.id)
        yield* sessions.revokeOthers(row.id)
        return disputed
      })
      return { id: row.id, email: row.email, disputed }
    },
    /** By a mailed link, without a new password; `session`: that of the browser. Undefined: the person is gone. */
    async proveAddress(id: string, session?: { readonly person: string }): Promise<(Person & Proved) | undefined> {
      return database.write(function* () {
        const row = yield* selectPerson(id)
        if (row === undefined) return undefined
        const proved = yield* proveAddress(row, {
          by: session?.person === id ? 'session' : 'link',
          isSignUpOpen,
          nowMs: nowMs(),
        })
        return { id, email: row.email, ...proved }
      })
    },
    /** Has the person proved the address, and may they be a stranger who claims it? */
    async proofOf(id: string): Promise<{ readonly isProved: boolean; readonly isClaim: boolean }> {
      return database.read(function* () {
        const row = yield* selectPerson(id)
        if (row === undefined) return { isProved: false, isClaim: false }
        return { isProved: row.verified_ms !== null, isClaim: yield* isClaim(row, isSignUpOpen) }
      })
    },
  }
}

function refuseFault(fault: Fault | undefined): void {
  if (fault !== undefined) throw new Problem('fields_invalid', 'The new password cannot be used.', { errors: [fault] })
}
