// watches.sqlite in DATA_DIR, for one node, opened like every SQLite file there.
import type { Logger } from '../../log.ts'
import { Problem, type ProblemCode } from '../../problem.ts'
import { SENT_NOTIFICATIONS } from '../../state/alert-tables.ts'
import type { SqlDatabase } from '../../state/database.ts'
import { openSqlite, type SqliteFile } from '../../state/open-sqlite.ts'
import type { Schema } from '../../state/schema.ts'
import { createSqliteDatabase, withDiskProblems } from '../../state/sqlite-database.ts'
import { ALIVE_LEAD, FEED_DATA_DIR, REFUSED_TIMES, toWatchesFile, WATCH_TABLES } from '../../state/watch-tables.ts'
import type { WatchStore } from './create-watch-store.ts'
import { createWatchStore } from './create-watch-store.ts'

/** 'StnW'. */
const APPLICATION_ID = 0x53746e57

const WATCHES_FILE: Schema = {
  oldest: 5,
  tables: toWatchesFile(WATCH_TABLES),
  steps: [
    // 2.0 judged in the order of the log: nothing behind a position of it is in the state, however late known_us is
    'UPDATE feed SET known_us = 0',
    toWatchesFile(ALIVE_LEAD),
    toWatchesFile(REFUSED_TIMES),
    toWatchesFile(SENT_NOTIFICATIONS),
    toWatchesFile(FEED_DATA_DIR),
  ],
}

/** Throws an Error that describes the fault of the file and what to do. */
export function openWatchesFile(path: string, log: Logger): SqliteFile {
  const file = openSqlite({
    path,
    what: 'watches',
    applicationId: APPLICATION_ID,
    schema: WATCHES_FILE,
    withoutIt: 'the watches and channels of every account',
    log,
  })
  return withDiskProblems(file)
}

/** `onWrite` hears of each change why it was not written; undefined if it was. Throws like `openWatchesFile`. */
export function openSqliteWatchStore(path: string, log: Logger, onWrite = (_?: string): void => {}): WatchStore {
  const database = createSqliteDatabase(openWatchesFile(path, log))
  const write: SqlDatabase['write'] = async (script) => {
    try {
      const result = await database.write(script)
      onWrite()
      return result
    } catch (cause) {
      if (cause instanceof Problem && DISK_FAULTS.has(cause.code)) onWrite(cause.detail)
      throw cause
    }
  }
  return createWatchStore({ ...database, write })
}

const DISK_FAULTS: ReadonlySet<ProblemCode> = new Set(['disk_low', 'disk_failed'])
