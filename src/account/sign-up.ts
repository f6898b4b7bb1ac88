// How accounts begin. With e-mail and SIGNUP=open a stranger's address is proved before there is an account: a link
// goes to it, and opening the link makes the account. Otherwise, and for the first account, at once: without the proof
// it is a claim while sign-up is open. People with nothing but invitations sign up like strangers: the inviter may have
// accepted in their place. Nodes of 2.0 do not know the links: while one is seen, accounts are made at once.
import type { Clock } from '../clock.ts'
import type { Logger } from '../log.ts'
import { Problem } from '../problem.ts'
import { get, insert, run, type Script, type SqlDatabase } from '../state/database.ts'
import { countAccounts, toAccount } from './account-rows.ts'
import { checkCredentials, passwordFault } from './credentials.ts'
import type { Keys } from './keys.ts'
import { coarserNetwork, networkOf } from './networks.ts'
import type { Asker } from './password-line.ts'
import type { Passwords } from './passwords.ts'
import { isOnlyInvited, proveAddress } from './people/first-proof.ts'
import { insertMember, insertPerson, type PersonRow, selectPersonByEmail, type Vouched } from './people/person-rows.ts'
import { createId, createSessionToken, hashSecret, sameSecret } from './secret.ts'
import { createTokenBuckets } from './token-buckets.ts'

const LINK_VALID_MS = 24 * 3_600_000
/** Sign-ups per network and hour where no link is mailed: a set-up script may create many accounts in a row. */
const AT_ONCE = { limit: 1000, windowS: 3600, maxEntries: 10_000, coarser: coarserNetwork }

export interface SignUp {
  readonly email: string
  readonly password: string
  readonly setupCode?: string
  /** The client's address. */
  readonly address: string
}

interface SignUpParts {
  readonly database: SqlDatabase
  readonly keys: Keys
  readonly passwords: Passwords
  readonly clock: Clock
  nowMs(): number
  readonly log: Logger
  readonly signup: 'first' | 'open' | 'closed'
  /** Links can be mailed. */
  readonly isMailed: boolean
  /** Sign-ups at once of one network in an hour; 1,000 when absent. */
  readonly signUpsMax?: number
  askerAt(address: string): Promise<Asker>
  setupCode(): string | undefined
  /** Is there a node of 2.0? */
  hasFormerNodes(): Script<boolean>
}

