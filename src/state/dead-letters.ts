// Events that their store will never take, with the reason, until someone looks at them. One SQLite file for all destinations; small and
// rarely written. Burying is idempotent by (destination, record), because a kill between burying and the spool's position repeats it.
// The size is capped by what the letters hold; totals are kept in memory so that asking for them costs nothing.
// The WAL is empty whenever no write is under way: SQLite silently ignores one with a flipped bit, and the letters in it would be gone.
// Opening a whole file takes no room on its disk: a start on a full one goes on to deliver what fills it.
import { Database } from 'bun:sqlite'
import { createHash } from 'node:crypto'
import { chmodSync, closeSync, existsSync, openSync } from 'node:fs'
import { basename } from 'node:path'
import type { Clock } from '../clock.ts'
import type { Logger } from '../log.ts'

/** What a letter takes beside its texts: row, digest and index entries. */
const OVERHEAD_BYTES = 200
const FREED_PAGES = 1000
/** Of `auto_vacuum`. */
const INCREMENTAL = 2

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS dead_letter(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    digest BLOB NOT NULL UNIQUE,
    destination TEXT NOT NULL,
    account TEXT NOT NULL,
    reason TEXT NOT NULL,
    record TEXT NOT NULL,
    buried_at_us INTEGER NOT NULL,
    bytes INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS dead_letter_account ON dead_letter(account, id);
  CREATE INDEX IF NOT EXISTS dead_letter_total ON dead_letter(destination, bytes);`

export interface DeadLetter {
  readonly id: string
  readonly destination: string
  readonly account: string
  readonly reason: string
  readonly record: string
  readonly buriedAtUs: number
}

export type BuriedLetter = Pick<DeadLetter, 'destination' | 'account' | 'reason' | 'record'>

/** The cap is reached: nothing of the call was buried. The destination parks until there is room. */
export class DeadLettersFull extends Error {
  override readonly name = 'DeadLettersFull'
}

export interface DeadLetters {
  /** All or none of them, durable when it returns; one that lies there already stays as it is. Throws DeadLettersFull, and what SQLite throws on a full or failing disk. */
  bury(letters: readonly BuriedLetter[]): void
  /** An account's letters, newest first, at most `limit`; `before` is the id of the last one of the page before. */
  list(account: string, page: { limit: number; before?: string }): DeadLetter[]
  get(account: string, id: string): DeadLetter | undefined
  /** How many an account has. */
  count(account: string): number
  /** False when the account has no such letter. */
  remove(account: string, id: string): boolean
  removeAccount(account: string): void
  stats(): { total: number; bytes: number; byDestination: Record<string, number> }
  close(): void
}

export interface DeadLettersOptions {
  readonly path: string
  readonly maxBytes: number
  readonly clock: Clock
  readonly log: Logger
}

interface Row {
  id: number
  destination: string
  account: string
  reason: string
  record: string
  buried_at_us: number
  bytes: number
}

interface Total {
  letters: number
  bytes: number
}

/** Throws an Error that names the file when it cannot be opened or is damaged. */
export function openDeadLetters({ path, maxBytes, clock, log }: DeadLettersOptions): DeadLetters {
  const { database, totals } = openChecked(path)
  const held = () => [...totals.values()].reduce((bytes, total) => bytes + total.bytes, 0)
  log.debug({ path, bytes: held() }, 'dead letters opened')

  const insert = database.query<{ bytes: number }, [Uint8Array, string, string, string, string, number, number]>(
    `INSERT INTO dead_letter(digest, destination, account, reason, record, buried_at_us, bytes) VALUES(?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT(digest) DO NOTHING RETURNING bytes`,
  )
  const page = database.query<Row, [string, number, number]>(
    'SELECT * FROM dead_letter WHERE account = ? AND id < ? ORDER BY id DESC LIMIT ?',
  )
  const one = database.query<Row, [string, number]>('SELECT * FROM dead_letter WHERE account = ? AND id = ?')
  const drop = database.query<Row, [string, number]>('DELETE FROM dead_letter WHERE account = ? AND id = ? RETURNING *')
  const countOf = database.query<{ letters: number }, [string]>(
    'SELECT count(*) AS letters FROM dead_letter WHERE account = ?',
  )
  const dropAll = database.query<never, [string]>('DELETE FROM dead_letter WHERE account = ?')

  const count = (destination: string, letters: number, bytes: number) => {
    const total = totals.get(destination) ?? { letters: 0, bytes: 0 }
    totals.set(destination, { letters: total.letters + letters, bytes: total.bytes + bytes })
  }
  const tidy = () => {
    try {
      database.run(`PRAGMA incremental_vacuum(${FREED_PAGES})`)
      database.run('PRAGMA wal_checkpoint(TRUNCATE)')
    } catch (err) {
      // What was committed is durable in the WAL all the same; the next change tries again.
      log.warn({ err, path }, 'the write-ahead log of the dead letters could not be folded in')
    }
  }
  tidy()

  const buryAll = database.transaction((letters: readonly BuriedLetter[]) => {
    const added: { destination: string; bytes: number }[] = []
    let bytes = held()
    for (const { destination, account, reason, record } of letters) {
      const size = OVERHEAD_BYTES + Buffer.byteLength(reason) + Buffer.byteLength(record)
      const digest = createHash('sha256').update(destination).update('\0').update(record).digest()
      if (insert.get(digest, destination, account, reason, record, clock.wallUs(), size) === null) continue
      bytes += size
      if (bytes > maxBytes) throw new DeadLettersFull(`the dead letters hold their ${maxBytes} bytes`)
      added.push({ destination, bytes: size })
    }
    return added
  })

  return {
    bury(letters) {
      for (const { destination, bytes } of buryAll.immediate(letters)) count(destination, 1, bytes)
      tidy()
    },
    list: (account, { limit, before }) =>
      page.all(account, before === undefined ? Number.MAX_SAFE_INTEGER : rowId(before), limit).map(toLetter),
    get(account, id) {
      const row = one.get(account, rowId(id))
      return row === null ? undefined : toLetter(row)
    },
    count: (account) => countOf.get(account)!.letters,
    remove(account, id) {
      const row = drop.get(account, rowId(id))
      if (row === null) return false
      count(row.destination, -1, -row.bytes)
      tidy()
      return true
    },
    removeAccount(account) {
      dropAll.run(account)
      totals.clear()
      for (const [destination, total] of readTotals(database)) totals.set(destination, total)
      tidy()
    },
    stats() {
      const byDestination: Record<string, number> = {}
      let total = 0
      for (const [destination, { letters }] of totals) {
        byDestination[destination] = letters
        total += letters
      }
      return { total, bytes: held(), byDestination }
    },
    close: () => database.close(),
  }
}

function openChecked(path: string): { database: Database; totals: Map<string, Total> } {
  let database: Database | undefined
  try {
    closeToOthers(path)
    database = new Database(path, { readwrite: true, strict: true })
    prepare(database)
    return { database, totals: readTotals(database) }
  } catch (cause) {
    database?.close()
    const { message, code = '' } = cause as Error & { code?: string }
    throw new Error(`the dead letters in ${path} cannot be opened: ${message}${adviceOn(code, path)}`, { cause })
  }
}

function adviceOn(code: string, path: string): string {
  const file = basename(path)
  if (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB') {
    return (
      `. The file is damaged: to restore it, put a back-up of ${file} in its place and delete ${file}-wal; ` +
      `to begin again without these dead letters, move ${file} and ${file}-wal away`
    )
  }
  return /FULL|IOERR|ENOSPC/.test(code) ? '. Is its disk full? Make room there and start again' : ''
}

function closeToOthers(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, 'wx', 0o600))
  // Also those of an earlier Stint, which did not look after it. SQLite gives a new WAL the mode of its file.
  for (const file of [path, `${path}-wal`]) if (existsSync(file)) chmodSync(file, 0o600)
}

function prepare(database: Database): void {
  // The file has one process. The index of the WAL is then kept in memory: on disk it is 32 KiB that a full one does not have.
  database.run('PRAGMA locking_mode = EXCLUSIVE')
  const { auto_vacuum } = database.query<{ auto_vacuum: number }, []>('PRAGMA auto_vacuum').get()!
  // Setting it writes, even when it is set already.
  if (auto_vacuum !== INCREMENTAL) database.run(`PRAGMA auto_vacuum = ${INCREMENTAL}`)
  database.run('PRAGMA journal_mode = WAL')
  database.run('PRAGMA synchronous = FULL')
  database.run(SCHEMA)
}

function readTotals(database: Database): Map<string, Total> {
  const rows = database
    .query<{ destination: string; letters: number; bytes: number }, []>(
      'SELECT destination, count(*) AS letters, sum(bytes) AS bytes FROM dead_letter GROUP BY destination',
    )
    .all()
  return new Map(rows.map(({ destination, letters, bytes }) => [destination, { letters, bytes }]))
}

/** An id that is none of ours is no row. */
const rowId = (id: string): number => (/^[1-9]\d{0,14}$/.test(id) ? Number(id) : -1)

const toLetter = ({ id, destination, account, reason, record, buried_at_us }: Row): DeadLetter => ({
  id: String(id),
  destination,
  account,
  reason,
  record,
  buriedAtUs: buried_at_us,
})
