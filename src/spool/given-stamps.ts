// Which µs of lane 1 are taken, so that events which bring their own time get unique stamps and a retry gets the stamp it had.
//   1. one content (a hash of the whole event) at one time has one stamp, for as long as such a time may be sent;
//   2. a stamp has one content;
//   3. what `claim` answered survives kill -9 and power loss: claims that arrive together share one durable transaction.
import { Database } from 'bun:sqlite'
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

const PURGE_EVERY_US = 60_000_000
const PURGE_ROWS = 20_000

export function openGivenStamps(options: { path: string; keepUs: number; clock: Clock; log: Logger }): GivenStamps {
  const { path, keepUs, clock, log } = options
  const db = new Database(path, { create: true, safeIntegers: true })
  db.run('PRAGMA journal_mode = WAL')
  db.run('PRAGMA synchronous = FULL')
  db.run(
    'CREATE TABLE IF NOT EXISTS given (us INTEGER PRIMARY KEY, at_us INTEGER NOT NULL, hash INTEGER NOT NULL) STRICT',
  )
  db.run('CREATE UNIQUE INDEX IF NOT EXISTS given_content ON given (at_us, hash)')
  const findContent = db.query<{ us: bigint }, [number, bigint]>('SELECT us FROM given WHERE at_us = ? AND hash = ?')
  const findTaken = db.query<{ us: bigint }, [number]>('SELECT us FROM given WHERE us = ?')
  const insert = db.query('INSERT INTO given (us, at_us, hash) VALUES (?, ?, ?)')
  const purge = db.query(`DELETE FROM given WHERE us IN (SELECT us FROM given WHERE us < ? LIMIT ${PURGE_ROWS})`)

  // Where the run of taken µs after a time ends, so that many events of one time do not walk it each. Only ever a hint.
  const ends = new Map<number, number>()
  let waiting: { claims: Claim[]; done: PromiseWithResolvers<void> } | undefined
  let purgedUs = clock.monotonicUs()

  const place = (claim: Claim) => {
    const known = findContent.get(claim.atUs, claim.hash)
    if (known !== null) {
      claim.us = Number(known.us)
      return
    }
    let us = ends.get(claim.atUs) ?? claim.atUs
    while (findTaken.get(us) !== null) us++
    insert.run(us, claim.atUs, claim.hash)
    if (ends.size >= 10_000) ends.clear()
    ends.set(claim.atUs, us + 1)
    claim.us = us
  }
  const placeAll = db.transaction((claims: Claim[]) => {
    for (const claim of claims) place(claim)
  })

  const commit = () => {
    const { claims, done } = waiting!
    waiting = undefined
    try {
      placeAll.immediate(claims)
      done.resolve()
    } catch (cause) {
      ends.clear() // what it says was rolled back
      done.reject(cause)
    }
    if (clock.monotonicUs() - purgedUs > PURGE_EVERY_US) purgeOld()
  }

  const purgeOld = () => {
    purgedUs = clock.monotonicUs()
    try {
      purge.run(clock.wallUs() - keepUs)
    } catch (err) {
      log.warn({ err }, 'old given stamps could not be removed; trying again in a minute')
    }
  }

  return {
    async claim(atUs, content) {
      const claim: Claim = { atUs, hash: BigInt.asIntN(64, Bun.hash.xxHash64(content)), us: 0 }
      if (waiting === undefined) {
        waiting = { claims: [], done: Promise.withResolvers() }
        setImmediate(commit)
      }
      waiting.claims.push(claim)
      await waiting.done.promise
      return claim.us
    },
    close: () => db.close(),
  }
}
