// Accounts, and the one door to this room: keys, sessions and the budget of series on one database. Opened by open-accounts.ts (SQLite, one
// node) or shared/open-shared-accounts.ts (PostgreSQL, any number of nodes). Invariants:
// * Every change is durable when its call resolves; what lives in memory is changed after the database, never before.
// * `local` is a file of this node, read within the call. With SQLite it is the database itself; with PostgreSQL it is the copy that
//   follows it, so that what intake asks (keys, the number of accounts, the operator, series) never waits for PostgreSQL.
import type { Clock } from '../clock.ts'
import type { Logger } from '../log.ts'
import { Problem } from '../problem.ts'
import { run, type Script, type SqlDatabase } from '../state/database.ts'
import type { SqliteFile } from '../state/open-sqlite.ts'
import {
  type AccountRow,
  countAccounts,
  deleteAccount,
  selectByEmail,
  selectById,
  stillThere,
  updatePassword,
} from './account-rows.ts'
import { addressBlock, createAttemptLimiter } from './attempt-limiter.ts'
import { checkCredentials, normalizeEmail, passwordFault } from './credentials.ts'
import type { FoundKey, KeyRing } from './key-ring.ts'
import { createKeys, type IssuedKey, type Keys } from './keys.ts'
import { createPasswords, type HashCost } from './passwords.ts'
import { createId, createSetupCode, sameSecret } from './secret.ts'
import type { SeriesBudget } from './series-budget.ts'
import { createSessions, type Sessions } from './sessions.ts'
import { createProvePassword } from './sign-in.ts'

const KEY_USE_FLUSH_MS = 60_000
const SIGN_UPS = { windowS: 3600, maxEntries: 10_000 }
/** Sign-ups per address and hour: a set-up script may create many accounts in a row. */
const SIGN_UPS_MAX = 1000

export interface Account {
  readonly id: string
  readonly email: string
  /** The first account: it sees the totals of all. */
  readonly operator: boolean
  /** ms since the epoch. */
  readonly createdMs: number
}

export interface AccountsOptions {
  readonly clock: Clock
  readonly log: Logger
  /** `first` = until there is an account. */
  readonly signup: 'first' | 'open' | 'closed'
  /** The first sign-up needs a set-up code: set when strangers can reach the port. */
  readonly setupCodeRequired?: boolean
  /** The set-up code; without it one is made up. */
  readonly setupCode?: string
  /** Distinct series an account may make; 0 (the default) = no limit. */
  readonly seriesMax?: number
  /** Sign-ups of one address in an hour; 1,000 when absent. */
  readonly signUpsMax?: number
  /** Password hashes at once, 19 MiB and a Worker each; 1 when absent. */
  readonly hashLimit?: number
  /** The cost of hashing a new password; tests set a lower one. */
  readonly hashCost?: HashCost
}

export interface SignUp {
  readonly email: string
  readonly password: string
  readonly setupCode?: string
  /** The client's address. */
  readonly address: string
}

/** Parts that both ways to open accounts prepare. */
export interface AccountParts {
  readonly database: SqlDatabase
  readonly local: SqliteFile
  readonly ring: KeyRing
  readonly series: SeriesBudget
  /** Ends what works beside the requests, before the files are closed. */
  stopWork?(): Promise<void>
}

