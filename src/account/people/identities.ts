// A person's identity at the provider: (issuer, subject). Rules for someone who comes from there:
// 1. A known identity is its person, whatever the address is now.
// 2. Otherwise the address decides, if the provider verified it, which is a proof: see first-proof.ts.
// 3. Someone new joins the accounts that invited the address, and the operator's if a claim or OIDC_JOIN gives a role.
// 4. A role from claims is applied in the operator's account at each sign-in, and follows them: when they give none any
//    more, it falls to that of OIDC_JOIN or else viewer. The last owner stays one. A role by hand or invitation stays.
import { Problem } from '../../problem.ts'
import { all, get, insert, run, type Script, type SqlDatabase } from '../../state/database.ts'
import type { Role } from '../../wire/roles.ts'
import { newEmail } from '../credentials.ts'
import type { KeyRing, KeyRow } from '../key-ring.ts'
import { proveAddress } from './first-proof.ts'
import type { Members } from './members.ts'
import {
  insertMember,
  insertPerson,
  type Person,
  type Seat,
  selectLanding,
  selectPerson,
  selectPersonByEmail,
  selectRole,
} from './person-rows.ts'

interface ProvedIdentity {
  readonly issuer: string
  readonly subject: string
  readonly email?: string
  readonly isEmailVerified: boolean
  /** From the claims, in the operator's account. */
  readonly role?: Role
}

interface Parts {
  readonly database: SqlDatabase
  readonly ring: KeyRing
  readonly members: Members
  readonly isSignUpOpen: boolean
  nowMs(): number
}

interface Found extends Person {
  readonly isNew: boolean
  /** Accounts that are disputed now. */
  readonly disputed: readonly string[]
}

export type Identities = ReturnType<typeof createIdentities>

export function createIdentities({ database, ring, members, isSignUpOpen, nowMs }: Parts) {
  function* findOrLink({ issuer, subject, email, isEmailVerified }: ProvedIdentity): Script<Found> {
    const known = yield* get<{ person: string }>(
      'SELECT person FROM identity WHERE issuer = $1 AND subject = $2',
      issuer,
      subject,
    )
    const row = known && (yield* selectPerson(known.person))
    if (row !== undefined) return { id: row.id, email: row.email, isNew: false, disputed: [] }
    // An address with letters that fold (Kelvin's K) is not that of the person with plain ones.
    const address = newEmail(email ?? '')
    if (address === undefined || !isEmailVerified)
      throw new Problem(
        'email_unverified',
        'The provider has not verified your e-mail address. Verify it there, then try again.',
      )
    const same = yield* selectPersonByEmail(address)
    const isKnown = same !== undefined && (yield* selectLanding(same.id)) !== undefined
    const proof = { by: 'provider', isSignUpOpen, nowMs: nowMs() } as const
    const { disputed } = isKnown ? yield* proveAddress(same, proof) : { disputed: [] }
    const person = isKnown ? same : yield* insertPerson(address, null, nowMs(), 'proved')
    yield* insert('identity', { issuer, subject, person: person.id, created_ms: nowMs() })
    return { id: person.id, email: person.email, isNew: !isKnown, disputed }
  }

  /** Accepts the invitations of a verified address. */
  function* acceptInvitations(person: Person): Script<void> {
    const open = yield* all<{ id: string; account: string; role: Role }>(
      'SELECT id, account, role FROM invitation WHERE email = $1 AND ends_ms > $2',
      person.email,
      nowMs(),
    )
    for (const { id, account, role } of open) {
      const seat = { account, person: person.id }
      if ((yield* selectRole(seat)) === undefined) yield* insertMember(seat, role, nowMs())
      yield* run('DELETE FROM invitation WHERE id = $1', id)
    }
  }

  /** The role of the claims, or for someone without any account that of OIDC_JOIN. */
  function* joinOperator(person: Person, role: Role | undefined, join: Role | undefined): Script<readonly KeyRow[]> {
    const operator = yield* get<{ id: string }>('SELECT id FROM account WHERE operator = 1')
    if (operator === undefined) return []
    const seat = { account: operator.id, person: person.id }
    const member = yield* get<{ from_claims: number }>(
      'SELECT from_claims FROM membership WHERE account = $1 AND person = $2',
      seat.account,
      seat.person,
    )
    if (member === undefined) {
      const given = role ?? ((yield* selectLanding(person.id)) === undefined ? join : undefined)
      if (given !== undefined) yield* insertMember(seat, given, nowMs())
      if (role !== undefined) yield* members.noteClaims(seat, true)
      return []
    }
    if (role === undefined && member.from_claims === 0) return []
    try {
      const keys = yield* members.setRole(seat, role ?? join ?? 'viewer')
      yield* members.noteClaims(seat, role !== undefined)
      return keys
    } catch (error) {
      if (error instanceof Problem && error.code === 'owner_needed') return []
      throw error
    }
  }

  return {
    /**
     * Returns where the session begins. `join`: the role in the operator's account without an invitation; absent: none.
     * Throws Problem `email_unverified` or `not_invited`.
     */
    async admit(identity: ProvedIdentity, join?: Role): Promise<Seat & Omit<Found, 'id'>> {
      const { seat, keys } = await database.write(function* () {
        const person = yield* findOrLink(identity)
        if (person.isNew) yield* acceptInvitations(person)
        const keys = yield* joinOperator(person, identity.role, join)
        const landing = yield* selectLanding(person.id)
        if (landing === undefined)
          throw new Problem('not_invited', 'You do not belong to an account here. Ask an owner to invite your address.')
        const { id, ...found } = person
        return { seat: { account: landing.account, person: id, ...found }, keys }
      })
      for (const key of keys) ring.set(key)
      return seat
    },
  }
}
