// One process per DATA_DIR, only on data it understands, and always under the same NODE_ID.
// The lock is SQLite's on an empty file, DATA_DIR/lock: the kernel takes it back when the process is gone, however it
// went, which no file with a pid in it can promise. The pid beside it, in lock.pid, only tells people who holds it. The
// lock file is never opened by other means: closing any second descriptor of it would give the lock away.
import { Database } from 'bun:sqlite'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { readIfThere, syncDir, writeWhole } from './whole-file.ts'

/** The version of everything under DATA_DIR; raised when an older Stint could no longer read it. */
const DATA_VERSION = 1

/**
 * With all missing parents, closed to other users. So is everything that this process creates from then on, the
 * embedded engine's files among it: an existing directory may be open, and is left as it is, for it may be shared.
 * Throws an Error whose message is for the operator.
 */
export function makeDataDir(dir: string): void {
  process.umask(0o077)
  attempt(dir, () => mkdirSync(dir, { recursive: true, mode: 0o700 }))
}

/**
 * `dir` exists. Throws an Error whose message is for the operator: who holds it, that it cannot be written, that its
 * data is newer.
 */
export function lockDataDir(dir: string) {
  const database = takeLock(dir)
  try {
    checkVersion(dir)
    attempt(dir, () => writePid(dir))
  } catch (error) {
    database.close()
    throw error
  }
  return { release: (): void => database.close() }
}

function takeLock(dir: string): Database {
  const path = join(dir, 'lock')
  let database: Database | undefined
  try {
    database = new Database(path, { create: true, readwrite: true })
    // Nothing is ever written to it, so it needs no journal file either.
    database.run('PRAGMA journal_mode = MEMORY')
    database.run('BEGIN IMMEDIATE')
    return database
  } catch (error) {
    database?.close()
    const code = (error as { code?: string }).code
    if (code?.startsWith('SQLITE_BUSY')) {
      throw new Error(
        `DATA_DIR ${dir} is in use by another Stint${holder(dir)}: stop that one, or give this one another DATA_DIR`,
      )
    }
    throw new Error(`DATA_DIR ${dir} cannot be written: ${path}: ${(error as Error).message}`, { cause: error })
  }
}

/** A full disk is no reason not to start: what fills it may be what waits to be delivered. */
function unlessFull(write: () => void): void {
  try {
    write()
  } catch (error) {
    if (!['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

const writePid = (dir: string) => unlessFull(() => writeFileSync(join(dir, 'lock.pid'), `${process.pid}\n`))

/**
 * Whether the NODE_ID is new in this DATA_DIR: stamps are unique by it, and the newest stamp in DATA_DIR is that of one
 * node. Under the lock. Throws an Error whose message is for the operator when it is another one.
 */
export function checkNodeId(dir: string, nodeId: number): boolean {
  const text = readNodeId(dir)
  if (text === undefined) return true
  if (text === String(nodeId)) return false
  throw new Error(
    `DATA_DIR ${dir} belongs to NODE_ID ${text}, but NODE_ID is ${nodeId}: set NODE_ID=${text}. ` +
      `To change it, make sure that no other Stint ever used ${nodeId} on these stores, and delete ${nodeIdPath(dir)}`,
  )
}

const nodeIdPath = (dir: string) => join(dir, 'node-id')

/** From now on this DATA_DIR refuses any other. */
export function noteNodeId(dir: string, nodeId: number): void {
  if (readNodeId(dir) === undefined) attempt(dir, () => unlessFull(() => writeWhole(nodeIdPath(dir), `${nodeId}\n`)))
}

/**
 * The id of this DATA_DIR, which stays when it is moved; a new one gets its own. Under the lock. Throws an Error whose
 * message is for the operator.
 */
export function readDataDirId(dir: string): string {
  const path = join(dir, 'id')
  const known = readIfThere(path)?.toString().trim()
  if (known) return known
  const id = crypto.randomUUID()
  attempt(dir, () => unlessFull(() => writeWhole(path, `${id}\n`)))
  return id
}

/** Undefined in a DATA_DIR that no server has started on. */
const readNodeId = (dir: string): string | undefined => readIfThere(nodeIdPath(dir))?.toString().trim()

function holder(dir: string): string {
  try {
    const pid = readFileSync(join(dir, 'lock.pid'), 'utf8').trim()
    return /^\d+$/.test(pid) ? ` (pid ${pid})` : ''
  } catch {
    return '' // the other one has not written it yet, or could not
  }
}

function checkVersion(dir: string): void {
  const path = join(dir, 'version')
  const text = readIfThere(path)?.toString().trim()
  if (text === undefined) {
    attempt(dir, () => writeWhole(path, `${DATA_VERSION}\n`))
    syncParent(dir)
    return
  }
  if (text === String(DATA_VERSION)) return
  throw new Error(
    `DATA_DIR ${dir} was written by a newer Stint (data version ${text}; this one reads ${DATA_VERSION}): start that ` +
      `version. If none ever ran here, ${path} is damaged: write ${DATA_VERSION} into it`,
  )
}

/** The directory may have been made just now, and its parent may be closed to us. */
function syncParent(dir: string): void {
  try {
    syncDir(dirname(resolve(dir)))
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

function attempt(dir: string, write: () => void): void {
  try {
    write()
  } catch (error) {
    throw new Error(`DATA_DIR ${dir} cannot be written: ${(error as Error).message}`, { cause: error })
  }
}
