// Which µs of lane 1 are taken, so that events which bring their own time get unique stamps and a retry gets the stamp it had.
//   1. one content (a hash of the whole event) at one time has one stamp, for as long as such a time may be sent;
//   2. a stamp has one content;
//   3. what `claim` answered survives kill -9 and power loss: claims that arrive together share one transaction and one fdatasync.
// The taken µs are also kept as runs without gaps, so the next free one is a single look-up however many share a time. The fdatasync
// of the log (WAL) is the thread pool's; only SQLite's own checkpoints, one in some ten thousand claims, sync on the event loop.
import { Database } from 'bun:sqlite'
import { chmodSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { Clock } from '../clock.ts'
import type { Logger } from '../log.ts'

export interface GivenStamps {
  /** The µs of this event's stamp: `atUs` or the next free one after it. The same `atUs` and content: the same answer. */
  claim(atUs: number, content: string): Promise<number>
  close(): void
}

interface Claim {
  readonly atUs: number
  readonly hash: bigint
  us: number
}

interface Group {
  readonly claims: Claim[]
  readonly done: PromiseWithResolvers<void>
}

interface Run {
  first: bigint
  last: bigint
}

const PURGE_EVERY_US = 60_000_000
/** What one turn of the event loop may do: some ten ms. */
const PURGE_ROWS = 5_000
const CLAIMS_A_TURN = 500

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS given (us INTEGER PRIMARY KEY, at_us INTEGER NOT NULL, hash INTEGER NOT NULL) STRICT;
  CREATE UNIQUE INDEX IF NOT EXISTS given_content ON given (at_us, hash);
  CREATE TABLE IF NOT EXISTS run (first INTEGER PRIMARY KEY, last INTEGER NOT NULL) STRICT;
`

/** Throws an Error that names the file when it cannot be used. */
export function openGivenStamps(options: { path: string; keepUs: number; clock: Clock; log: Logger }): GivenStamps {
  const { path, keepUs, clock, log } = options
  const db = openFile(path)
  const findContent = db.query<{ us: bigint }, [number, bigint]>('SELECT us FROM given WHERE at_us = ? AND hash = ?')
  const findRun = db.query<Run, [number]>('SELECT first, last FROM run WHERE first <= ? ORDER BY first DESC LIMIT 1')
  const findNextRun = db.query<Run, [number]>('SELECT first, last FROM run WHERE first = ?')
  const dropRun = db.query('DELETE FROM run WHERE first = ?')
  const putRun = db.query('INSERT OR REPLACE INTO run (first, last) VALUES (?, ?)')
  const insert = db.query('INSERT INTO given (us, at_us, hash) VALUES (?, ?, ?)')
  const purge = db.query(`DELETE FROM given WHERE us IN (SELECT us FROM given WHERE us < ? LIMIT ${PURGE_ROWS})`)
  const purgeRuns = db.query('DELETE FROM run WHERE last < ?')

  let wal: FileHandle | undefined
  let filling: Group | undefined
  let isWorking = false
  let isClosed = false
  let purgedUs = clock.monotonicUs()

  /** The first free µs from `atUs` on, taken. */
  function take(atUs: number): number {
    const before = findRun.get(atUs)
    const last = before === null ? undefined : Number(before.last)
    const us = last !== undefined && last >= atUs ? last + 1 : atUs
    const first = last !== undefined && last + 1 === us ? Number(before!.first) : us
    const next = findNextRun.get(us + 1)
    if (next !== null) dropRun.run(us + 1)
    putRun.run(first, next === null ? us : next.last)
    return us
  }

  const place = db.transaction((claims: readonly Claim[]) => {
    for (const claim of claims) {
      const known = findContent.get(claim.atUs, claim.hash)
      claim.us = known === null ? take(claim.atUs) : Number(known.us)
      if (known === null) insert.run(claim.us, claim.atUs, claim.hash)
    }
  })

  /** The log holds all that was committed; it keeps its file for as long as the database is open. */
  async function syncLog(): Promise<void> {
    wal ??= await open(`${path}-wal`, 'r+')
    await wal.datasync()
  }

  async function settle({ claims, done }: Group): Promise<void> {
    try {
      for (let i = 0; i < claims.length; i += CLAIMS_A_TURN) {
        if (i > 0) await new Promise((resolve) => setImmediate(resolve))
        place.immediate(claims.slice(i, i + CLAIMS_A_TURN))
      }
      await syncLog()
      done.resolve()
    } catch (cause) {
      done.reject(cause)
    }
  }

  async function work(): Promise<void> {
    while (filling !== undefined) {
      const group = filling
      filling = undefined
      await settle(group)
    }
    isWorking = false
    if (isClosed) await wal?.close()
    else if (clock.monotonicUs() - purgedUs > PURGE_EVERY_US) purgeOld()
  }

  function purgeOld(): void {
    if (isClosed) return
    purgedUs = clock.monotonicUs()
    const cutUs = clock.wallUs() - keepUs
    try {
      if (purge.run(cutUs).changes >= PURGE_ROWS) setImmediate(purgeOld)
      else purgeRuns.run(cutUs)
    } catch (err) {
      log.warn({ err }, 'old given stamps could not be removed; trying again in a minute')
    }
  }

  return {
    async claim(atUs, content) {
      const claim: Claim = { atUs, hash: BigInt.asIntN(64, Bun.hash.xxHash64(content)), us: 0 }
      filling ??= { claims: [], done: Promise.withResolvers() }
      filling.claims.push(claim)
      const { done } = filling
      if (!isWorking) {
        isWorking = true
        setImmediate(() => void work())
      }
      await done.promise
      return claim.us
    },
    close() {
      isClosed = true
      if (!isWorking) void wal?.close()
      db.close()
    },
  }
}

function openFile(path: string): Database {
  try {
    const db = new Database(path, { create: true, safeIntegers: true })
    chmodSync(path, 0o600) // its log gets the same mode
    db.run('PRAGMA locking_mode = EXCLUSIVE') // no shared-memory file, which a full disk could not hold
    db.run('PRAGMA journal_mode = WAL')
    db.run('PRAGMA synchronous = NORMAL') // the commit's sync is ours
    db.run(SCHEMA)
    return db
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(
      `${path} cannot be used: ${reason}. It holds which of the times that callers sent are taken; moved away, Stint starts without, and an event that is sent again with its own time may be stored twice`,
      { cause },
    )
  }
}
