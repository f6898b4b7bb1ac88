// An account whose claim ended: a stranger may have made it with this person's address. Until the person who proved the
// address has chosen, it answers nobody else, and no channel of it is notified; keys that write go on. They keep all of
// it, or leave it to its other members (without any it is deleted) and begin again.
import { toTime } from '../../clock.ts'
import { Problem } from '../../problem.ts'
import { all, get, run, type Script, type SqlDatabase } from '../../state/database.ts'
import type { Made } from '../../wire/disputes.ts'
import { deleteAccount } from '../account-rows.ts'
import type { KeyRing } from '../key-ring.ts'
import type { createSignUp } from '../sign-up.ts'
import { leaveKeys } from './members.ts'
import type { Person, Seat } from './person-rows.ts'

interface DisputesParts {
  readonly database: SqlDatabase
  readonly ring: KeyRing
  readonly signUp: Pick<ReturnType<typeof createSignUp>, 'insertAccount' | 'announce'>
  nowMs(): number
  /** An account is gone: its keys and series are forgotten. */
  dropAccount(account: string): void
}

/** Actions in the account, with person and address, newest first. */
const TRACES = `SELECT action, actor, target, address, at_ms FROM audit WHERE account = $1
  AND action IN ('account_created', 'key_created', 'channel_created', 'member_joined', 'signed_in')
  ORDER BY seq DESC LIMIT 1000`

interface Trace {
  readonly action: string
  readonly actor: string | null
  readonly target: string | null
  readonly address: string
  readonly at_ms: number
}

export function createDisputes({ database, ring, signUp, nowMs, dropAccount }: DisputesParts) {
  /** Throws Problem `not_found`. */
  function* refuseUndisputed({ account, person }: Seat): Script<void> {
    if ((yield* get('SELECT 1 FROM account WHERE id = $1 AND disputed_by = $2', account, person)) === undefined)
      throw new Problem('not_found', 'Nothing is to be chosen about this account.')
  }

  return {
    /** Keys and members of the account, with where they were made or last seen. Throws Problem `not_found`. */
    made: (seat: Seat): Promise<{ readonly made: Made[]; placeOf(id: string): Trace | undefined }> =>
      database.read(function* () {
        yield* refuseUndisputed(seat)
        const traces = yield* all<Trace>(TRACES, seat.account)
        const begin = traces.find(({ action }) => action === 'account_created')
        const placeOf = (id: string) => traces.find(({ target }) => target === id) ?? begin
        const uses = new Map(ring.uses().map((use) => [use.keyId, use]))
        const seenAt = (email: string) => traces.find(({ actor }) => actor === email)
        const keys = yield* all<KeyMade>(
          `SELECT id, name, creator_email AS "by", created_ms, last_used_ms, last_used_from FROM api_key
           WHERE account = $1 AND revoked_ms IS NULL ORDER BY created_ms`,
          seat.account,
        )
        const members = yield* all<MemberMade>(
          `SELECT person.id, email, since_ms FROM membership JOIN person ON person.id = person
           WHERE account = $1 AND person.id <> $2 ORDER BY since_ms`,
          seat.account,
          seat.person,
        )
        const made: Made[] = [
          ...keys.map(({ id, name, by, created_ms, last_used_ms, last_used_from }) => {
            const use = uses.get(id)
            const usedMs = use?.lastUsedMs ?? last_used_ms
            const address = placeOf(id)?.address ?? null
            const common = { what: 'key' as const, id, name, by, at: toTime(created_ms), address }
            const last_used_at = usedMs === null ? null : toTime(usedMs)
            return { ...common, last_used_at, used_from: use?.usedFrom ?? last_used_from }
          }),
          ...members.map(({ id, email, since_ms }) => {
            const seen = seenAt(email)
            const last_used_at = seen === undefined ? null : toTime(seen.at_ms)
            const common = { what: 'member' as const, id, name: email, by: email, at: toTime(since_ms) }
            return { ...common, last_used_at, used_from: seen?.address ?? null, address: null }
          }),
        ]
        return { made, placeOf }
      }),
    /** The account is theirs as it is. Throws Problem `not_found`. */
    keep: (seat: Seat): Promise<void> =>
      database.write(function* () {
        yield* refuseUndisputed(seat)
        yield* run('UPDATE account SET disputed_by = NULL WHERE id = $1', seat.account)
      }),
    /** The session shows a new account of the person. `isDeleted`: nobody else was in the other. Throws `not_found`. */
    async leave({ account, person }: Seat, session: string) {
      const { made, ended, capped, isDeleted } = await database.write(function* () {
        yield* refuseUndisputed({ account, person })
        const owner = yield* get<Person>('SELECT id, email FROM person WHERE id = $1', person)
        const made = yield* signUp.insertAccount(owner!)
        yield* run('UPDATE session SET account = $1 WHERE id = $2', made.account.id, session)
        yield* run('UPDATE person SET last_account = $1 WHERE id = $2', made.account.id, person)
        const keys = yield* leaveKeys({ account, person }, nowMs())
        yield* run('DELETE FROM membership WHERE account = $1 AND person = $2', account, person)
        yield* run('DELETE FROM session WHERE account = $1 AND person = $2', account, person)
        const heir = yield* get<{ person: string }>(
          `SELECT person FROM membership WHERE account = $1
           ORDER BY CASE role WHEN 'owner' THEN 0 WHEN 'member' THEN 1 ELSE 2 END, since_ms, person LIMIT 1`,
          account,
        )
        if (heir === undefined) yield* deleteAccount(account, undefined, nowMs())
        else {
          yield* run("UPDATE membership SET role = 'owner' WHERE account = $1 AND person = $2", account, heir.person)
          yield* run('UPDATE account SET disputed_by = NULL WHERE id = $1', account)
        }
        return { made, ...keys, isDeleted: heir === undefined }
      })
      for (const { hash } of ended) ring.delete(hash)
      for (const key of capped) ring.set(key)
      if (isDeleted) dropAccount(account)
      return { ...signUp.announce(made), isDeleted }
    },
  }
}

interface KeyMade {
  readonly id: string
  readonly name: string
  readonly by: string | null
  readonly created_ms: number
  readonly last_used_ms: number | null
  readonly last_used_from: string | null
}

interface MemberMade {
  readonly id: string
  readonly email: string
  readonly since_ms: number
}
