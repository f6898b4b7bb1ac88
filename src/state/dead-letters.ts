// Events that their store will never take, with the reason, until someone looks at them. One SQLite file for all
// destinations, made with the first letter; small and rarely written. Burying is idempotent by (destination, record),
// because a kill between burying and the spool's position repeats it. The letters' own bytes are limited; totals are
// kept in memory.
import type { Database } from 'bun:sqlite'
import { createHash } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { Logger } from '../log.ts'
import { Problem } from '../problem.ts'
import { openWhenNeeded } from './open-when-needed.ts'
import { createRefusedPings, REFUSED_PING_TABLE } from './refused-pings.ts'
import type { Schema } from './schema.ts'

/** Of the cap, for one account's letters of one destination: beyond it its events are refused. */
const SHARE = 0.25
/** Of the cap: from here on the operator is warned. */
const ALMOST_FULL = 0.9

/** Size of a letter beside its texts: row, digest and index entries. */
const OVERHEAD_BYTES = 200
/** 'StnD'. */
const APPLICATION_ID = 0x53746e44

const SCHEMA: Schema = {
  oldest: 1,
  tables: `
  CREATE TABLE dead_letter(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    digest BLOB NOT NULL UNIQUE,
    destination TEXT NOT NULL,
    account TEXT NOT NULL,
    reason TEXT NOT NULL,
    record TEXT NOT NULL,
    buried_at_us INTEGER NOT NULL,
    bytes INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX dead_letter_account ON dead_letter(account, id);
  CREATE INDEX dead_letter_total ON dead_letter(destination, bytes);`,
  steps: [
    REFUSED_PING_TABLE,
    `DROP INDEX dead_letter_total; CREATE INDEX dead_letter_share ON dead_letter(destination, account, bytes);`,
  ],
}

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

interface DeadLettersOptions {
  readonly path: string
  readonly maxBytes: number
  /** NODE_ID, 0 when absent. Ids begin with it unless it is 0, so those of one node mean nothing at another. */
  readonly node?: number
  readonly clock: Clock
  readonly log: Logger
}

type Row = Omit<DeadLetter, 'id'> & { readonly id: number }
const COLUMNS = 'id, destination, account, reason, record, buried_at_us AS buriedAtUs'

type BuriedSize = Pick<DeadLetter, 'destination' | 'account'> & { readonly bytes: number }

interface Total {
  readonly destination: string
  readonly letters: number
  readonly bytes: number
}

const keyOf = (destination: string, account: string) => `${destination} ${account}`

export type DeadLetters = ReturnType<typeof openDeadLetters>

const INSERT = `INSERT INTO dead_letter(digest, destination, account, reason, record, buried_at_us, bytes)
  VALUES(?, ?, ?, ?, ?, ?, ?) ON CONFLICT(digest) DO NOTHING RETURNING bytes`
const PAGE = `SELECT ${COLUMNS} FROM dead_letter WHERE account = ? AND id < ? ORDER BY id DESC LIMIT ?`
const PAGE_OF_ALL = `SELECT ${COLUMNS} FROM dead_letter WHERE id < ? ORDER BY id DESC LIMIT ?`
const IS_THEIRS = 'id = ?1 AND (?2 IS NULL OR account = ?2)'
const ONE = `SELECT ${COLUMNS} FROM dead_letter WHERE ${IS_THEIRS}`
const DROP = `DELETE FROM dead_letter WHERE ${IS_THEIRS} RETURNING destination, account, bytes`

