// An SQLite file of DATA_DIR that is made for the first row it holds, so that nothing fails for want of a file that has
// nothing to say. Invariants:
// * A file that is there is read at the start, also where it is read-only; one that is damaged is refused there.
// * A change that finds no writable file throws, and the next one looks again.
import type { Database } from 'bun:sqlite'
import { accessSync, constants, existsSync, lstatSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { openSqlite, readSqlite, type SqliteFile, type SqliteOptions } from './open-sqlite.ts'

export type NeededFile = ReturnType<typeof openWhenNeeded>

/** Throws an Error that names the file when it is there and cannot be read. */
export function openWhenNeeded(options: SqliteOptions) {
  const { path, what, log } = options
  let file: SqliteFile | undefined
  let reader: Database | undefined
  if (isThere(path)) {
    if (isWritable(path)) file = openSqlite(options)
    else {
      reader = readSqlite(options)
      log.warn({ path }, `${what}: the file is read-only; changes fail until it can be written`)
    }
  }

  function openNow(): SqliteFile {
    if (reader !== undefined && !isWritable(path)) throw new Error(`${path} is read-only`)
    const opened = openSqlite(options)
    reader?.close()
    reader = undefined
    return opened
  }

  return {
    /** Undefined while there is no file. */
    reading: (): Database | undefined => file?.db ?? reader,
    /** As SqliteFile has it; makes the file. Throws what `openSqlite` throws. */
    write<T>(change: (db: Database) => T): T {
      const opened = file ?? openNow()
      file = opened
      return opened.write(() => change(opened.db))
    },
    close(): void {
      file?.close()
      reader?.close()
    },
  }
}

/** A link that leads nowhere is there, and so is a file of which only the log is left: `openSqlite` refuses both. */
const isThere = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false }) !== undefined || existsSync(`${path}-wal`)

/** SQLite writes the file and makes its log beside it. */
function isWritable(path: string): boolean {
  if (!existsSync(path)) return true // its folder says more when the file is made
  try {
    for (const written of [path, dirname(realpathSync(path))]) accessSync(written, constants.W_OK)
    return true
  } catch {
    return false
  }
}
