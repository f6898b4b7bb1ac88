// accounts.sqlite: opened, proved whole, migrated. Invariants:
// * A new file is built beside its place and renamed into it, so a file in place that is empty, foreign or broken is damage, never a fresh start.
// * The WAL is empty whenever no write is under way: SQLite silently ignores a WAL with one flipped bit, and the rows in it would be gone.
// * Opening a whole file takes no room on its disk, so that a start on a full one can go on to deliver what fills it.
import { Database, SQLiteError } from 'bun:sqlite'
import { chmodSync, closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Logger } from '../log.ts'
import { Problem } from '../problem.ts'
import { migrations } from './migrations.ts'

/** 'Stnt': tells our file from any other SQLite file. */
const APPLICATION_ID = 0x53746e74

/** The file has one process. The index of the WAL is then kept in memory: on disk it is 32 KiB that a full one does not have. */
const WITHOUT_SHM = 'locking_mode = EXCLUSIVE'

export interface AccountDatabase {
  readonly db: Database
  /** Runs `change` in one immediate transaction; durable when it returns. An error thrown inside rolls everything back. Throws Problem `disk_low` or `disk_failed` when the disk does not take it. */
  write<T>(change: () => T): T
  close(): void
}

/** Throws an Error whose message tells the operator what is wrong with the file and what to do. */
export function openDatabase(path: string, log: Logger): AccountDatabase {
  const db = openOrCreate(path)
  const checkpoint = () => {
    try {
      db.run('PRAGMA wal_checkpoint(TRUNCATE)')
    } catch (cause) {
      // What was committed is durable in the WAL all the same; the next write tries again.
      log.warn({ err: cause }, 'accounts: the write-ahead log could not be folded in')
    }
  }
  const transact = <T>(change: () => T): T => {
    try {
      return db.transaction(change).immediate()
    } catch (cause) {
      throw diskProblem(cause) ?? cause
    }
  }
  checkpoint()
  return {
    db,
    write(change) {
      const result = transact(change)
      checkpoint()
      return result
    },
    close: () => db.close(),
  }
}

function diskProblem(cause: unknown): Problem | undefined {
  const code = cause instanceof SQLiteError ? cause.code : undefined
  if (code === 'SQLITE_FULL')
    return new Problem('disk_low', 'There is no room on the disk for this; nothing was changed.', {
      retryAfterS: 5,
      cause,
    })
  if (code?.startsWith('SQLITE_IOERR'))
    return new Problem('disk_failed', 'Writing to the disk failed; nothing was changed.', { cause })
  return undefined
}

function openOrCreate(path: string): Database {
  try {
    if (!existsSync(path)) createFile(path)
    return openChecked(path)
  } catch (cause) {
    const { message, code = '' } = cause as Error & { code?: string }
    if (message.includes(path)) throw cause
    const advice = /FULL|IOERR|ENOSPC/.test(code) ? '. Is its disk full? Make room there and start again' : ''
    throw new Error(`${path} cannot be opened: ${message}${advice}`, { cause })
  }
}

function createFile(path: string): void {
  if (existsSync(`${path}-wal`)) throw damaged(path, 'the file is missing, but its write-ahead log is there')
  const fresh = `${path}.new`
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(fresh + suffix, { force: true })
  closeSync(openSync(fresh, 'wx', 0o600))
  const db = new Database(fresh)
  db.run('PRAGMA synchronous = FULL')
  db.run(`PRAGMA application_id = ${APPLICATION_ID}`)
  migrate(db, 0)
  db.close()
  renameSync(fresh, path)
  const dir = openSync(dirname(path), 'r')
  fsyncSync(dir)
  closeSync(dir)
}

function openChecked(path: string): Database {
  chmodSync(path, 0o600)
  const version = checkFile(path)
  const db = new Database(path, { readwrite: true, strict: true })
  for (const pragma of [
    WITHOUT_SHM,
    'busy_timeout = 1000',
    'journal_mode = WAL',
    'synchronous = FULL',
    'foreign_keys = ON',
    'secure_delete = ON',
  ]) {
    db.run(`PRAGMA ${pragma}`)
  }
  if (version < migrations.length) migrate(db, version)
  return db
}

/** On a connection of its own: one that has read the file before it turns to WAL cannot fold the log in. */
function checkFile(path: string): number {
  const db = new Database(path, { readwrite: true })
  try {
    db.run(`PRAGMA ${WITHOUT_SHM}`)
    return check(db, path)
  } catch (cause) {
    const code = (cause as { code?: string }).code ?? ''
    if (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB')
      throw damaged(path, 'SQLite cannot read it', cause)
    throw cause
  } finally {
    db.close()
  }
}

/** The version of the schema, of a file that is whole and ours. */
function check(db: Database, path: string): number {
  const pragma = (name: string) => Object.values(db.query(`PRAGMA ${name}`).get() as Record<string, unknown>)[0]
  if (pragma('application_id') !== APPLICATION_ID) throw damaged(path, 'it holds no accounts of Stint')
  const version = pragma('user_version') as number
  if (version > migrations.length) {
    throw new Error(
      `${path} was written by a newer Stint (schema ${version}, this one knows ${migrations.length}): start that version, or restore a back-up made before the upgrade`,
    )
  }
  if (version < 1) throw damaged(path, 'its schema has no version')
  if (pragma('integrity_check') !== 'ok') throw damaged(path, 'the integrity check failed')
  if (db.query('PRAGMA foreign_key_check').get() !== null) throw damaged(path, 'rows are missing from it')
  return version
}

function migrate(db: Database, from: number): void {
  db.transaction(() => {
    for (const step of migrations.slice(from)) db.run(step)
    db.run(`PRAGMA user_version = ${migrations.length}`)
  }).immediate()
}

function damaged(path: string, what: string, cause?: unknown): Error {
  const file = basename(path)
  return new Error(
    `${path} is damaged: ${what}. To restore it, put a back-up of ${file} in its place and delete ${file}-wal and ${file}-shm. ` +
      `To begin again without the accounts (every API key stops working), move ${file}, ${file}-wal and ${file}-shm away.`,
    { cause },
  )
}
