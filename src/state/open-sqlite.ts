// The one way to open an SQLite file of DATA_DIR: whole, ours, of a version that this Stint knows, and closed to
// others. Invariants:
// * A new file is built beside its place and renamed into it, so a file in place that is empty, foreign or broken is
//   damage, never a fresh start.
// * The WAL is empty whenever no write is under way: SQLite silently ignores a WAL with one flipped bit, and the rows
//   in it would be gone.
// * Opening a whole file needs no free space on its disk, so that a start on a full one can deliver what fills it.
import { constants, Database } from 'bun:sqlite'
import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Logger } from '../log.ts'
import { createQueuedCommits, type QueuedCommits } from './queued-commits.ts'
import { checkSchemaVersion, newestVersion, type Schema, stepsFrom } from './schema.ts'
import { syncDir } from './whole-file.ts'

export interface SqliteOptions {
  readonly path: string
  /** In errors and logs: `accounts`, `dead letters`. */
  readonly what: string
  /** Tells this file from any other SQLite file; written into its header. */
  readonly applicationId: number
  readonly schema: Schema
  /** The loss when an operator starts again without the file. */
  readonly withoutIt: string
  /**
   * Reads what must be readable at each opening. Absent: all of the file and its foreign keys, for files that stay
   * small.
   */
  readonly probe?: (db: Database) => unknown
  /** Freed pages are given back to the disk after each write. */
  readonly shrinks?: boolean
  readonly log: Logger
}

export interface SqliteFile extends Pick<QueuedCommits, 'commit' | 'settled'> {
  readonly db: Database
  /**
   * Runs `change` in one immediate transaction; durable when it returns. An error thrown inside rolls everything back.
   */
  write<T>(change: () => T): T
  /** Not before all is `settled`. */
  close(): void
}

/** Pages given back by one write, so that none takes long. */
const FREED_PAGES = 1000

/**
 * The file has one process. The index of the WAL is then kept in memory: on disk it is 32 KiB that a full one does not
 * have.
 */
const WITHOUT_SHM = 'locking_mode = EXCLUSIVE'

/** Throws an Error whose message names the file, its fault and what to do. */
export function openSqlite(options: SqliteOptions): SqliteFile {
  const { path, what, shrinks, log } = options
  const db = openOrCreate(options)
  const emptyWal = () => void db.run('PRAGMA wal_checkpoint(TRUNCATE)')
  const warn = (err: unknown) =>
    log.warn({ err, path }, `${what}: the WAL checkpoint failed; retrying with the next write`)
  const tidy = () => {
    try {
      if (shrinks) db.run(`PRAGMA incremental_vacuum(${FREED_PAGES})`)
      emptyWal()
    } catch (err) {
      // Committed changes are durable in the WAL; the next write tries again.
      warn(err)
    }
  }
  tidy()
  const queued = createQueuedCommits({ db, path: realpathSync(path), emptyWal, warn })
  return {
    db,
    commit: queued.commit,
    settled: queued.settled,
    write(change) {
      queued.yieldFile()
      const result = db.transaction(change).immediate()
      tidy()
      return result
    },
    close() {
      db.close()
      queued.close()
    },
  }
}

/** A whole file that nobody can write meanwhile, for reading alone. Throws as `openSqlite` does. */
export function readSqlite(options: SqliteOptions): Database {
  const { path, schema } = options
  const wal = statSync(`${path}-wal`, { throwIfNoEntry: false })
  if (wal !== undefined && wal.size > 0) throw new Error(`${path} is read-only, and its log has changes: ${WRITE_ONCE}`)
  const flags = constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI
  // without `immutable` SQLite makes a lock file beside it
  const db = new Database(`${pathToFileURL(path).href}?immutable=1`, flags)
  try {
    if (check(db, options) < newestVersion(schema))
      throw new Error(`${path} is read-only, and an earlier version wrote it: ${WRITE_ONCE}`)
    return db
  } catch (cause) {
    db.close()
    throw cause
  }
}

const WRITE_ONCE = 'make it writable for one start.'

