// How many series an account may create in InfluxDB, each costing memory as long as the bucket keeps it. Invariants:
// * A request is admitted whole or not at all; known series always pass, even beyond a lowered limit.
// * A series is 53 bits of a salted SHA-256, a number. The salt stays in the file, so nobody can make names collide.
// * What was acknowledged is known after a kill: a request with a new series waits for `noted`. The new series of a
//   moment are written in one transaction, and nothing is written without new ones.
// * An unwritable file delays a request by one try at most: the series counts in memory and is written later.
import type { Logger } from '../log.ts'
import type { SqliteFile } from '../state/open-sqlite.ts'

const FLUSH_AFTER_MS = 5
const RETRY_AFTER_MS = 100
const ROWS_PER_FLUSH = 500
const REQUESTS_REMEMBERED = 10_000

/** `begun`: one of its series is not in the file yet. `spent`: beyond the budget, and nothing was counted. */
export type SeriesAdmission = 'known' | 'begun' | 'spent'

export interface SeriesBudget {
  /** `names` undefined = marks, which count as one series of their process and meta. */
  admit(account: string, process: string, meta: string, names: readonly string[] | undefined): SeriesAdmission
  /** Resolves when what has begun by now is in the file, or could not be written now. It never rejects. */
  noted(): Promise<void>
  /** `max` 0 = no limit, and nothing is counted. */
  use(account: string): { readonly used: number; readonly max: number }
  dropAccount(account: string): void
  flush(): void
  /** Writes pending series. */
  close(): void
}

interface SeriesBudgetOptions {
  /** Has the tables `account`, `series` and `series_salt`. */
  readonly database: SqliteFile
  readonly max: number
  readonly log: Logger
}

export function createSeriesBudget({ database, max, log }: SeriesBudgetOptions): SeriesBudget {
  if (max === 0) return unlimited
  const { db, write, commit } = database
  const salt = db.query<{ salt: string }, []>('SELECT salt FROM series_salt').get()!.salt
  const known = new Map<string, Set<number>>()
  /** Requests whose series are all known: callers repeat the same names, and one hash is cheaper than fifty. */
  const knownRequests = new Set<number>()
  for (const row of db.query<{ account: string; series: number }, []>('SELECT account, series FROM series').iterate()) {
    seriesOf(row.account).add(row.series)
  }
  const insert = db.query<null, [number, string]>(
    'INSERT OR IGNORE INTO series (account, series) SELECT id, ?1 FROM account WHERE id = ?2',
  )
  /** Not in the file yet, the oldest first. */
  const pending = new Map<string, readonly [account: string, series: number]>()
  /** Series that became pending since the start, and those of them that are written: in the same order. */
  let [begun, written] = [0, 0]
  /** Those who wait, until so many are written. */
  let waiting: { readonly until: number; resolve(): void }[] = []
  let timer: NodeJS.Timeout | undefined

  function seriesOf(account: string): Set<number> {
    const series = known.get(account) ?? new Set()
    known.set(account, series)
    return series
  }

  const keyOf = (account: string, series: number) => `${account} ${series}`
  const isPending = (account: string, series: number) => pending.size > 0 && pending.has(keyOf(account, series))

  function add(account: string, series: Set<number>, added: readonly number[]): void {
    for (const one of added) {
      series.add(one)
      pending.set(keyOf(account, one), [account, one])
    }
    begun = written + pending.size
    timer ??= setTimeout(flushInPieces, FLUSH_AFTER_MS)
  }

  const insertAll = (rows: readonly (readonly [account: string, series: number])[]) => () => {
    for (const [account, series] of rows) insert.run(series, account)
  }

  function endWait(upTo: number): void {
    const over = waiting.filter((it) => it.until <= upTo)
    waiting = waiting.filter((it) => it.until > upTo)
    for (const { resolve } of over) resolve()
  }

  async function flushInPieces(): Promise<void> {
    const rows = pending.values().take(ROWS_PER_FLUSH).toArray()
    try {
      await commit(insertAll(rows))
      for (const row of rows) if (pending.delete(keyOf(...row))) written++
      endWait(written)
      timer = pending.size > 0 ? setTimeout(flushInPieces, FLUSH_AFTER_MS) : undefined
    } catch (err) {
      log.warn({ err, pending: pending.size }, 'accounts: the series in use could not be written, trying again')
      timer = pending.size > 0 ? setTimeout(flushInPieces, RETRY_AFTER_MS) : undefined // zero if `close` wrote it
      endWait(begun)
    }
  }

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    const rows = [...pending.values()]
    if (rows.length > 0) write(insertAll(rows))
    pending.clear()
    written = begun
    endWait(begun)
  }

  return {
    admit(account, process, meta, names) {
      const series = seriesOf(account)
      const start = `${salt}${process}\0${meta}`
      if (names === undefined) {
        const mark = hash53(start)
        if (series.has(mark)) return isPending(account, mark) ? 'begun' : 'known'
        if (series.size >= max) return 'spent'
        add(account, series, [mark])
        return 'begun'
      }
      const request = hash53(`${account}\0${start}\0${names.join('\0')}`)
      if (knownRequests.has(request)) return 'known'
      const added = new Set<number>()
      let hasPending = false
      for (const name of names) {
        const metric = hash53(`${start}\0${name}`)
        if (!series.has(metric)) added.add(metric)
        else hasPending ||= isPending(account, metric)
      }
      if (series.size + added.size > max && added.size > 0) return 'spent'
      if (added.size > 0) add(account, series, [...added])
      if (added.size > 0 || hasPending) return 'begun'
      if (knownRequests.size >= REQUESTS_REMEMBERED) knownRequests.clear()
      knownRequests.add(request)
      return 'known'
    },
    noted: () =>
      pending.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push({ until: begun, resolve })),
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
  admit: () => 'known',
  noted: () => Promise.resolve(),
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
