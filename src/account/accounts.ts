// Accounts, and the one door to this room: opens accounts.sqlite and builds keys, sessions and the budget of series on it.
// Every change is durable when its call returns; what lives in memory is changed after the disk, never before.
import type { Clock } from '../clock.ts'
import type { Logger } from '../log.ts'
import { Problem } from '../problem.ts'
import { addressBlock } from './address-block.ts'
import { createAttemptLimiter } from './attempt-limiter.ts'
import { checkCredentials, normalizeEmail, passwordFault } from './credentials.ts'
import { openDatabase } from './database.ts'
import { createDeleteAccount } from './delete-account.ts'
import { type FoundKey, type IssuedKey, type Keys, loadKeys } from './keys.ts'
import { createPasswords } from './passwords.ts'
import { createId, createSetupCode, sameSecret } from './secret.ts'
import { createSeriesBudget, type SeriesBudget } from './series-budget.ts'
import { createSessions, type Sessions } from './sessions.ts'
import { createProvePassword } from './sign-in.ts'

const KEY_USE_FLUSH_MS = 60_000
const SIGN_UPS = { windowS: 3600, maxEntries: 10_000 }
/** Of one address in an hour: many a set-up is a script that makes accounts one after the other. */
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
  /** Where accounts.sqlite is or shall be. */
  readonly path: string
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
}

export interface SignUp {
  readonly email: string
  readonly password: string
  readonly setupCode?: string
  /** Where the request comes from. */
  readonly address: string
}

export interface Accounts {
  /** The hot path of every request: see `Keys.find`. */
  findKey(secret: string): FoundKey | undefined
  /** Can an account be made now? */
  signUpOpen(): boolean
  /** What the first sign-up must bring, while there is no account and a code is required. For the log of the start, once. */
  setupCode(): string | undefined
  count(): number
  get(id: string): Account | undefined
  /** The account and its first key, which may write and read. Throws Problem `signup_closed`, `setup_code_invalid`, `email_taken`, `fields_invalid`, `rate_limited`. */
  create(signUp: SignUp): Promise<{ account: Account; key: IssuedKey }>
  /** Throws Problem `credentials_invalid` (the same, as late, for an unknown address) or `rate_limited`. */
  signIn(attempt: { email: string; password: string; address: string }): Promise<Account>
  /** Ends all other sessions. Throws like `signIn`, and Problem `fields_invalid` with the pointer `/new_password`. */
  changePassword(id: string, change: { currentPassword: string; newPassword: string; session: string }): Promise<void>
  /** Without the old password, for the operator of the machine; ends all sessions. Throws Problem `not_found`, `fields_invalid`. */
  resetPassword(email: string, password: string): Promise<Account>
  /** Resolves when it is the account's password. Throws Problem `password_wrong` or `rate_limited`. */
  confirmPassword(id: string, proof: { password: string; session: string }): Promise<void>
  /**
   * The account, its keys, sessions and series are gone when it returns; its data elsewhere is listed by `removals` until `removed` is called.
   * `operator` is the e-mail address of the account that takes the role over. Throws Problem `operator_needed` when the operator would
   * leave others behind, and `fields_invalid` when no other account has this address.
   */
  delete(id: string, operator?: string): void
  /** Accounts that are gone and whose data may still be in the spools and stores. */
  removals(): string[]
  removed(id: string): void
  readonly keys: Keys
  readonly sessions: Sessions
  readonly series: SeriesBudget
  /** Writes what is noted in memory. */
  close(): void
}

interface Row {
  id: string
  email: string
  password: string
  operator: number
  created_ms: number
}

