// Events of each account that this node's spools wrote in the last 24 hours, and the e-mails that it sent. Quotas, the
// refusals on a nearly full disk and pages all read them here. Invariants:
// * Events count with the commit that made them durable. Those of an hour leave together once all are 24 hours old.
// * Hours pass by the monotonic clock, so setting the clock frees nothing; hours of the file that are ahead count as
//   now.
// * Counts are written every minute, an account a row: a kill loses at most what came since, and counts nothing twice.
import type { Clock } from '../clock.ts'
import type { Logger } from '../log.ts'
import type { SqliteFile } from '../state/open-sqlite.ts'

/** `bytes`, little-endian: a float64 per hour, first that of `hour` (since the epoch); then a uint32 each of COUNTS. */
export const ACCOUNT_USE = `
  CREATE TABLE account_use (
    account TEXT PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE,
    hour    INTEGER NOT NULL,
    bytes   BLOB NOT NULL
  ) STRICT, WITHOUT ROWID;
`

export const HOUR_US = 3_600_000_000
/** The hour that runs, and those that have a part in the last 24. */
const HOURS = 25
const FLUSH_EVERY_MS = 60_000
const ROWS_PER_COMMIT = 500

/** Records per account that a commit of a spool made durable. */
export type Accepted = ReadonlyMap<string, { readonly bytes: number; readonly records: number }>

/** `exceptions`: with the outputs that came with ends. */
const COUNTS = ['events', 'exceptions', 'emails'] as const
export type Figures = Readonly<Record<'bytes' | (typeof COUNTS)[number], number>>

interface Entry {
  hour: number
  /** Bytes of each hour, at its number modulo HOURS. */
  readonly byHour: Float64Array
  /** The same of each of COUNTS, one behind the other. */
  readonly counts: Uint32Array
  sum: number
}

export type Use = ReturnType<typeof openUse>

interface UseOptions {
  /** Has the tables `account` and `account_use`. */
  readonly file: SqliteFile
  readonly clock: Clock
  readonly log: Logger
  /** Default: FLUSH_EVERY_MS. */
  readonly flushEveryMs?: number
}