/** Everything that returns a promise rejects with Problem `store_unavailable` while PostgreSQL is away. */
export interface Accounts {
  /** The hot path of every request: see `KeyRing.find`. */
  findKey(secret: string): FoundKey | undefined
  /** Can an account be made now? */
  signUpOpen(): boolean
  /** The code that the first sign-up needs; undefined once there is an account or when none is required. Logged once, at the start. */
  setupCode(): string | undefined
  count(): number
  isOperator(id: string): boolean
  get(id: string): Promise<Account | undefined>
  /** The account and its first key, which may write and read. Throws Problem `signup_closed`, `setup_code_invalid`, `email_taken`, `fields_invalid`, `rate_limited`. */
  create(signUp: SignUp): Promise<{ account: Account; key: IssuedKey }>
  /** Throws Problem `credentials_invalid` (the same, as late, for an unknown address) or `rate_limited`. */
  signIn(attempt: { email: string; password: string; address: string }): Promise<Account>
  /** Ends all other sessions. Throws like `confirmPassword`, and Problem `fields_invalid` with the pointer `/new_password`. */
  changePassword(id: string, change: { currentPassword: string; newPassword: string; session: string }): Promise<void>
  /** Without the old password, for the operator of the machine; ends all sessions. Throws Problem `not_found`, `fields_invalid`. */
  resetPassword(email: string, password: string): Promise<Account>
  /** Does an account have this address? */
  hasEmail(email: string): Promise<boolean>
  /** Resolves when it is the account's password. Throws Problem `password_wrong` or `rate_limited`. */
  confirmPassword(id: string, proof: { password: string; session: string }): Promise<void>
  /**
   * The account, its keys, sessions and series are gone when it resolves; its data elsewhere is listed by `removals` until `removed` is called.
   * `operator` is the e-mail address of the account that takes the role over. Throws Problem `operator_needed` when the operator would
   * leave others behind, and `fields_invalid` when no other account has this address.
   */
  delete(id: string, operator?: string): Promise<void>
  /** Accounts that are gone and whose data may still be in the spools of this node and in the stores. */
  removals(): string[]
  removed(id: string): void
  readonly keys: Keys
  readonly sessions: Sessions
  readonly series: SeriesBudget
  /** Writes what is noted in memory. */
  close(): Promise<void>
}

