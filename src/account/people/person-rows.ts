// The rows of people and memberships: statements that several changes share. Every person is a member of some account:
// the last membership takes its person along.
import { Problem } from '../../problem.ts'
import { get, insert, run, type Script } from '../../state/database.ts'
import type { Role } from '../../wire/roles.ts'
import { createId } from '../secret.ts'

export interface PersonRow {
  readonly id: string
  readonly email: string
  /** Null: signs in by the provider alone. */
  readonly password: string | null
  /** ms since the epoch, when the person proved to receive e-mail at the address. */
  readonly verified_ms: number | null
  readonly last_account: string | null
  readonly created_ms: number
  /** 1: a stranger's sign-up without proof; 0: none; 2: first-proof.ts; null: made by 2.0. */
  readonly claim: number | null
}

export interface Person {
  readonly id: string
  readonly email: string
}

/** A person in an account. */
export interface Seat {
  readonly account: string
  readonly person: string
}

export const selectPerson = (id: string) => get<PersonRow>('SELECT * FROM person WHERE id = $1', id)
export const selectPersonByEmail = (email: string) => get<PersonRow>('SELECT * FROM person WHERE email = $1', email)

/** Whether a new person's address is a stranger's claim, vouched for by somebody else, or proved. */
export type Vouched = 'claimed' | 'vouched' | 'proved'

/** `password` is a hash. Throws Problem `email_taken`. */
export function* insertPerson(email: string, password: string | null, nowMs: number, vouched: Vouched): Script<Person> {
  // A node of the version before deletes accounts without the people in them.
  yield* run(`DELETE FROM person WHERE email = $1 AND ${ALONE}`, email)
  if ((yield* selectPersonByEmail(email)) !== undefined)
    throw new Problem('email_taken', 'Sign in instead, or use another address.')
  const id = createId('per')
  const verified_ms = vouched === 'proved' ? nowMs : null
  const claim = Number(vouched === 'claimed')
  yield* insert('person', { id, email, password, created_ms: nowMs, verified_ms, claim })
  return { id, email }
}

const ALONE = 'NOT EXISTS (SELECT 1 FROM membership WHERE membership.person = person.id)'

export const deletePersonAlone = (id: string) => run(`DELETE FROM person WHERE id = $1 AND ${ALONE}`, id)

/** A hash takes a while: the proof fails if the password was changed or the person removed meanwhile. */
export function* stillThere(proved: PersonRow, code: 'credentials_invalid' | 'password_wrong'): Script<void> {
  const row = yield* selectPerson(proved.id)
  if (row?.password !== proved.password) throw new Problem(code, 'The password was just changed.')
}

export function* selectRole({ account, person }: Seat): Script<Role | undefined> {
  const find = 'SELECT role FROM membership WHERE account = $1 AND person = $2'
  return (yield* get<{ role: Role }>(find, account, person))?.role
}

export const insertMember = ({ account, person }: Seat, role: Role, nowMs: number) =>
  insert('membership', { account, person, role, since_ms: nowMs })

/** The account that the person saw last, while it is still one of theirs. */
export function* selectLanding(person: string): Script<{ account: string; role: Role } | undefined> {
  return yield* get<{ account: string; role: Role }>(
    `SELECT account, role FROM membership JOIN person ON person.id = membership.person WHERE person = $1
     ORDER BY CASE WHEN account = last_account THEN 0 ELSE 1 END, since_ms, account`,
    person,
  )
}
