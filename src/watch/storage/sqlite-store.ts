// watches.sqlite in DATA_DIR, for one node, opened like every SQLite file there.
import type { Logger } from '../../log.ts'
import { openSqlite, type SqliteFile } from '../../state/open-sqlite.ts'
import { createSqliteDatabase, withDiskProblems } from '../../state/sqlite-database.ts'
import type { WatchStore } from './create-watch-store.ts'
import { createWatchStore } from './create-watch-store.ts'
import { migrations } from './migrations.ts'

/** 'StnW'. */
const APPLICATION_ID = 0x53746e57

/** Throws an Error that describes the fault of the file and what to do. */
export function openWatchesFile(path: string, log: Logger): SqliteFile {
  const file = openSqlite({
    path,
    what: 'watches',
    applicationId: APPLICATION_ID,
    migrations,
    withoutIt: 'the watches and channels of every account',
    log,
  })
  return withDiskProblems(file)
}

/** Throws like `openWatchesFile`. */
export const openSqliteWatchStore = (path: string, log: Logger): WatchStore =>
  createWatchStore(createSqliteDatabase(openWatchesFile(path, log)))
