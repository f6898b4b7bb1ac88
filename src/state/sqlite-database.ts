// An SQLite file of DATA_DIR behind the interface of database.ts; what its disk does not take becomes a Problem.
import { type Database, SQLiteError } from 'bun:sqlite'
import { Problem } from '../problem.ts'
import type { Result, Script, SqlDatabase, Statement } from './database.ts'
import type { SqliteFile } from './open-sqlite.ts'

/** `write` throws Problem `disk_low` or `disk_failed` when the disk does not take the change. */
export const withDiskProblems = (file: SqliteFile): SqliteFile => ({
  ...file,
  write(change) {
    try {
      return file.write(change)
    } catch (cause) {
      throw diskProblem(cause) ?? cause
    }
  },
  commit: (change) =>
    file.commit(change).catch((cause) => {
      throw diskProblem(cause) ?? cause
    }),
})

/** Runs each script without a pause, so that nothing comes between its statements. */
export function createSqliteDatabase({ db, commit, settled, close }: SqliteFile): SqlDatabase {
  return {
    read: async (script) => runScript(db, script()),
    write: (script) => commit(() => runScript(db, script())),
    async close() {
      await settled()
      close()
    },
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
  if ((cause as NodeJS.ErrnoException).syscall === 'fdatasync')
    return new Problem('disk_failed', 'Writing to the disk failed; the change may or may not have been made.', {
      cause,
    })
  return undefined
}