export function openUse({ file, clock, log, flushEveryMs = FLUSH_EVERY_MS }: UseOptions) {
  const { db, commit } = file
  const beganUs = clock.wallUs() - clock.monotonicUs()
  const hourNow = () => Math.floor((beganUs + clock.monotonicUs()) / HOUR_US)
  const entries = new Map<string, Entry>()
  const unwritten = new Set<string>()
  let sweptHour = hourNow()
  let isFailing = false
  let flushing: Promise<void> | undefined

  const rows = db.query<{ account: string; hour: number; bytes: Uint8Array }, []>('SELECT * FROM account_use')
  for (const { account, hour, bytes } of rows.iterate()) entries.set(account, fromRow(Math.min(hour, sweptHour), bytes))
  const put = db.query<null, [string, number, Uint8Array]>(
    `INSERT INTO account_use SELECT id, ?2, ?3 FROM account WHERE id = ?1
     ON CONFLICT (account) DO UPDATE SET hour = ?2, bytes = ?3`,
  )
  const remove = db.query<null, [string]>('DELETE FROM account_use WHERE account = ?')

  function entryOf(account: string): Entry {
    const known = entries.get(account)
    if (known !== undefined) return known
    const entry = { hour: hourNow(), ...createHours(), sum: 0 }
    entries.set(account, entry)
    return entry
  }

  /** Drops accounts that sent nothing for so long. */
  function sweep(hour: number): void {
    sweptHour = hour
    for (const [account, entry] of entries) {
      passTo(entry, hour)
      if (entry.sum > 0 || entry.counts.some((count) => count > 0)) continue
      entries.delete(account)
      unwritten.add(account)
    }
  }

  function write(account: string): void {
    const entry = entries.get(account)
    if (entry === undefined) remove.run(account)
    else put.run(account, entry.hour, toBytes(entry))
  }

  async function writeAll(): Promise<void> {
    const hour = hourNow()
    if (hour > sweptHour) sweep(hour)
    const accounts = [...unwritten]
    for (let from = 0; from < accounts.length; from += ROWS_PER_COMMIT) {
      const some = accounts.slice(from, from + ROWS_PER_COMMIT)
      for (const account of some) unwritten.delete(account)
      try {
        await commit(() => some.forEach(write))
        isFailing = false
      } catch (err) {
        for (const account of some) unwritten.add(account)
        if (!isFailing) log.warn({ err }, 'accounts: the bytes that were accepted could not be written, trying again')
        isFailing = true
        return
      }
    }
  }

  function flush(): Promise<void> {
    flushing ??= writeAll().finally(() => {
      flushing = undefined
    })
    return flushing
  }

  const timer = setInterval(flush, flushEveryMs)
  timer.unref()

  function bytesOf(account: string): number {
    const entry = entries.get(account)
    if (entry === undefined) return 0
    passTo(entry, hourNow())
    return entry.sum
  }

  return {
    /** Bytes accepted of the account in the last 24 hours. */
    bytesOf,
    /** Figures of the last 24 hours. */
    figuresOf(account: string): Figures {
      const bytes = bytesOf(account)
      const counts = entries.get(account)?.counts
      const count = (i: number) => counts?.subarray(i * HOURS, (i + 1) * HOURS).reduce((sum, n) => sum + n, 0) ?? 0
      return { bytes, events: count(0), exceptions: count(1), emails: count(2) }
    },
    /** Every account that sent something in the last 24 hours. */
    *all(): Generator<readonly [account: string, bytes: number]> {
      const hour = hourNow()
      for (const [account, entry] of entries) {
        passTo(entry, hour)
        if (entry.sum > 0) yield [account, entry.sum]
      }
    },
    add(byAccount: Accepted, destination: 'points' | 'exceptions'): void {
      const hour = hourNow()
      for (const [account, { bytes, records }] of byAccount) {
        const entry = entryOf(account)
        passTo(entry, hour)
        entry.byHour[hour % HOURS]! += bytes
        entry.sum += bytes
        entry.counts[hour % HOURS]! += records
        if (destination === 'exceptions') entry.counts[HOURS + (hour % HOURS)]! += records
        unwritten.add(account)
      }
    },
    /** One was sent by this account. */
    addEmail(account: string): void {
      const hour = hourNow()
      const entry = entryOf(account)
      passTo(entry, hour)
      entry.counts[2 * HOURS + (hour % HOURS)]!++
      unwritten.add(account)
    },
    /** When fewer than `bytes` will count of what it has sent until now: µs of the wall clock. */
    fallsBelowUs(account: string, bytes: number): number {
      const entry = entries.get(account)
      const now = hourNow()
      if (entry === undefined) return clock.wallUs()
      passTo(entry, now)
      let [left, hour] = [entry.sum, now - HOURS + 1]
      for (; left >= bytes && hour <= now; hour++) left -= entry.byHour[hour % HOURS]!
      const waitUs = (hour + HOURS - 1) * HOUR_US - (beganUs + clock.monotonicUs())
      return clock.wallUs() + Math.max(0, waitUs)
    },
    /** The account is gone; its row went with it. */
    dropAccount(account: string): void {
      entries.delete(account)
      unwritten.delete(account)
    },
    flush,
    async close(): Promise<void> {
      clearInterval(timer)
      await flushing
      await flush()
    },
  }
}

/** The hours until this one begin at nothing. */
function passTo(entry: Entry, hour: number): void {
  if (hour === entry.hour) return
  for (let passed = Math.max(entry.hour, hour - HOURS) + 1; passed <= hour; passed++) {
    entry.sum -= entry.byHour[passed % HOURS]!
    entry.byHour[passed % HOURS] = 0
    for (let i = 0; i < COUNTS.length; i++) entry.counts[i * HOURS + (passed % HOURS)] = 0
  }
  entry.hour = hour
}

const createHours = () => ({
  byHour: new Float64Array(HOURS),
  counts: new Uint32Array(HOURS * COUNTS.length),
})

function toBytes({ hour, byHour, counts }: Entry): Uint8Array {
  const bytes = Buffer.alloc(HOURS * 8 + counts.length * 4)
  for (let age = 0; age < HOURS; age++) {
    const at = (hour - age) % HOURS
    bytes.writeDoubleLE(byHour[at]!, age * 8)
    for (let i = 0; i < COUNTS.length; i++)
      bytes.writeUInt32LE(counts[i * HOURS + at]!, HOURS * 8 + (i * HOURS + age) * 4)
  }
  return bytes
}

function fromRow(hour: number, row: Uint8Array): Entry {
  const bytes = Buffer.from(row.buffer, row.byteOffset, row.byteLength)
  const entry = { hour, ...createHours(), sum: 0 }
  for (let age = 0; age < HOURS; age++) {
    const at = (hour - age) % HOURS
    const one = bytes.readDoubleLE(age * 8)
    entry.byHour[at] = one
    entry.sum += one
    for (let i = 0; i < COUNTS.length; i++)
      entry.counts[i * HOURS + at] = bytes.readUInt32LE(HOURS * 8 + (i * HOURS + age) * 4)
  }
  return entry
}
