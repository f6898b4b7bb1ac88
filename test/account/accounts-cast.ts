// What the tests of this room share: a clock that only moves when told, a fresh directory, and accounts in it.
import { join } from 'node:path'
import pino from 'pino'
import type { Accounts } from '../../src/account/accounts.ts'
import { type OpenAccountsOptions, openAccounts, openAccountsFile } from '../../src/account/open-accounts.ts'
import { type OpenSharedAccountsOptions, openSharedAccounts } from '../../src/account/shared/open-shared-accounts.ts'
import type { Clock } from '../../src/clock.ts'
import { Problem } from '../../src/problem.ts'
import type { SqliteFile } from '../../src/state/open-sqlite.ts'
import { disposing } from '../support/disposing.ts'
import { missing } from '../support/needs.ts'
import { sharedPostgres } from '../support/postgres.ts'
import { inMemoryDir } from '../support/temp-dir.ts'

export const silentLog = pino({ level: 'silent' })

export interface ManualClock extends Clock {
  passS(seconds: number): void
}

export function createManualClock(startUs = Date.UTC(2026, 10, 20) * 1000): ManualClock {
  let us = 0
  return {
    wallUs: () => startUs + us,
    monotonicUs: () => us,
    passS(seconds) {
      us += seconds * 1e6
    },
  }
}

/** Of the passwords in these tests: the real one takes 30 ms of a core per sign-in. */
const hashCost = { memoryCost: 64, timeCost: 1 }

export const freshDir = (): string => inMemoryDir()

export function openFresh(options: Partial<OpenAccountsOptions> = {}): OpenedAccounts {
  const clock = (options.clock as ManualClock | undefined) ?? createManualClock()
  const path = options.path ?? join(freshDir(), 'accounts.sqlite')
  const accounts = openAccounts({ signup: 'open', log: silentLog, hashCost, ...options, clock, path })
  return disposing({ ...accounts, path, clock })
}

export type OpenedAccounts = Accounts & AsyncDisposable & { path: string; clock: ManualClock }

/** `path` of accounts that were opened before opens the same again. */
export type OpenAccounts = (options?: Partial<OpenAccountsOptions>) => Promise<OpenedAccounts>

/** The databases that the contract of the accounts is proved on. */
export function databases(): { readonly database: string; readonly open: OpenAccounts }[] {
  const sqlite = { database: 'SQLite', open: async (options?: Partial<OpenAccountsOptions>) => openFresh(options) }
  if (missing('postgresql') !== undefined) return [sqlite]
  return [sqlite, { database: 'PostgreSQL', open: createOpenShared() }]
}

/** In PostgreSQL, as a node of its own unless `replicaPath` is that of another. */
export async function openShared(url: string, options: Partial<OpenSharedAccountsOptions> = {}) {
  const clock = (options.clock as ManualClock | undefined) ?? createManualClock()
  const replicaPath = options.replicaPath ?? join(freshDir(), 'known-keys.sqlite')
  const basic = { signup: 'open', log: silentLog, hashCost } as const
  return { ...(await openSharedAccounts({ ...basic, ...options, clock, url, replicaPath })), replicaPath, clock }
}

function createOpenShared(): OpenAccounts {
  const urls = new Map<string, string>()
  return async (options = {}) => {
    const { path, ...others } = options
    const url = urls.get(path ?? '') ?? (await (await sharedPostgres()).createDatabase())
    const accounts = await openShared(url, { ...others, ...(path !== undefined && { replicaPath: path }) })
    urls.set(accounts.replicaPath, url)
    return disposing({ ...accounts, path: accounts.replicaPath })
  }
}

export const openFreshDatabase = (path = join(freshDir(), 'accounts.sqlite')): SqliteFile & { path: string } => ({
  ...openAccountsFile(path, silentLog),
  path,
})

export const ADA = { email: 'ada@example.com', password: 'correct horse battery', address: '192.0.2.1' }
export const BOB = { email: 'bob@example.com', password: 'staple staple staple', address: '192.0.2.2' }

/** The Problem that `work` throws or rejects with. */
export async function problemOf(work: () => unknown): Promise<Problem> {
  try {
    await work()
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

export const codeOf = async (work: () => unknown) => (await problemOf(work)).code
