// The interface of this room: accounts, people, keys, sessions and the budget of series in one database. Opened by
// open-accounts.ts (SQLite, one node) or shared/open-shared-accounts.ts (PostgreSQL, any number of nodes). Invariants:
// * Every change is durable when its call resolves; memory changes after the database, never before.
// * `local` is a file of this node, read within the call: with SQLite the database itself, with PostgreSQL the copy
//   that follows it, so intake (keys, number of accounts, operator, series) never waits for PostgreSQL.
import { type Clock, toTime } from '../clock.ts'
import type { Logger } from '../log.ts'
import { Problem } from '../problem.ts'
import { all, insert, run, type Script, type SqlDatabase } from '../state/database.ts'
import type { SqliteFile } from '../state/open-sqlite.ts'
import type { Account } from '../wire/accounts.ts'
import { type AccountRow, countAccounts, deleteAccount, selectById } from './account-rows.ts'
import { createAuditLog } from './audit-log.ts'
import { checkCredentials } from './credentials.ts'
import { createGroupStates } from './group-states.ts'
import type { KeyRing } from './key-ring.ts'
import { createKeys } from './keys.ts'
import { createKnownNetworks } from './known-networks.ts'
import { coarserNetwork, networkOf } from './networks.ts'
import { createPasswords, type HashCost } from './passwords.ts'
import { createIdentities } from './people/identities.ts'
import { createInvitations } from './people/invitations.ts'
import { createMembers } from './people/members.ts'
import { createPeople } from './people/people.ts'
import { deletePersonAlone, insertMember, insertPerson, selectPersonByEmail } from './people/person-rows.ts'
import { createTickets } from './people/tickets.ts'
import { createId, createSetupCode, sameSecret } from './secret.ts'
import type { SeriesBudget } from './series-budget.ts'
import { createSessions } from './sessions.ts'
import { createProvePassword } from './sign-in.ts'
import { createTokenBuckets } from './token-buckets.ts'

const KEY_USE_FLUSH_MS = 60_000
const SIGN_UPS = { windowS: 3600, maxEntries: 10_000, coarser: coarserNetwork }
/** Sign-ups per address and hour: a set-up script may create many accounts in a row. */
const SIGN_UPS_MAX = 1000