function openOrCreate(options: SqliteOptions): Database {
  const { path } = options
  try {
    refuseDeadLink(options)
    if (!existsSync(path)) createFile(options)
    return openChecked(options)
  } catch (cause) {
    const { message, code = '' } = cause as Error & { code?: string }
    if (message.includes(path)) throw cause
    const advice = /FULL|IOERR|ENOSPC/.test(code) ? '. Is its disk full? Free space there and start again' : ''
    throw new Error(`${path} cannot be opened: ${message}${advice}`, { cause })
  }
}

/** A new file would replace the link, and the database on a disk that is away for now would be forgotten. */
function refuseDeadLink({ path, withoutIt }: SqliteOptions): void {
  if (existsSync(path) || lstatSync(path, { throwIfNoEntry: false }) === undefined) return
  throw new Error(
    `${path} is a link to ${readlinkSync(path)}, which does not exist: mount its disk. To start over without ` +
      `${withoutIt}, remove the link.`,
  )
}

function createFile(options: SqliteOptions): void {
  const { path, applicationId, schema, shrinks } = options
  if (existsSync(`${path}-wal`)) throw damaged(options, 'the file is missing, but its write-ahead log exists')
  const fresh = `${path}.new`
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(fresh + suffix, { force: true })
  closeSync(openSync(fresh, 'wx', 0o600))
  const db = new Database(fresh)
  db.run('PRAGMA synchronous = FULL')
  if (shrinks) db.run('PRAGMA auto_vacuum = INCREMENTAL')
  db.run(`PRAGMA application_id = ${applicationId}`)
  migrate(db, schema, 0)
  db.close()
  renameSync(fresh, path)
  syncDir(dirname(path))
}

function openChecked(options: SqliteOptions): Database {
  const { path, schema } = options
  // SQLite gives a new WAL the mode of its file.
  for (const file of [path, `${realpathSync(path)}-wal`]) if (existsSync(file)) chmodSync(file, 0o600)
  const version = checkFile(options)
  const db = new Database(path, { readwrite: true, strict: true })
  try {
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
    if (version < newestVersion(schema)) migrate(db, schema, version)
    return db
  } catch (cause) {
    db.close()
    throw cause
  }
}

/**
 * The file's version. On a connection of its own: one that has read the file before it turns to WAL cannot run a
 * checkpoint.
 */
function checkFile(options: SqliteOptions): number {
  const db = new Database(options.path, { readwrite: true })
  try {
    db.run(`PRAGMA ${WITHOUT_SHM}`)
    return check(db, options)
  } catch (cause) {
    const code = (cause as { code?: string }).code ?? ''
    if (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB')
      throw damaged(options, 'SQLite cannot read it', cause)
    throw cause
  } finally {
    db.close()
  }
}

function check(db: Database, options: SqliteOptions): number {
  const { path, what, applicationId, schema, probe } = options
  const pragma = (name: string) => Object.values(db.query(`PRAGMA ${name}`).get() as Record<string, unknown>)[0]
  if (pragma('application_id') !== applicationId) throw damaged(options, `it does not hold Stint's ${what}`)
  const version = pragma('user_version') as number
  if (version < 1) throw damaged(options, 'its schema has no version')
  checkSchemaVersion(schema, version, path)
  if (probe !== undefined) {
    probe(db)
    return version
  }
  if (pragma('integrity_check') !== 'ok') throw damaged(options, 'the integrity check failed')
  if (db.query('PRAGMA foreign_key_check').get() !== null) throw damaged(options, 'rows are missing from it')
  return version
}

function migrate(db: Database, schema: Schema, from: number): void {
  db.transaction(() => {
    for (const step of stepsFrom(schema, from)) db.run(step)
    db.run(`PRAGMA user_version = ${newestVersion(schema)}`)
  }).immediate()
}

function damaged({ path, withoutIt }: SqliteOptions, reason: string, cause?: unknown): Error {
  const file = basename(path)
  return new Error(
    `${path} is damaged: ${reason}. To restore it, put a backup of ${file} in its place and delete ${file}-wal. ` +
      `To start over without ${withoutIt}, move ${file} and ${file}-wal away.`,
    { cause },
  )
}
