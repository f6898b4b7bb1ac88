// The number of watches, in accounts.sqlite: without it a start without watches.sqlite would look like the first one,
// and nobody would hear that the watches are gone. Invariants:
// * `lost` is what the count was at a start without watches.sqlite; it stays until a watch is there or it is dismissed.
// * A count that could not be written is a little old: the next change and the next start write it again.
import type { Logger } from '../log.ts'
import type { SqliteFile } from '../state/open-sqlite.ts'

/** One row. */
export const WATCH_COUNT = `
  CREATE TABLE watch_count (watches INTEGER NOT NULL, lost INTEGER NOT NULL, lost_us INTEGER NOT NULL) STRICT;
  INSERT INTO watch_count VALUES (0, 0, 0);
`

export type WatchCount = ReturnType<typeof createWatchCount>

export function createWatchCount({ db, commit }: SqliteFile, log: Logger) {
  const select = db.query<{ watches: number; lost: number; lost_us: number }, []>('SELECT * FROM watch_count')
  const update = db.query<null, [number, number, number]>('UPDATE watch_count SET watches = ?, lost = ?, lost_us = ?')
  let row = select.get()!
  const put = async (watches: number, lost: number, lostUs: number): Promise<void> => {
    if (row.watches === watches && row.lost === lost) return
    await commit(() => void update.run(watches, lost, lostUs))
    row = { watches, lost, lost_us: lostUs }
  }
  return {
    /** So many are there now. */
    async note(watches: number): Promise<void> {
      const { lost, lost_us } = row
      await put(watches, watches > 0 ? 0 : lost, lost_us).catch((err) =>
        log.warn({ err }, 'accounts: the number of watches could not be written'),
      )
    },
    /** watches.sqlite is missing at this start. */
    async noteMissing(nowUs: number): Promise<void> {
      if (row.watches > 0) await put(0, row.watches, nowUs)
    },
    /** The warning about lost watches; undefined without any. */
    lost: (): string | undefined => (row.lost > 0 ? describeLost(row.lost, row.lost_us) : undefined),
    dismissLost: (): Promise<void> => put(row.watches, 0, 0),
  }
}

/** `12 watches are gone: watches.sqlite was missing at the start of 2026-11-28 17:52 UTC. …` */
function describeLost(count: number, startedUs: number): string {
  const at = new Date(startedUs / 1000).toISOString().slice(0, 16).replace('T', ' ')
  const gone = count === 1 ? '1 watch is gone' : `${count} watches are gone`
  const advice = 'Stop Stint and restore the file from a backup, or create the watches again.'
  return `${gone}: watches.sqlite was missing at the start of ${at} UTC. ${advice}`
}
