// The interface of this room: accounts, people, keys, sessions and the budget of series in one database. Opened by
// open-accounts.ts (SQLite, one node) or shared/open-shared-accounts.ts (PostgreSQL, any number of nodes). Invariants:
// * Every change is durable when its call resolves; memory changes after the database, never before.
// * `local` is a file of this node, read within the call: with SQLite the database itself, with PostgreSQL the copy
//   that follows it, so intake (keys, number of accounts, operator, series) never waits for PostgreSQL.
import type { Clock } from '../clock.ts'
import type { Logger } from '../log.ts'
import { Problem } from '../problem.ts'
import { all, run, type Script, type SqlDatabase } from '../state/database.ts'
import type { SqliteFile } from '../state/open-sqlite.ts'
import type { Account } from '../wire/accounts.ts'
import { deleteAccount, selectById, toAccount } from './account-rows.ts'
import { createAuditLog } from './audit-log.ts'
import { createGroupStates } from './group-states.ts'
import type { KeyRing } from './key-ring.ts'
import { createKeys } from './keys.ts'
import { createKnownNetworks } from './known-networks.ts'
import { networkOf } from './networks.ts'
import { createOperator } from './operator.ts'
import { createPasswords, type HashCost } from './passwords.ts'
import { createDisputes } from './people/disputes.ts'
import { createIdentities } from './people/identities.ts'
import { createInvitations } from './people/invitations.ts'
import { createMembers } from './people/members.ts'
import { createPeople } from './people/people.ts'
import { deletePersonAlone } from './people/person-rows.ts'
import { createStrangerMails } from './people/stranger-mails.ts'
import { createTickets } from './people/tickets.ts'
import { createProcessNotes } from './process-notes.ts'
import { createQuotaNotices } from './quota-notices.ts'
import { createSetupCode } from './secret.ts'
import { createSenders } from './senders.ts'
import type { SeriesBudget } from './series-budget.ts'
import { createSessions } from './sessions.ts'
import { createProvePassword } from './sign-in.ts'
import { createSignUp } from './sign-up.ts'
import type { Suspensions } from './suspensions.ts'
import type { Use } from './use.ts'
import type { WatchCount } from './watch-count.ts'

const KEY_USE_FLUSH_MS = 60_000

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
  /** Sign-ups at once of one network in an hour; 1,000 when absent. */
  readonly signUpsMax?: number
  /** Links can be mailed. */
  readonly isMailed?: boolean
  /** The cost of hashing a new password; tests set a lower one. */
  readonly hashCost?: HashCost
}

/** Parts that both ways to open accounts prepare. */
interface AccountParts {
  readonly database: SqlDatabase
  readonly local: SqliteFile
  readonly ring: KeyRing
  readonly suspensions: Suspensions
  readonly series: SeriesBudget
  readonly use: Use
  /** Is there a node of 2.0, or was there one within three minutes? Absent: there is one node. */
  hasFormerNodes?(): Script<boolean>
  /** With PostgreSQL: from memory, which is ahead of the copy while the disk is full. */
  disputedBy?(account: string): string | undefined
  /** With SQLite alone: watches are in a file of their own there. */
  readonly watchCount?: WatchCount
  /** Ends what works beside the requests, before the files are closed. */
  stopWork?(): Promise<void>
}

export type Accounts = ReturnType<typeof createAccounts>

/**
 * `operator` of an account: it is the first one, which sees the totals of all. Everything that returns a promise
 * rejects with Problem `store_unavailable` while PostgreSQL is away.
 */
