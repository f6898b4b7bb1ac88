// The members of an account. Invariants:
// * An account always has an owner: check and change are one transaction, and transactions take turns over all nodes.
// * A key never exceeds its creator's current role: `is_capped`, set with the role, limits it to a viewer's rights
//   outside /v1. When the creator leaves, keys that read or manage end; write-only keys stay capped: jobs need them.
// * The sessions of someone who leaves end with the membership. A session holds no role: requests read the current one.
import { toTime } from '../../clock.ts'
import { Problem } from '../../problem.ts'
import { all, get, run, type Script, type SqlDatabase } from '../../state/database.ts'
import type { Member } from '../../wire/people.ts'
import type { Role } from '../../wire/roles.ts'
import type { Session } from '../../wire/sessions.ts'
import { KEY_COLUMNS, type KeyRing, type KeyRow } from '../key-ring.ts'
import { deletePersonAlone, type Person, type Seat, selectRole } from './person-rows.ts'

export type Members = ReturnType<typeof createMembers>

/** All reject with Problem `store_unavailable`, changes also with `disk_low` and `disk_failed`. */
export function createMembers(database: SqlDatabase, ring: KeyRing, nowMs: () => number) {
  function* find({ account, person }: Seat): Script<Member> {
    const row = yield* get<MemberRow>(`${SELECT_MEMBERS} AND person.id = $2`, account, person)
    if (row === undefined) throw new Problem('not_found', 'The account has no member with this id.')
    return toMember(row)
  }

  function* setRole(seat: Seat, role: Role): Script<readonly KeyRow[]> {
    const member = yield* find(seat)
    if (member.role === role) return []
    if (member.role === 'owner') yield* endOwnership(seat)
    const { account, person } = seat
    yield* run('UPDATE membership SET role = $1 WHERE account = $2 AND person = $3', role, account, person)
    return yield* all<KeyRow>(
      `UPDATE api_key SET is_capped = $1 WHERE account = $2 AND creator = $3 AND revoked_ms IS NULL
       RETURNING ${KEY_COLUMNS}`,
      Number(role === 'viewer'),
      account,
      person,
    )
  }

  /** Does the role follow the provider's claims? For use inside a `write`. */
  const noteClaims = ({ account, person }: Seat, isFromClaims: boolean): Script<number> =>
    run(
      'UPDATE membership SET from_claims = $1 WHERE account = $2 AND person = $3',
      Number(isFromClaims),
      account,
      person,
    )

  return {
    /** Longest first. */
    async list(account: string): Promise<Member[]> {
      const rows = await database.read(() => all<MemberRow>(`${SELECT_MEMBERS} ORDER BY since_ms, email`, account))
      return rows.map(toMember)
    },
    /** The accounts of a person, by name. */
    accountsOf: (person: string): Promise<Session['accounts']> =>
      database.read(() =>
        all<Session['accounts'][number]>(
          `SELECT account.id, account.name, role FROM membership JOIN account ON account.id = membership.account
           WHERE person = $1 ORDER BY account.name, account.id`,
          person,
        ),
      ),
    /** For use inside a `write`. Returns keys whose rights in the ring must follow. Throws like `changeRole`. */
    setRole,
    noteClaims,
    /** From now on the role is the one given here. Throws Problem `not_found` or `owner_needed`. */
    async changeRole(seat: Seat, role: Role): Promise<Member> {
      const { member, keys } = await database.write(function* () {
        const keys = yield* setRole(seat, role)
        yield* noteClaims(seat, false)
        return { member: yield* find(seat), keys }
      })
      for (const key of keys) ring.set(key)
      return member
    },
    /** Keys pass to `heir`, if given; otherwise they end or lose their creator. Throws `not_found`, `owner_needed`. */
    async remove(seat: Seat, heir?: Person): Promise<void> {
      const { ended, capped } = await database.write(function* () {
        const { role } = yield* find(seat)
        if (role === 'owner') yield* endOwnership(seat)
        const keys = heir === undefined ? yield* leaveKeys(seat, nowMs()) : yield* bequeathKeys(seat, heir)
        const { account, person } = seat
        yield* run('DELETE FROM session WHERE account = $1 AND person = $2', account, person)
        yield* run('DELETE FROM membership WHERE account = $1 AND person = $2', account, person)
        yield* deletePersonAlone(person)
        return keys
      })
      for (const { hash } of ended) ring.delete(hash)
      for (const key of capped) ring.set(key)
    },
  }
}

/** The invitations of a former owner end: the links are still theirs. Throws Problem `owner_needed`. */
function* endOwnership({ account, person }: Seat): Script<void> {
  const other = yield* get(
    "SELECT 1 FROM membership WHERE account = $1 AND role = 'owner' AND person <> $2",
    account,
    person,
  )
  if (other === undefined)
    throw new Problem('owner_needed', 'Make another member an owner first: an account always has one.')
  yield* run('DELETE FROM invitation WHERE account = $1 AND creator = $2', account, person)
}

interface KeptKeys {
  readonly ended: readonly { readonly hash: string }[]
  readonly capped: readonly KeyRow[]
}

/** The address stays with the keys, so that owners know whose they were. */
export function* leaveKeys({ account, person }: Seat, nowMs: number): Script<KeptKeys> {
  const ended = yield* all<{ hash: string }>(
    `UPDATE api_key SET revoked_ms = $1 WHERE account = $2 AND creator = $3 AND revoked_ms IS NULL
     AND (may_read = 1 OR may_manage = 1) RETURNING hash`,
    nowMs,
    account,
    person,
  )
  const capped = yield* all<KeyRow>(
    `UPDATE api_key SET is_capped = 1 WHERE account = $1 AND creator = $2 AND revoked_ms IS NULL
     RETURNING ${KEY_COLUMNS}`,
    account,
    person,
  )
  yield* run('UPDATE api_key SET creator = NULL WHERE account = $1 AND creator = $2', account, person)
  return { ended, capped }
}

function* bequeathKeys({ account, person }: Seat, heir: Person): Script<KeptKeys> {
  if ((yield* selectRole({ account, person: heir.id })) !== 'owner' || heir.id === person)
    throw new Problem('role_missing', 'Only another owner can take the keys over.')
  const capped = yield* all<KeyRow>(
    `UPDATE api_key SET creator = $1, creator_email = $2, is_capped = 0 WHERE account = $3 AND creator = $4
     AND revoked_ms IS NULL RETURNING ${KEY_COLUMNS}`,
    heir.id,
    heir.email,
    account,
    person,
  )
  return { ended: [], capped }
}

type MemberRow = Omit<Member, 'since'> & { readonly since_ms: number }
const toMember = ({ since_ms, ...row }: MemberRow): Member => ({ ...row, since: toTime(since_ms) })

const SELECT_MEMBERS = `SELECT person.id, person.email, role, since_ms
  FROM membership JOIN person ON person.id = membership.person WHERE account = $1`
