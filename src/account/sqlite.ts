// accounts.sqlite: opened as every SQLite file of DATA_DIR; what its disk does not take becomes a Problem.
import { type Database, SQLiteError } from 'bun:sqlite'
import type { Logger } from '../log.ts'
import { Problem } from '../problem.ts'
import { openSqlite, type SqliteFile } from '../state/open-sqlite.ts'
import type { AccountDatabase, Result, Script, Statement } from './database.ts'
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

export const withDiskProblems = (file: SqliteFile): SqliteFile => ({
  ...file,
  write(change) {
    try {
      return file.write(change)
    } catch (cause) {
      throw diskProblem(cause) ?? cause
    }
  },
})

/** Runs each script within the call, so that nothing comes between its statements. */
export function createSqliteDatabase({ db, write, close }: SqliteFile): AccountDatabase {
  return {
    read: async (script) => runScript(db, script()),
    write: async (script) => write(() => runScript(db, script())),
    close: async () => close(),
  }
}

function runScript<T>(db: Database, script: Script<T>): T {
  let step = script.next()
  while (!step.done) step = script.next(runStatement(db, step.value))
  return step.value
}

function runStatement(db: Database, { sql, values }: Statement): Result {
  const statement = db.query(sql)
  if (statement.columnNames.length > 0) return { rows: statement.all(...values), changes: 0 }
  return { rows: [], changes: statement.run(...values).changes }
}

function diskProblem(cause: unknown): Problem | undefined {
  const code = cause instanceof SQLiteError ? cause.code : undefined
  if (code === 'SQLITE_FULL')
    return new Problem('disk_low', 'The disk has no room for this change; nothing was changed.', {
      retryAfterS: 5,
      cause,
    })
  if (code?.startsWith('SQLITE_IOERR'))
    return new Problem('disk_failed', 'Writing to the disk failed; nothing was changed.', { cause })
  return undefined
}