/** Throws an Error that tells the operator what to do when the file is damaged or of a newer Stint. */
export function openAccounts(options: AccountsOptions): Accounts {
  const { clock, log, signup } = options
  const database = openDatabase(options.path, log)
  const { db, write } = database
  const nowMs = () => Math.floor(clock.wallUs() / 1000)
  const keys = loadKeys(database, clock)
  const sessions = createSessions(database, clock, log)
  const series = createSeriesBudget({ database, max: options.seriesMax ?? 0, log })
  const passwords = createPasswords(options.hashLimit ?? 1)
  const provePassword = createProvePassword(clock, passwords)
  const signUps = createAttemptLimiter({ clock, limit: options.signUpsMax ?? SIGN_UPS_MAX, ...SIGN_UPS })

  const countRows = db.query<{ n: number }, []>('SELECT count(*) n FROM account')
  const selectById = db.query<Row, [string]>('SELECT * FROM account WHERE id = ?')
  const selectByEmail = db.query<Row, [string]>('SELECT * FROM account WHERE email = ?')
  const updatePassword = db.query<null, [string, string]>('UPDATE account SET password = ? WHERE id = ?')
  const deleteAccount = createDeleteAccount(database, log)
  const count = () => countRows.get()!.n

  let madeUpCode: string | undefined
  function setupCode(): string | undefined {
    if (!options.setupCodeRequired || signup === 'closed' || count() > 0) return undefined
    madeUpCode ??= createSetupCode()
    return options.setupCode ?? madeUpCode
  }

  const signUpOpen = () => signup === 'open' || (signup === 'first' && count() === 0)

  /** Called before the work and again inside the transaction, because another sign-up may have won meanwhile. */
  function refuseSignUp(email: string): void {
    if (!signUpOpen()) throw new Problem('signup_closed', 'This Stint takes no new accounts. Ask its operator.')
    if (selectByEmail.get(email) !== null) throw new Problem('email_taken', 'Sign in instead, or use another address.')
  }

  /** A hash takes a while: what was proved no longer counts when the password was changed or the account deleted meanwhile. */
  function stillThere(proved: Row): Row {
    const row = selectById.get(proved.id)
    if (row?.password !== proved.password) throw new Problem('credentials_invalid', 'The password was just changed.')
    return row
  }

  const flushKeyUse = setInterval(() => {
    try {
      keys.flush()
    } catch (err) {
      log.warn({ err }, 'accounts: when keys were last used could not be written, trying again')
    }
  }, KEY_USE_FLUSH_MS)
  flushKeyUse.unref()

  return {
    findKey: keys.find,
    signUpOpen,
    setupCode,
    count,
    get(id) {
      const row = selectById.get(id)
      return row === null ? undefined : toAccount(row)
    },
    async create({ email, password, setupCode: given, address }) {
      refuseSignUp('')
      const normalEmail = checkCredentials(email, password)
      signUps.attempt(addressBlock(address))
      const code = setupCode()
      if (code !== undefined && !sameSecret(given ?? '', code)) {
        throw new Problem(
          'setup_code_invalid',
          'The first account needs the set-up code that the log of the start shows.',
        )
      }
      refuseSignUp(normalEmail)
      const hash = await passwords.hash(password, addressBlock(address))
      const made = write(() => {
        refuseSignUp(normalEmail)
        const account = { id: createId('acc'), email: normalEmail, operator: count() === 0, createdMs: nowMs() }
        db.query('INSERT INTO account (id, email, password, operator, created_ms) VALUES (?, ?, ?, ?, ?)').run(
          account.id,
          normalEmail,
          hash,
          Number(account.operator),
          account.createdMs,
        )
        return { account, key: keys.insert(account.id, 'first key', ['write', 'read']) }
      })
      keys.admit(made.account.id, made.key)
      log.info({ account: made.account.id, operator: made.account.operator }, 'account created')
      return made
    },
    async signIn({ email, password, address }) {
      let row: Row | null = null
      const hash = (normal: string) => {
        row = selectByEmail.get(normal)
        return row?.password
      }
      await provePassword({ email, password, address, hash })
      return toAccount(stillThere(row!))
    },
    async changePassword(id, { currentPassword, newPassword, session }) {
      const fault = passwordFault(newPassword, '/new_password')
      if (fault) throw new Problem('fields_invalid', 'The new password cannot be used.', { errors: [fault] })
      const row = selectById.get(id)
      if (row === null) throw new Problem('session_invalid', 'The account is gone.')
      await provePassword({ email: row.email, password: currentPassword, session, hash: () => row.password })
      const hash = await passwords.hash(newPassword, session)
      write(() => {
        stillThere(row)
        updatePassword.run(hash, id)
        sessions.revokeOthers(id, session)
      })
      log.info({ account: id }, 'password changed')
    },
    async resetPassword(email, password) {
      const fault = passwordFault(password)
      if (fault) throw new Problem('fields_invalid', 'The new password cannot be used.', { errors: [fault] })
      const row = selectByEmail.get(normalizeEmail(email) ?? '')
      if (row === null) throw new Problem('not_found', 'No account has this e-mail address.')
      const hash = await passwords.hash(password)
      write(() => {
        updatePassword.run(hash, row.id)
        sessions.revokeOthers(row.id)
      })
      log.info({ account: row.id }, 'password reset')
      return toAccount(row)
    },
    async confirmPassword(id, { password, session }) {
      const row = selectById.get(id)
      if (row === null) throw new Problem('session_invalid', 'The account is gone.')
      try {
        await provePassword({ email: row.email, password, session, hash: () => row.password })
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== 'credentials_invalid') throw error
        throw new Problem('password_wrong', 'Send the password of the account: {"password": …}.')
      }
      stillThere(row)
    },
    delete(id, operator) {
      const isDeleted = deleteAccount(id, operator, nowMs())
      keys.dropAccount(id)
      series.dropAccount(id)
      if (isDeleted) log.info({ account: id }, 'account deleted')
      const code = setupCode()
      if (code !== undefined)
        log.warn(
          `that was the last account; the next sign-up needs the set-up code ${options.setupCode === undefined ? code : 'that was set'}`,
        )
    },
    removals: () =>
      db
        .query<{ account: string }, []>('SELECT account FROM removal')
        .all()
        .map((row) => row.account),
    removed: (id) => void write(() => db.query('DELETE FROM removal WHERE account = ?').run(id)),
    keys,
    sessions,
    series,
    close() {
      clearInterval(flushKeyUse)
      for (const write of [keys.flush, series.close]) {
        try {
          write()
        } catch (err) {
          // Whatever the disk does, the rest of the stop goes on. A lost series is admitted again when it comes again.
          log.warn({ err }, 'accounts: what was noted in memory could not be written at the end')
        }
      }
      passwords.close()
      database.close()
    },
  }
}

const toAccount = (row: Row): Account => ({
  id: row.id,
  email: row.email,
  operator: row.operator === 1,
  createdMs: row.created_ms,
})