export interface AccountsOptions {
  readonly clock: Clock
  readonly log: Logger
  /** `first` = until there is an account. */
  readonly signup: 'first' | 'open' | 'closed'
  /** The first sign-up needs a setup code: set when strangers can reach the port. */
  readonly setupCodeRequired?: boolean
  /** The setup code; without it one is made up. */
  readonly setupCode?: string
  /** Distinct series an account may make; 0 (the default) = no limit. */
  readonly seriesMax?: number
  /** Sign-ups of one address in an hour; 1,000 when absent. */
  readonly signUpsMax?: number
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
interface AccountParts {
  readonly database: SqlDatabase
  readonly local: SqliteFile
  readonly ring: KeyRing
  readonly series: SeriesBudget
  /** Ends what works beside the requests, before the files are closed. */
  stopWork?(): Promise<void>
}

export type Accounts = ReturnType<typeof createAccounts>

/**
 * `operator` of an account: it is the first one, which sees the totals of all. Everything that returns a promise
 * rejects with Problem `store_unavailable` while PostgreSQL is away.
 */
export function createAccounts(parts: AccountParts, options: AccountsOptions) {
  const { database, local, ring, series } = parts
  const { clock, log, signup } = options
  const nowMs = () => Math.floor(clock.wallUs() / 1000)
  const keys = createKeys(database, ring, clock)
  const sessions = createSessions(database, clock, log)
  const passwords = createPasswords(options.hashCost)
  const networks = createKnownNetworks(database, nowMs)
  const provePassword = createProvePassword(clock, passwords, networks)
  const people = createPeople({ database, passwords, sessions, provePassword, nowMs })
  const members = createMembers(database, ring, nowMs)
  const signUps = createTokenBuckets({ clock, limit: options.signUpsMax ?? SIGN_UPS_MAX, ...SIGN_UPS })

  const countLocal = local.db.query<{ n: number }, []>('SELECT count(*) n FROM account')
  const selectOperator = local.db.query<unknown, [string]>('SELECT 1 FROM account WHERE id = ? AND operator = 1')
  const selectRemovals = local.db.query<{ account: string }, []>('SELECT account FROM removal')
  const deleteRemoval = local.db.query<null, [string]>('DELETE FROM removal WHERE account = ?')
  const count = () => countLocal.get()!.n
  const askerAt = async (address: string) => ({ name: networkOf(address), isKnown: await networks.has(address) })
  const findById = (id: string) => database.read(() => selectById(id))

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
    if ((yield* selectPersonByEmail(email)) !== undefined)
      throw new Problem('email_taken', 'Sign in instead, or use another address.')
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
    /** The hot path of every request: see `KeyRing.find`. */
    findKey: ring.find,
    /** Can an account be made now? */
    signUpOpen,
    /** The code that the first sign-up needs; undefined if none is needed or an account exists. Logged at the start. */
    setupCode,
    count,
    isOperator: (id: string): boolean => selectOperator.get(id) !== null,
    get: (id: string): Promise<Account | undefined> => findById(id).then((row) => row && toAccount(row)),
    /**
     * The account, its owner, and its first key, which may write and read. Throws Problem `signup_closed`,
     * `setup_code_invalid`, `email_taken`, `fields_invalid`, `rate_limited`.
     */
    async create({ email, password, setupCode: given, address }: SignUp) {
      await database.read(() => refuseSignUp(''))
      const normalEmail = checkCredentials(email, password)
      signUps.attempt(networkOf(address))
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
      const made = await database.write(function* () {
        yield* refuseSignUp(normalEmail)
        const operator = (yield* countAccounts()) === 0
        const names = { id: createId('acc'), email: normalEmail, name: normalEmail }
        const row = { ...names, operator: Number(operator), created_ms: nowMs() }
        const account = toAccount(row)
        yield* insert('account', row)
        const owner = yield* insertPerson(normalEmail, hash, nowMs())
        const seat = { account: account.id, person: owner.id }
        yield* insertMember(seat, 'owner', nowMs())
        return { account, owner, seat, key: yield* keys.insert(account.id, 'first key', ['write', 'read'], owner) }
      })
      keys.admit(made.account.id, made.key)
      log.info({ account: made.account.id, operator: made.account.operator }, 'account created')
      return made
    },
    /** Throws Problem `not_found`. */
    async rename(id: string, name: string): Promise<Account> {
      const changed = await database.write(() => run('UPDATE account SET name = $1 WHERE id = $2', name, id))
      const row = changed === 0 ? undefined : await findById(id)
      if (row === undefined) throw new Problem('not_found', 'The account is gone.')
      return toAccount(row)
    },
    /**
     * Removes the account, its keys, sessions and series, and people in no other account. `removals` lists its data
     * elsewhere until `removed` is called. `successor`: the next operator's id, or the e-mail address that made it.
     * Throws Problem `operator_needed` if accounts would be left without one, `fields_invalid` for an unknown account.
     */
    async delete(id: string, successor?: string): Promise<void> {
      const deleted = await database.write(function* () {
        const members = yield* all<{ person: string }>('SELECT person FROM membership WHERE account = $1', id)
        const deleted = yield* deleteAccount(id, successor, nowMs())
        for (const { person } of members) yield* deletePersonAlone(person)
        return deleted
      })
      keys.dropAccount(id)
      series.dropAccount(id)
      if (deleted?.newOperator) log.info({ account: deleted.newOperator }, 'account became the operator')
      if (deleted) log.info({ account: id }, 'account deleted')
      const code = setupCode()
      if (code !== undefined)
        log.warn(
          'that was the last account; the next sign-up needs the setup code ' +
            `${options.setupCode ? 'that was set' : code}`,
        )
    },
    /** Deleted accounts whose data may still be in this node's spools and in the stores. */
    removals: (): string[] => Array.from(selectRemovals.all(), ({ account }) => account),
    removed: (id: string): void => void local.write(() => deleteRemoval.run(id)),
    keys,
    sessions,
    people,
    members,
    identities: createIdentities({ database, ring, members, sessions, nowMs }),
    invitations: createInvitations(database, nowMs),
    tickets: createTickets(database, nowMs),
    audit: createAuditLog(database, nowMs, networks),
    groupStates: createGroupStates(database, clock.wallUs),
    /** The hash of a new password that somebody at this address sets. Throws Problem `rate_limited`. */
    hashFrom: async (password: string, address: string): Promise<string> =>
      passwords.hash(password, await askerAt(address)),
    series,
    /** Writes the notes in memory to the database. */
    async close(): Promise<void> {
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
  name: row.name,
  operator: row.operator === 1,
  created_at: toTime(row.created_ms),
})