export function createAccounts(parts: AccountParts, options: AccountsOptions): Accounts {
  const { database, local, ring, series } = parts
  const { clock, log, signup } = options
  const nowMs = () => Math.floor(clock.wallUs() / 1000)
  const keys = createKeys(database, ring, clock)
  const sessions = createSessions(database, clock, log)
  const passwords = createPasswords(options.hashLimit ?? 1, options.hashCost)
  const provePassword = createProvePassword(clock, passwords)
  const signUps = createAttemptLimiter({ clock, limit: options.signUpsMax ?? SIGN_UPS_MAX, ...SIGN_UPS })

  const countLocal = local.db.query<{ n: number }, []>('SELECT count(*) n FROM account')
  const selectOperator = local.db.query<unknown, [string]>('SELECT 1 FROM account WHERE id = ? AND operator = 1')
  const selectRemovals = local.db.query<{ account: string }, []>('SELECT account FROM removal')
  const deleteRemoval = local.db.query<null, [string]>('DELETE FROM removal WHERE account = ?')
  const count = () => countLocal.get()!.n
  const findById = (id: string) => database.read(() => selectById(id))
  const findByEmail = (email: string) => database.read(() => selectByEmail(email))

  let madeUpCode: string | undefined
  function setupCode(): string | undefined {
    if (!options.setupCodeRequired || signup === 'closed' || count() > 0) return undefined
    madeUpCode ??= createSetupCode()
    return options.setupCode ?? madeUpCode
  }

  const isOpenAt = (accounts: number) => signup === 'open' || (signup === 'first' && accounts === 0)
  const signUpOpen = () => isOpenAt(count())

  /** Called before the work and again inside the transaction, because another sign-up may have won meanwhile. */
  function* refuseSignUp(email: string): Script<void> {
    if (!isOpenAt(yield* countAccounts()))
      throw new Problem('signup_closed', 'This Stint takes no new accounts. Ask its operator.')
    if ((yield* selectByEmail(email)) !== undefined)
      throw new Problem('email_taken', 'Sign in instead, or use another address.')
  }

  async function confirmPassword(id: string, password: string, session: string): Promise<AccountRow> {
    const row = await findById(id)
    if (row === undefined) throw new Problem('session_invalid', 'The account is gone.')
    try {
      await provePassword({ email: row.email, password, session, hash: () => row.password })
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'credentials_invalid') throw error
      const detail = password === '' ? 'Send the password of the account.' : 'The current password is wrong.'
      throw new Problem('password_wrong', detail)
    }
    return row
  }

  let flushing: Promise<void> | undefined
  const flushKeyUse = setInterval(() => {
    flushing ??= keys
      .flush()
      .catch((err) => log.warn({ err }, 'accounts: when keys were last used could not be written, trying again'))
      .finally(() => {
        flushing = undefined
      })
  }, KEY_USE_FLUSH_MS)
  flushKeyUse.unref()

  return {
    findKey: ring.find,
    signUpOpen,
    setupCode,
    count,
    isOperator: (id) => selectOperator.get(id) !== null,
    get: (id) => findById(id).then((row) => row && toAccount(row)),
    async create({ email, password, setupCode: given, address }) {
      await database.read(() => refuseSignUp(''))
      const normalEmail = checkCredentials(email, password)
      signUps.attempt(addressBlock(address))
      const code = setupCode()
      if (code !== undefined && !sameSecret(given ?? '', code)) {
        throw new Problem(
          'setup_code_invalid',
          'The first account needs the set-up code: SETUP_CODE, or without it the code that the log of the start shows.',
        )
      }
      await database.read(() => refuseSignUp(normalEmail))
      const hash = await passwords.hash(password, addressBlock(address))
      const made = await database.write(function* () {
        yield* refuseSignUp(normalEmail)
        const operator = (yield* countAccounts()) === 0
        const account = { id: createId('acc'), email: normalEmail, operator, createdMs: nowMs() }
        yield* run(
          'INSERT INTO account (id, email, password, operator, created_ms) VALUES ($1, $2, $3, $4, $5)',
          account.id,
          normalEmail,
          hash,
          Number(operator),
          account.createdMs,
        )
        return { account, key: yield* keys.insert(account.id, 'first key', ['write', 'read']) }
      })
      keys.admit(made.account.id, made.key)
      log.info({ account: made.account.id, operator: made.account.operator }, 'account created')
      return made
    },
    async signIn({ email, password, address }) {
      let row: AccountRow | undefined
      const hash = async (normal: string) => {
        row = await findByEmail(normal)
        return row?.password
      }
      await provePassword({ email, password, address, hash })
      return toAccount(await database.read(() => stillThere(row!, 'credentials_invalid')))
    },
    async changePassword(id, { currentPassword, newPassword, session }) {
      const fault = passwordFault(newPassword, '/new_password')
      if (fault) throw new Problem('fields_invalid', 'The new password cannot be used.', { errors: [fault] })
      const row = await confirmPassword(id, currentPassword, session)
      const hash = await passwords.hash(newPassword, session)
      await database.write(function* () {
        yield* stillThere(row, 'password_wrong')
        yield* updatePassword(id, hash)
        yield* sessions.revokeOthers(id, session)
      })
      log.info({ account: id }, 'password changed')
    },
    hasEmail: async (email) => (await findByEmail(normalizeEmail(email) ?? '')) !== undefined,
    async resetPassword(email, password) {
      const fault = passwordFault(password)
      if (fault) throw new Problem('fields_invalid', 'The new password cannot be used.', { errors: [fault] })
      const row = await findByEmail(normalizeEmail(email) ?? '')
      if (row === undefined) throw new Problem('not_found', 'No account has this e-mail address.')
      const hash = await passwords.hash(password)
      await database.write(function* () {
        yield* updatePassword(row.id, hash)
        yield* sessions.revokeOthers(row.id)
      })
      log.info({ account: row.id }, 'password reset')
      return toAccount(row)
    },
    async confirmPassword(id, { password, session }) {
      const row = await confirmPassword(id, password, session)
      await database.read(() => stillThere(row, 'password_wrong'))
    },
    async delete(id, successor) {
      const deleted = await database.write(() => deleteAccount(id, successor, nowMs()))
      keys.dropAccount(id)
      series.dropAccount(id)
      if (deleted?.newOperator) log.info({ account: deleted.newOperator }, 'account became the operator')
      if (deleted) log.info({ account: id }, 'account deleted')
      const code = setupCode()
      if (code !== undefined)
        log.warn(
          `that was the last account; the next sign-up needs the set-up code ${options.setupCode ? 'that was set' : code}`,
        )
    },
    removals: () => Array.from(selectRemovals.all(), ({ account }) => account),
    removed: (id) => void local.write(() => deleteRemoval.run(id)),
    keys,
    sessions,
    series,
    async close() {
      clearInterval(flushKeyUse)
      await flushing
      await parts.stopWork?.()
      for (const write of [keys.flush, series.close]) {
        try {
          await write()
        } catch (err) {
          // Stopping continues whatever the database does. A lost series is admitted again with its next event.
          log.warn({ err }, 'accounts: what was noted in memory could not be written at the end')
        }
      }
      passwords.close()
      await database.close()
    },
  }
}

const toAccount = (row: AccountRow): Account => ({
  id: row.id,
  email: row.email,
  operator: row.operator === 1,
  createdMs: row.created_ms,
})