/** Throws an Error that names the file when it is there and cannot be read or is damaged. */
export function openDeadLetters({ path, maxBytes, node = 0, clock, log }: DeadLettersOptions) {
  const file = openWhenNeeded({
    path,
    what: 'dead letters',
    applicationId: APPLICATION_ID,
    schema: SCHEMA,
    withoutIt: 'these dead letters',
    probe: readTotals,
    shrinks: true,
    log,
  })
  const refusedPings = createRefusedPings(file, clock, log)
  const { rowId, toLetter } = createIds(node)
  const totals = readTotals(file.reading())
  const held = () => [...totals.values()].reduce((bytes, total) => bytes + total.bytes, 0)
  log.debug({ path, bytes: held() }, 'dead letters opened')

  const count = ({ destination, account, bytes }: BuriedSize, letters: 1 | -1) => {
    const key = keyOf(destination, account)
    const total = totals.get(key)
    const next = { letters: (total?.letters ?? 0) + letters, bytes: (total?.bytes ?? 0) + letters * bytes }
    totals.set(key, { destination, ...next })
  }
  const isAlmostFull = () => held() >= ALMOST_FULL * maxBytes
  let wasAlmostFull = isAlmostFull()
  const noteFull = () => {
    const isNow = isAlmostFull()
    if (isNow && !wasAlmostFull)
      log.warn({ bytes: held(), maxBytes }, 'the dead letters are almost full: at DEAD_MAX_BYTES delivery stops')
    wasAlmostFull = isNow
  }
  const buryAll = (db: Database, letters: readonly BuriedLetter[]) => {
    const insert = db.query<{ bytes: number }, [Uint8Array, string, string, string, string, number, number]>(INSERT)
    const added: BuriedSize[] = []
    let bytes = held()
    for (const { destination, account, reason, record } of letters) {
      const size = OVERHEAD_BYTES + Buffer.byteLength(reason) + Buffer.byteLength(record)
      const digest = createHash('sha256').update(destination).update('\0').update(record).digest()
      if (insert.get(digest, destination, account, reason, record, clock.wallUs(), size) === null) continue
      bytes += size
      if (bytes > maxBytes) throw new DeadLettersFull(`the dead letters hold their ${maxBytes} bytes`)
      added.push({ destination, account, bytes: size })
    }
    return added
  }

  function find(account: string | undefined, id: string): DeadLetter | undefined {
    const row = file
      .reading()
      ?.query<Row, [number, string | null]>(ONE)
      .get(rowId(id), account ?? null)
    return row ? toLetter(row) : undefined
  }

  return {
    /**
     * All or none of them, durable when it returns; one that lies there already stays as it is. Throws DeadLettersFull,
     * and what SQLite throws on a full or failing disk.
     */
    bury(letters: readonly BuriedLetter[]): void {
      for (const added of file.write((db) => buryAll(db, letters))) count(added, 1)
      noteFull()
    },
    /**
     * An account's letters, or those of all (`undefined`: for the operator), newest first, at most `limit`; `before` is
     * the id of the last one of the page before.
     */
    list(account: string | undefined, { limit, before }: { limit: number; before?: string }): DeadLetter[] {
      const beforeId = before === undefined ? Number.MAX_SAFE_INTEGER : rowId(before)
      if (before !== undefined && beforeId < 0 && ANY_ID.test(before))
        throw new Problem('fields_invalid', 'This page belongs to another node.', {
          errors: [{ pointer: '/cursor', detail: 'belongs to another node' }],
        })
      const db = file.reading()
      const rows =
        account === undefined
          ? db?.query<Row, [number, number]>(PAGE_OF_ALL).all(beforeId, limit)
          : db?.query<Row, [string, number, number]>(PAGE).all(account, beforeId, limit)
      return (rows ?? []).map(toLetter)
    },
    get: find,
    /** The number of an account's letters. */
    count(account: string): number {
      const sql = 'SELECT count(*) AS letters FROM dead_letter WHERE account = ?'
      return file.reading()?.query<{ letters: number }, [string]>(sql).get(account)?.letters ?? 0
    },
    /** False when the account has no such letter. Throws Problem `disk_failed`. */
    remove(account: string | undefined, id: string): boolean {
      if (find(account, id) === undefined) return false
      let row: BuriedSize | null
      try {
        row = file.write((db) => db.query<BuriedSize, [number, string | null]>(DROP).get(rowId(id), account ?? null))
      } catch (cause) {
        throw new Problem('disk_failed', 'The file of the dead letters cannot be written; the letter is still there.', {
          cause,
        })
      }
      if (row === null) return false
      count(row, -1)
      noteFull()
      return true
    },
    removeAccount(account: string): void {
      refusedPings.forget(account)
      const holds = `SELECT account FROM dead_letter WHERE account = ?1 UNION ALL
        SELECT account FROM refused_ping WHERE account = ?1`
      if (!file.reading()?.query(holds).get(account)) return
      file.write((db) => {
        for (const table of ['dead_letter', 'refused_ping'])
          db.query(`DELETE FROM ${table} WHERE account = ?`).run(account)
      })
      totals.clear()
      for (const [key, total] of readTotals(file.reading())) totals.set(key, total)
      noteFull()
    },
    stats(): { total: number; bytes: number; byDestination: Record<string, number> } {
      const byDestination: Record<string, number> = {}
      let total = 0
      for (const { destination, letters } of totals.values()) {
        byDestination[destination] = (byDestination[destination] ?? 0) + letters
        total += letters
      }
      return { total, bytes: held(), byDestination }
    },
    /** Has this account used up its share of the letters of this destination? */
    isOver: (destination: string, account: string): boolean =>
      (totals.get(keyOf(destination, account))?.bytes ?? 0) >= SHARE * maxBytes,
    isAlmostFull,
    refusedPings,
    close(): void {
      refusedPings.flush()
      file.close()
    },
  }
}

function readTotals(database: Database | undefined): Map<string, Total> {
  if (database === undefined) return new Map()
  const rows = database
    .query<Total & { account: string }, []>(
      'SELECT destination, account, count(*) AS letters, sum(bytes) AS bytes FROM dead_letter GROUP BY 1, 2',
    )
    .all()
  return new Map(rows.map(({ account, ...total }) => [keyOf(total.destination, account), total]))
}

/** An id of any node. */
const ANY_ID = /^(\d{1,3}-)?[1-9]\d{0,14}$/

function createIds(node: number) {
  const prefix = node === 0 ? '' : `${node}-`
  return {
    /** Negative for an id in another form, and one of another node: it matches no row. */
    rowId(id: string): number {
      const own = id.startsWith(prefix) ? id.slice(prefix.length) : ''
      return /^[1-9]\d{0,14}$/.test(own) ? Number(own) : -1
    },
    toLetter: (row: Row): DeadLetter => ({ ...row, id: `${prefix}${row.id}` }),
  }
}