export function createAccounts(parts: AccountParts, options: AccountsOptions) {
  const { database, local, ring, suspensions, series, use } = parts
  const { clock, log, signup, isMailed = false } = options
  const { hasFormerNodes = noFormerNodes, disputedBy = disputedByLocal } = parts
  const nowMs = () => Math.floor(clock.wallUs() / 1000)
  const keys = createKeys(database, ring, nowMs)
  const sessions = createSessions(database, nowMs, log)
  const passwords = createPasswords(options.hashCost)
  const networks = createKnownNetworks(database, nowMs)
  const provePassword = createProvePassword(clock, passwords, networks)
  const isSignUpOpen = signup === 'open'
  const people = createPeople({ database, passwords, sessions, provePassword, isSignUpOpen, nowMs })
  const members = createMembers(database, ring, nowMs)

  const countLocal = local.db.query<{ n: number }, []>('SELECT count(*) n FROM account')
  const selectDispute = local.db.query<{ disputed_by: string | null }, [string]>(
    'SELECT disputed_by FROM account WHERE id = ?',
  )
  function disputedByLocal(id: string): string | undefined {
    return selectDispute.get(id)?.disputed_by ?? undefined
  }
  const selectOperator = local.db.query<unknown, [string]>('SELECT 1 FROM account WHERE id = ? AND operator = 1')
  const selectRemovals = local.db.query<{ account: string }, []>('SELECT account FROM removal')
  const deleteRemoval = local.db.query<null, [string]>('DELETE FROM removal WHERE account = ?')
  const count = () => countLocal.get()!.n
  const askerAt = async (address: string) => ({ name: networkOf(address), isKnown: await networks.has(address) })
  const findById = (id: string) => database.read(() => selectById(id))

  function dropFromMemory(id: string): void {
    keys.dropAccount(id)
    suspensions.dropAccount(id)
    series.dropAccount(id)
    use.dropAccount(id)
    operator.forget()
  }

  const operator = createOperator({ database, suspensions, use, log, nowMs })
  const strangerMails = createStrangerMails(database, nowMs, signup === 'open' && isMailed)

  let madeUpCode: string | undefined
  function setupCode(): string | undefined {
    if (!options.setupCodeRequired || signup === 'closed' || count() > 0) return undefined
    madeUpCode ??= createSetupCode()
    return options.setupCode ?? madeUpCode
  }

  const signUpParts = { database, keys, passwords, nowMs, askerAt, setupCode, isMailed, hasFormerNodes }
  const signUp = createSignUp({ ...options, ...signUpParts })
  const signUpOpen = () => signUp.isOpenAt(count())

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
    signUpOpen,
    /** The code that the first sign-up needs; undefined if none is needed or an account exists. Logged at the start. */
    setupCode,
    count,
    isOperator: (id: string): boolean => selectOperator.get(id) !== null,
    get: (id: string): Promise<Account | undefined> => findById(id).then((row) => row && toAccount(row)),
    create: signUp.create,
    signUp,
    disputes: createDisputes({ database, ring, signUp, nowMs, dropAccount: dropFromMemory }),
    strangerMails,
    suspensions,
    operator,
    /** The person whose proof ended the claim on the account, and who has not chosen yet what becomes of it. */
    disputedBy,
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
      dropFromMemory(id)
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
    removed: (ids: readonly string[]): Promise<void> =>
      local.commit(() => {
        for (const id of ids) deleteRemoval.run(id)
      }),
    keys,
    sessions,
    people,
    members,
    identities: createIdentities({ database, ring, members, isSignUpOpen, nowMs }),
    invitations: createInvitations(database, nowMs),
    tickets: createTickets(database, nowMs),
    audit: createAuditLog(database, nowMs, networks),
    groupStates: createGroupStates(database, clock.wallUs),
    notes: createProcessNotes(database, nowMs),
    /** The hash of a new password that somebody at this address sets. Throws Problem `rate_limited`. */
    hashFrom: async (password: string, address: string): Promise<string> =>
      passwords.hash(password, await askerAt(address)),
    series,
    /** Bytes that this node accepted of each account in 24 hours. */
    use,
    senders: createSenders({ use, db: local.db, count, nowMs, monotonicUs: clock.monotonicUs, log }),
    quotaNotices: createQuotaNotices(database, nowMs, strangerMails.taking),
    watchCount: parts.watchCount,
    /** Writes the notes in memory to the database. */
    async close(): Promise<void> {
      clearInterval(flushKeyUse)
      await flushing
      await parts.stopWork?.()
      for (const write of [keys.flush, series.close, use.close]) {
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

// biome-ignore lint/correctness/useYield: with one node there is nothing to ask
function* noFormerNodes(): Script<boolean> {
  return false
}
