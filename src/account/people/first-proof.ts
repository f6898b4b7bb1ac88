// The first proof that an address is somebody's: by a mailed link or the provider's verified claim. An invitation is no
// proof: the inviter may see its link. Cases:
// * a claim: a stranger may have signed up with the address. Their password, sessions and links end, and the account
//   that they made is disputed: the person of the proof chooses what becomes of it (disputes.ts).
// * by the provider, someone else: password, sessions and links end, too: the provider signs in from now on.
// * by a link that confirms, someone else: password, sessions and links end, too, because who set the password may have
//   been invited by somebody else; unless the person is signed in where the link is opened.
// * by a link that sets a password, someone else: no more than a new password ends.
import { all, get, run, type Script } from '../../state/database.ts'
import type { PersonRow } from './person-rows.ts'

/** `session`: a link that confirms, opened where the person is signed in. `password`: a link that sets a password. */
type ProofBy = 'link' | 'session' | 'password' | 'provider'

/** A `claim` confirmed by `session`, its password set by no mailed link. The provider's first proof ends it. */
const KEPT_PASSWORD = 2

interface ProofOptions {
  readonly by: ProofBy
  readonly isSignUpOpen: boolean
  readonly nowMs: number
}

/** The person's own accounts but the operator's; an accomplice may have taken away their ownership. */
const MADE = `SELECT account.id FROM account JOIN membership ON membership.account = account.id
  WHERE membership.person = $1 AND account.email = $2 AND operator = 0`

/** People of 2.0 have no mark: then it is a claim if sign-up is open and they made an account, not joined one. */
export function* isClaim({ id, email, verified_ms, claim }: PersonRow, isSignUpOpen: boolean): Script<boolean> {
  if (verified_ms !== null || claim === 0) return false
  return claim === 1 || (isSignUpOpen && (yield* all(MADE, id, email)).length > 0)
}

/** Never proved, and in no account of their own: the inviter may have set the password. */
export function* isOnlyInvited({ id, email, verified_ms, claim }: PersonRow): Script<boolean> {
  if (verified_ms !== null || claim === 1) return false
  const own = `SELECT 1 FROM account JOIN membership ON membership.account = account.id
    WHERE membership.person = $1 AND account.email = $2`
  return (yield* get(own, id, email)) === undefined
}

export interface Proved {
  /** The ids of accounts that are disputed now. */
  readonly disputed: readonly string[]
  /** The password, sessions and links have ended. */
  readonly hasEnded: boolean
}

/** For use inside a `write`. */
export function* proveAddress(person: PersonRow, { by, isSignUpOpen, nowMs }: ProofOptions): Script<Proved> {
  const isKept = person.claim === KEPT_PASSWORD && (by === 'provider' || by === 'password')
  if (person.verified_ms !== null && !isKept) return { disputed: [], hasEnded: false }
  const isClaimed = yield* isClaim(person, isSignUpOpen)
  const claim = by === 'session' && !isClaimed ? KEPT_PASSWORD : 0
  yield* run('UPDATE person SET verified_ms = $1, claim = $2 WHERE id = $3', nowMs, claim, person.id)
  const hasEnded = isClaimed || by === 'provider' || by === 'link'
  if (hasEnded) {
    yield* run('UPDATE person SET password = NULL WHERE id = $1', person.id)
    yield* run('DELETE FROM ticket WHERE person = $1', person.id)
    yield* run('DELETE FROM invitation WHERE creator = $1', person.id)
    yield* run('DELETE FROM session WHERE person = $1', person.id)
  }
  if (!isClaimed) return { disputed: [], hasEnded }
  const disputed = yield* all<{ id: string }>(
    `UPDATE account SET disputed_by = $1 WHERE id IN (${MADE} AND role = 'owner') RETURNING id`,
    person.id,
    person.email,
  )
  return { disputed: disputed.map(({ id }) => id), hasEnded }
}
