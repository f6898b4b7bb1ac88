// Accounts in accounts.sqlite of DATA_DIR, this node's own file: how it is opened.
import { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import type { Logger } from '../log.ts'
import { PROCESS_NOTE } from '../state/alert-tables.ts'
import { openSqlite, type SqliteFile } from '../state/open-sqlite.ts'
import { PROOF_TABLES } from '../state/proof-tables.ts'
import type { Schema } from '../state/schema.ts'
import { ACCOUNT_TABLES, BOUND_KEYS, KEY_PLACES, QUOTA_NOTICES, SUSPENSIONS, toSqlite } from '../state/shared-tables.ts'
import { createSqliteDatabase, withDiskProblems } from '../state/sqlite-database.ts'
import { type Accounts, type AccountsOptions, createAccounts } from './accounts.ts'
import { normalizeEmail } from './credentials.ts'
import { loadKeyRing } from './key-ring.ts'
import { createSeriesBudget } from './series-budget.ts'
import { loadSuspensions } from './suspensions.ts'
import { ACCOUNT_USE, openUse } from './use.ts'
import { createWatchCount, WATCH_COUNT } from './watch-count.ts'

export interface OpenAccountsOptions extends AccountsOptions {
  readonly path: string
}

/** Throws an Error that tells the operator what to do when the file is damaged or of a newer Stint. */
export function openAccounts(options: OpenAccountsOptions): Accounts {
  const { path, clock, log, seriesMax = 0 } = options
  const local = openAccountsFile(path, log)
  const ring = loadKeyRing(local.db, clock)
  const parts = {
    database: createSqliteDatabase(local),
    local,
    ring,
    suspensions: loadSuspensions(local.db, ring),
    series: createSeriesBudget({ database: local, max: seriesMax, log }),
    use: openUse({ file: local, clock, log }),
    watchCount: createWatchCount(local, log),
  }
  return createAccounts(parts, options)
}

/** 'Stnt'. */
const APPLICATION_ID = 0x53746e74

export const ACCOUNTS_FILE: Schema = {
  oldest: 7,
  tables: `${toSqlite(ACCOUNT_TABLES)} INSERT INTO series_salt VALUES (hex(randomblob(8)))`,
  steps: [
    ...[BOUND_KEYS, PROOF_TABLES].map(toSqlite),
    WATCH_COUNT,
    ACCOUNT_USE,
    ...[SUSPENSIONS, PROCESS_NOTE, QUOTA_NOTICES, KEY_PLACES].map(toSqlite),
  ],
}

/**
 * `write` throws Problem `disk_low` or `disk_failed` when the disk does not take the change.
 * Throws an Error whose message tells the operator the fault of the file and what to do.
 */
export function openAccountsFile(path: string, log: Logger): SqliteFile {
  const file = openSqlite({
    path,
    what: 'accounts',
    applicationId: APPLICATION_ID,
    schema: ACCOUNTS_FILE,
    withoutIt: 'the accounts (every API key stops working)',
    log,
  })
  return withDiskProblems(file)
}

/** The account id for an e-mail address or id; undefined if unknown. For commands: only reads, even beside a server. */
export function findAccountId(path: string, emailOrId: string): string | undefined {
  if (!existsSync(path)) return undefined
  const db = new Database(path, { readonly: true })
  try {
    const query = db.query<{ id: string }, [string, string]>('SELECT id FROM account WHERE id = ? OR email = ?')
    return query.get(emailOrId, normalizeEmail(emailOrId) ?? '')?.id
  } finally {
    db.close()
  }
}
