// Pings of the last 30 days that were refused for a parameter, by process and parameter: a crontab that discards what
// curl prints hides them. In the file of the dead letters, on this node. Invariants:
// * Rows per account are limited, and all new ones are written in one transaction.
// * A note that the disk does not take is lost: the caller has the answer.
import type { Clock } from '../clock.ts'
import type { Logger } from '../log.ts'
import type { NeededFile } from './open-when-needed.ts'

const KEPT_US = 30 * 86_400_000_000
const ROWS_MAX = 100
/** Notes that wait to be written. */
const PENDING_MAX = 1000
const WRITE_EVERY_MS = 1000

export const REFUSED_PING_TABLE = `
  CREATE TABLE refused_ping (
    account TEXT NOT NULL,
    process TEXT NOT NULL,
    -- Of the parameter.
    name    TEXT NOT NULL,
    at_us   INTEGER NOT NULL,
    PRIMARY KEY (account, process, name)
  ) STRICT, WITHOUT ROWID;
`

/** A process, and the name of the parameter for which its ping was refused, newest first. */
export interface RefusedPing {
  readonly process: string
  readonly name: string
  readonly atUs: number
}

export type RefusedPings = ReturnType<typeof createRefusedPings>

const PUT = 'INSERT INTO refused_ping VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET at_us = ?4'
const FORGET = `DELETE FROM refused_ping WHERE account = ?1 AND (at_us < ?2 OR (process, name) NOT IN
  (SELECT process, name FROM refused_ping WHERE account = ?1 ORDER BY at_us DESC LIMIT ?3))`
const SELECT =
  'SELECT process, name, at_us AS atUs FROM refused_ping WHERE account = ? AND at_us >= ? ORDER BY at_us DESC, name'

export function createRefusedPings(file: NeededFile, clock: Clock, log: Logger) {
  const pending = new Map<string, [account: string, process: string, name: string, atUs: number]>()
  let timer: ReturnType<typeof setTimeout> | undefined

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (pending.size === 0) return
    const notes = [...pending.values()]
    pending.clear()
    try {
      file.write((db) => {
        for (const note of notes) db.query(PUT).run(...note)
        for (const account of new Set(notes.map(([account]) => account)))
          db.query(FORGET).run(account, clock.wallUs() - KEPT_US, ROWS_MAX)
      })
    } catch (err) {
      log.warn({ err, notes: notes.length }, 'refused pings could not be noted')
    }
  }

  return {
    note(account: string, process: string, names: readonly string[]): void {
      for (const name of names)
        if (pending.size < PENDING_MAX)
          pending.set(JSON.stringify([account, process, name]), [account, process, name, clock.wallUs()])
      timer ??= setTimeout(flush, WRITE_EVERY_MS)
      timer.unref()
    },
    list(account: string): readonly RefusedPing[] {
      flush()
      const select = file.reading()?.query<RefusedPing, [string, number]>(SELECT)
      return select?.all(account, clock.wallUs() - KEPT_US) ?? []
    },
    /** Those that are not written yet. */
    forget(account: string): void {
      for (const [key, [of]] of pending) if (of === account) pending.delete(key)
    },
    flush,
  }
}