/** Everything rejects with Problem `store_unavailable` while PostgreSQL is away. */
export function createSignUp(parts: SignUpParts) {
  const { database, keys, passwords, clock, nowMs, log, signup, isMailed, askerAt, setupCode } = parts
  const atOnce = createTokenBuckets({ clock, ...AT_ONCE, limit: parts.signUpsMax ?? AT_ONCE.limit })

  const isOpenAt = (accounts: number) => signup === 'open' || (signup === 'first' && accounts === 0)

  function* refuseClosed(): Script<void> {
    if (!isOpenAt(yield* countAccounts()))
      throw new Problem('signup_closed', 'This Stint takes no new accounts. Ask its operator.')
  }

  /** Called before the work and again inside the transaction, because another sign-up may have won meanwhile. */
  function* refuseSignUp(email: string): Script<void> {
    yield* refuseClosed()
    if ((yield* selectPersonByEmail(email)) !== undefined)
      throw new Problem('email_taken', 'Sign in instead, or use another address.')
  }

  function* make(email: string, hash: string, vouched: Vouched) {
    yield* refuseSignUp(email)
    const isFirst = (yield* countAccounts()) === 0
    const owner = yield* insertPerson(email, hash, nowMs(), isFirst && vouched === 'claimed' ? 'vouched' : vouched)
    return yield* insertAccount(owner, isFirst)
  }

  /** The person of the link gets an account of their own, and nobody else a way in. For use inside a `write`. */
  function* makeInvited(person: PersonRow, hash: string) {
    yield* refuseClosed()
    yield* proveAddress(person, { by: 'link', isSignUpOpen: signup === 'open', nowMs: nowMs() })
    const { id, email } = person
    const made = yield* insertAccount({ id, email })
    yield* run('UPDATE person SET password = $1, last_account = $2 WHERE id = $3', hash, made.account.id, id)
    return made
  }

  /** An account of this owner with its first key; the key works once it is admitted. For use inside a `write`. */
  function* insertAccount(owner: { id: string; email: string }, isFirst = false) {
    const names = { id: createId('acc'), email: owner.email, name: owner.email }
    const row = { ...names, operator: Number(isFirst), created_ms: nowMs() }
    yield* insert('account', row)
    const seat = { account: row.id, person: owner.id }
    yield* insertMember(seat, 'owner', nowMs())
    const key = yield* keys.insert(row.id, 'first key', ['write', 'read'], owner)
    return { account: toAccount(row), owner, seat, key }
  }

  function announce<Made extends { account: { id: string; operator: boolean }; key: Parameters<Keys['admit']>[1] }>(
    made: Made,
  ): Made {
    keys.admit(made.account.id, made.key)
    log.info({ account: made.account.id, operator: made.account.operator }, 'account created')
    return made
  }

  return {
    isOpenAt,
    insertAccount,
    announce,
    /** Does a sign-up send a link? */
    isByLink: async (): Promise<boolean> =>
      signup === 'open' &&
      isMailed &&
      (await database.read(function* () {
        return (yield* countAccounts()) > 0 && !(yield* parts.hasFormerNodes())
      })),
    /** The token of a link that makes an account. Earlier ones stay valid. */
    async issueLink(email: string): Promise<string> {
      const token = createSessionToken()
      await database.write(function* () {
        yield* run('DELETE FROM sign_up WHERE ends_ms <= $1', nowMs())
        yield* insert('sign_up', { hash: hashSecret(token), email, ends_ms: nowMs() + LINK_VALID_MS })
      })
      return token
    },
    /** `token`: of a link. Throws Problem `credentials_invalid`, `fields_invalid`, `email_taken`, `signup_closed`. */
    async confirm(token: string, password: string) {
      const find = 'SELECT email FROM sign_up WHERE hash = $1 AND ends_ms > $2'
      const row = await database.read(() => get<{ email: string }>(find, hashSecret(token), nowMs()))
      if (row === undefined)
        throw new Problem('credentials_invalid', 'The link has expired or was already used. Sign up again.')
      const fault = passwordFault(password, row.email)
      if (fault !== undefined) throw new Problem('fields_invalid', 'The password cannot be used.', { errors: [fault] })
      const hash = await passwords.hash(password)
      const made = await database.write(function* () {
        if ((yield* run('DELETE FROM sign_up WHERE hash = $1', hashSecret(token))) === 0)
          throw new Problem('credentials_invalid', 'The link was already used.')
        yield* run('DELETE FROM sign_up WHERE email = $1', row.email)
        const person = yield* selectPersonByEmail(row.email)
        return person !== undefined && (yield* isOnlyInvited(person))
          ? yield* makeInvited(person, hash)
          : yield* make(row.email, hash, 'proved')
      })
      return announce(made)
    },
    /**
     * The account, its owner, and its first key, which may write and read. Throws Problem `signup_closed`,
     * `setup_code_invalid`, `email_taken`, `fields_invalid`, `rate_limited`.
     */
    async create({ email, password, setupCode: given, address }: SignUp) {
      await database.read(() => refuseSignUp(''))
      const normalEmail = checkCredentials(email, password)
      atOnce.attempt(networkOf(address))
      const code = setupCode()
      if (code !== undefined && !sameSecret(given ?? '', code)) {
        throw new Problem(
          'setup_code_invalid',
          'The first account needs the setup code: the value of SETUP_CODE or of its file, or else the code in the ' +
            'log of the start. With docker-compose.yml: docker compose exec stint cat /run/secrets/stint/setup-code',
        )
      }
      await database.read(() => refuseSignUp(normalEmail))
      const hash = await passwords.hash(password, await askerAt(address))
      return announce(await database.write(() => make(normalEmail, hash, 'claimed')))
    },
  }
}
