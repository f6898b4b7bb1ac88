// How many series an account may create in InfluxDB, each costing memory as long as the bucket keeps it. Invariants:
// * A request is admitted whole or not at all; known series always pass, even beyond a lowered limit.
// * A series is 53 bits of a salted SHA-256, a number. The salt stays in the file, so nobody can make names collide.
// * A series counts in memory at once and is written within a second or so, all new ones in one transaction; no request
//   waits for it. A kill forgets what was not written: those series count again when they are used again.
import type { Logger } from '../log.ts'
import type { SqliteFile } from '../state/open-sqlite.ts'

const FLUSH_AFTER_MS = 1_000
const ROWS_PER_FLUSH = 500
const REQUESTS_REMEMBERED = 10_000

interface SeriesBudgetOptions {
  /** Has the tables `account`, `series` and `series_salt`. */
  readonly database: SqliteFile
  /** 0 = no limit, and nothing is counted. */
  readonly max: number
  readonly log: Logger
  /** Default: FLUSH_AFTER_MS. */
  readonly flushAfterMs?: number
}

export type SeriesBudget = ReturnType<typeof createSeriesBudget>

export function createSeriesBudget({ database, max, log, flushAfterMs = FLUSH_AFTER_MS }: SeriesBudgetOptions) {
  const { db, write, commit } = database
  const salt = db.query<{ salt: string }, []>('SELECT salt FROM series_salt').get()!.salt
  const known = new Map<string, Set<number>>()
  /** Requests whose series are all known: callers repeat the same names, and one hash is cheaper than fifty. */
  const knownRequests = new Set<number>()
  const rows = db.query<{ account: string; series: number }, []>('SELECT account, series FROM series')
  if (max > 0) for (const { account, series } of rows.iterate()) seriesOf(account).add(series)
  const insert = db.query<null, [number, string]>(
    'INSERT OR IGNORE INTO series (account, series) SELECT id, ?1 FROM account WHERE id = ?2',
  )
  /** Not in the file yet, the oldest first. */
  let pending: (readonly [account: string, series: number])[] = []
  let timer: NodeJS.Timeout | undefined

  function seriesOf(account: string): Set<number> {
    const series = known.get(account) ?? new Set()
    known.set(account, series)
    return series
  }

  /** All or none. */
  function add(account: string, asked: readonly number[]): boolean {
    const series = seriesOf(account)
    const added = new Set(asked.filter((one) => !series.has(one)))
    if (added.size === 0) return true
    if (series.size + added.size > max) return false
    for (const one of added) {
      series.add(one)
      pending.push([account, one])
    }
    timer ??= setTimeout(flush, flushAfterMs)
    return true
  }

  const insertAll = (rows: typeof pending) => () => {
    for (const [account, series] of rows) insert.run(series, account)
  }

  async function flush(): Promise<void> {
    try {
      while (pending.length > 0) {
        const rows = pending.slice(0, ROWS_PER_FLUSH)
        await commit(insertAll(rows))
        pending = pending.slice(rows.length)
      }
    } catch (err) {
      log.warn({ err, pending: pending.length }, 'accounts: the series in use could not be written, trying again')
    }
    timer = pending.length > 0 ? setTimeout(flush, flushAfterMs) : undefined // zero if `close` wrote it
  }

  return {
    /**
     * False: beyond the budget, and nothing was counted. `names` undefined = marks, which count as one series of their
     * process and meta.
     */
    admit(account: string, process: string, meta: string, names: readonly string[] | undefined): boolean {
      if (max === 0) return true
      const start = `${salt}${process}\0${meta}`
      if (names === undefined) return add(account, [hash53(start)])
      const request = hash53(`${account}\0${start}\0${names.join('\0')}`)
      if (knownRequests.has(request)) return true
      const isAdmitted = add(
        account,
        names.map((name) => hash53(`${start}\0${name}`)),
      )
      if (knownRequests.size >= REQUESTS_REMEMBERED) knownRequests.clear()
      if (isAdmitted) knownRequests.add(request)
      return isAdmitted
    },
    use: (account: string) => ({ used: known.get(account)?.size ?? 0, max }),
    dropAccount(account: string): void {
      known.delete(account)
      knownRequests.clear()
    },
    /** Writes what is pending. */
    close(): void {
      clearTimeout(timer)
      if (pending.length > 0) write(insertAll(pending))
      pending = []
    },
  }
}

const digest = new Uint32Array(8)

/** The first 53 bits of the SHA-256. */
function hash53(text: string): number {
  Bun.SHA256.hash(text, digest)
  return digest[0]! + (digest[1]! & 0x1fffff) * 2 ** 32
}
