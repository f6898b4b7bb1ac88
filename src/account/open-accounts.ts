// Accounts in accounts.sqlite of DATA_DIR: the database is this node's own file.

import { createSqliteDatabase } from '../state/sqlite-database.ts'
import { type Accounts, type AccountsOptions, createAccounts } from './accounts.ts'
import { loadKeyRing } from './key-ring.ts'
import { createSeriesBudget } from './series-budget.ts'
import { openAccountsFile } from './sqlite.ts'

export interface OpenAccountsOptions extends AccountsOptions {
  /** Where accounts.sqlite is or shall be. */
  readonly path: string
}

/** Throws an Error that tells the operator what to do when the file is damaged or of a newer Stint. */
export function openAccounts(options: OpenAccountsOptions): Accounts {
  const { path, clock, log, seriesMax = 0 } = options
  const local = openAccountsFile(path, log)
  const parts = {
    database: createSqliteDatabase(local),
    local,
    ring: loadKeyRing(local.db, clock),
    series: createSeriesBudget({ database: local, max: seriesMax, log }),
  }
  return createAccounts(parts, options)
}
