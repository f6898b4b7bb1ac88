// accounts.sqlite: opened as every SQLite file of DATA_DIR; what its disk does not take becomes a Problem.
import { SQLiteError } from 'bun:sqlite'
import type { Logger } from '../log.ts'
import { Problem } from '../problem.ts'
import { openSqlite, type SqliteFile } from '../state/open-sqlite.ts'
import { migrations } from './migrations.ts'

/** 'Stnt'. */
const APPLICATION_ID = 0x53746e74

/** `write` throws Problem `disk_low` or `disk_failed` when the disk does not take the change. */
export type AccountDatabase = SqliteFile

/** Throws an Error whose message tells the operator the fault of the file and what to do. */
export function openDatabase(path: string, log: Logger): AccountDatabase {
  const file = openSqlite({
    path,
    what: 'accounts',
    applicationId: APPLICATION_ID,
    migrations,
    withoutIt: 'the accounts (every API key stops working)',
    log,
  })
  return {
    ...file,
    write(change) {
      try {
        return file.write(change)
      } catch (cause) {
        throw diskProblem(cause) ?? cause
      }
    },
  }
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
