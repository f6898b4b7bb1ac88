// accounts.sqlite: opened as every SQLite file of DATA_DIR.
import type { Logger } from '../log.ts'
import { openSqlite, type SqliteFile } from '../state/open-sqlite.ts'
import { withDiskProblems } from '../state/sqlite-database.ts'
import { migrations } from './migrations.ts'

/** 'Stnt'. */
const APPLICATION_ID = 0x53746e74

/**
 * `write` throws Problem `disk_low` or `disk_failed` when the disk does not take the change.
 * Throws an Error whose message tells the operator the fault of the file and what to do.
 */
export function openAccountsFile(path: string, log: Logger): SqliteFile {
  const file = openSqlite({
    path,
    what: 'accounts',
    applicationId: APPLICATION_ID,
    migrations,
    withoutIt: 'the accounts (every API key stops working)',
    log,
  })
  return withDiskProblems(file)
}
