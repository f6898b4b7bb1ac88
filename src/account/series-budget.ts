// How many series an account may make in InfluxDB, where each costs memory for as long as the bucket keeps it. Invariants:
// * One request is admitted whole or not at all; what is known always passes, also beyond a lowered limit.
// * Kept as 53 bits of a salted SHA-256: a number in memory and on disk. The salt never leaves the file, so nobody can make two names collide.
// * No request waits for its own series to be written: new ones are written together a moment later. That one transaction runs in the event
//   loop (SQLite is synchronous), so all that comes in that moment waits for it: at most ten times a second, and only while series are new.
// * One lost to a kill is admitted again when it comes again.
import type { Logger } from '../log.ts'
import type { AccountDatabase } from './database.ts'

const FLUSH_AFTER_MS = 100
const ROWS_PER_FLUSH = 500
const REQUESTS_REMEMBERED = 10_000

export interface SeriesBudget {
  /** `names` undefined = marks, which count as one series of their process and meta. false = the budget is spent and nothing was counted. */
  admit(account: string, process: string, meta: string, names: readonly string[] | undefined): boolean
  /** `max` 0 = no limit, and nothing is counted. */
  use(account: string): { readonly used: number; readonly max: number }
  dropAccount(account: string): void
  flush(): void
  /** Writes what is pending. */
  close(): void
}

interface SeriesBudgetOptions {
  readonly database: AccountDatabase
  readonly max: number
  readonly log: Logger
}

export function createSeriesBudget({ database, max, log }: SeriesBudgetOptions): SeriesBudget {
  if (max === 0) return unlimited
  const { db, write } = database
  const salt = db.query<{ salt: string }, []>('SELECT salt FROM series_salt').get()!.salt
  const known = new Map<string, Set<number>>()
  /** Whole requests whose series are all known: callers send the same names again and again, and one hash is cheaper than fifty. */
  const knownRequests = new Set<number>()
  for (const row of db.query<{ account: string; series: number }, []>('SELECT account, series FROM series').iterate()) {
    seriesOf(row.account).add(row.series)
  }
  const insert = db.query<null, [number, string]>(
    'INSERT OR IGNORE INTO series (account, series) SELECT id, ?1 FROM account WHERE id = ?2',
  )
  let pending: [account: string, series: number][] = []
  let timer: NodeJS.Timeout | undefined

  function seriesOf(account: string): Set<number> {
    const series = known.get(account) ?? new Set()
    known.set(account, series)
    return series
  }

  function add(account: string, series: Set<number>, added: readonly number[]): void {
    for (const one of added) {
      series.add(one)
      pending.push([account, one])
    }
    timer ??= setTimeout(flushInPieces, FLUSH_AFTER_MS)
  }

  function flushSome(count: number): void {
    const rows = pending.slice(0, count)
    if (rows.length === 0) return
    write(() => {
      for (const [account, series] of rows) insert.run(series, account)
    })
    pending = pending.slice(rows.length)
  }

  function flushInPieces(): void {
    timer = undefined
    try {
      flushSome(ROWS_PER_FLUSH)
    } catch (err) {
      log.warn({ err, pending: pending.length }, 'accounts: the series in use could not be written, trying again')
    }
    if (pending.length > 0) timer = setTimeout(flushInPieces, FLUSH_AFTER_MS)
  }

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    flushSome(pending.length)
  }

  return {
    admit(account, process, meta, names) {
      const series = seriesOf(account)
      const start = `${salt}${process}\0${meta}`
      if (names === undefined) {
        const mark = hash53(start)
        if (series.has(mark)) return true
        if (series.size >= max) return false
        add(account, series, [mark])
        return true
      }
      const request = hash53(`${account}\0${start}\0${names.join('\0')}`)
      if (knownRequests.has(request)) return true
      const added = new Set<number>()
      for (const name of names) {
        const metric = hash53(`${start}\0${name}`)
        if (!series.has(metric)) added.add(metric)
      }
      if (series.size + added.size > max && added.size > 0) return false
      if (added.size > 0) add(account, series, [...added])
      if (knownRequests.size >= REQUESTS_REMEMBERED) knownRequests.clear()
      knownRequests.add(request)
      return true
    },
    use: (account) => ({ used: known.get(account)?.size ?? 0, max }),
    dropAccount(account) {
      known.delete(account)
      knownRequests.clear()
    },
    flush,
    close: flush,
  }
}

const unlimited: SeriesBudget = {
  admit: () => true,
  use: () => ({ used: 0, max: 0 }),
  dropAccount: () => {},
  flush: () => {},
  close: () => {},
}

const digest = new Uint32Array(8)

/** The first 53 bits of the SHA-256. */
function hash53(text: string): number {
  Bun.SHA256.hash(text, digest)
  return digest[0]! + (digest[1]! & 0x1fffff) * 2 ** 32
}
