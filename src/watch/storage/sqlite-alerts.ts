// The moving half of the store: alerts, the outbox, and how far the watches were judged.
import type { Database } from 'bun:sqlite'
import { type AlertRow, type OutboxRow, toAlert, toNotification } from './rows.ts'
import type { AlertChange, Channel, NewNotification, WatchStore } from './watch-store.ts'

interface Channels {
  oneChannel(id: string): Channel | undefined
  putChannel(channel: Channel): void
}

type Moving =
  | 'alerts'
  | 'alert'
  | 'dismiss'
  | 'recentAlerts'
  | 'countFiring'
  | 'commit'
  | 'judged'
  | 'due'
  | 'settle'
  | 'postpone'
  | 'outbox'
  | 'alive'
  | 'noteAlive'
  | 'prune'

/** Blind stretches that ended so long ago are not needed by any rule. */
const BLIND_KEPT_US = 400 * 86_400e6

export function createAlertStatements(
  db: Database,
  write: <T>(change: () => T) => T,
  { oneChannel, putChannel }: Channels,
): Pick<WatchStore, Moving> {
  const page = db.query<AlertRow, (string | number | null)[]>(
    `SELECT * FROM alert WHERE account = ?1
       AND (?2 IS NULL OR (resolved_us IS NULL) = (?2 = 'firing'))
       AND (?3 IS NULL OR seq < (SELECT seq FROM alert WHERE id = ?3))
     ORDER BY seq DESC LIMIT ?4`,
  )
  const oneAlert = db.query<AlertRow, [string, string]>('SELECT * FROM alert WHERE account = ? AND id = ?')
  const recent = db.query<AlertRow, [number]>(
    'SELECT * FROM alert WHERE resolved_us IS NULL OR resolved_us > ? OR dismissed = 1 ORDER BY seq',
  )
  const firing = db.query<{ account: string; n: number }, [string | null]>(
    'SELECT account, count(*) n FROM alert WHERE resolved_us IS NULL AND (?1 IS NULL OR account = ?1) GROUP BY account',
  )
  const insertAlert = db.query<null, (string | number | null)[]>(
    `INSERT INTO alert (id, account, watch, instance, condition, process, meta, uid, started_us, since_us, resolved_us, remind_us, summary)
     SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13
     WHERE EXISTS (SELECT 1 FROM watch WHERE id = ?3 AND since_us = ?14)
       AND (?11 IS NOT NULL OR NOT EXISTS (SELECT 1 FROM alert WHERE watch = ?3 AND instance = ?4 AND resolved_us IS NULL))`,
  )
  const resolveAlert = db.query<null, [number, string, string]>(
    'UPDATE alert SET resolved_us = ?, summary = ? WHERE id = ? AND resolved_us IS NULL',
  )
  const remindAlert = db.query<null, [number, string]>(
    'UPDATE alert SET remind_us = ? WHERE id = ? AND resolved_us IS NULL',
  )
  const noteNotified = db.query<null, [number, string]>(
    'UPDATE alert SET notified_us = coalesce(notified_us, ?) WHERE id = ?',
  )
  const insertNotification = db.query<null, [string, string, string, string, number]>(
    `INSERT INTO outbox (id, account, channel, alert, body, created_us, next_us)
     SELECT ?1, alert.account, ?2, alert.id, ?4, ?5, ?5 FROM alert
     WHERE alert.id = ?3 AND EXISTS (SELECT 1 FROM channel WHERE id = ?2 AND account = alert.account AND state = 'ok')`,
  )
  const dueRows = db.query<OutboxRow, [number, number]>(
    'SELECT * FROM outbox WHERE next_us <= ? ORDER BY channel, seq LIMIT ?',
  )
  const deleteRow = db.query<null, [number]>('DELETE FROM outbox WHERE seq = ?')
  const dropChannelRows = db.query<null, [string]>('DELETE FROM outbox WHERE channel = ?')
  const postponeRow = db.query<null, [number, number]>(
    'UPDATE outbox SET attempts = attempts + 1, next_us = ? WHERE seq = ?',
  )
  const waiting = db.query<{ waiting: number; oldest: number | null }, []>(
    'SELECT count(*) waiting, min(created_us) oldest FROM outbox',
  )
  const setProgress = db.query<null, [string, number]>(
    'INSERT INTO progress VALUES (?1, ?2) ON CONFLICT DO UPDATE SET judged_us = ?2',
  )

  const announce = (alert: string, notifications: readonly NewNotification[], nowUs: number) => {
    for (const { id, channel, body } of notifications)
      insertNotification.run(id, channel, alert, JSON.stringify(body), nowUs)
  }

  function apply(change: AlertChange, nowUs: number): void {
    switch (change.kind) {
      case 'open': {
        const { alert: a, watchSinceUs } = change
        const row = [
          a.id,
          a.account,
          a.watch,
          a.instance,
          a.condition,
          a.process,
          a.meta,
          a.uid,
          a.startedUs,
          a.sinceUs,
        ]
        if (insertAlert.run(...row, a.resolvedUs, a.remindUs, a.summary, watchSinceUs).changes > 0)
          announce(a.id, change.notifications, nowUs)
        return
      }
      case 'resolve':
        if (resolveAlert.run(change.resolvedUs, change.summary, change.id).changes > 0)
          announce(change.id, change.notifications, nowUs)
        return
      case 'remind':
        if (remindAlert.run(change.remindUs, change.id).changes > 0) announce(change.id, change.notifications, nowUs)
        return
      default:
        change satisfies never
    }
  }

  return {
    alerts: async (account, { state, limit, before }) =>
      page.all(account, state ?? null, before ?? null, limit).map(toAlert),
    alert: async (account, id) => {
      const row = oneAlert.get(account, id)
      return row === null ? undefined : toAlert(row)
    },
    dismiss: async (id, resolvedUs) =>
      write(() => {
        db.query('UPDATE alert SET resolved_us = ?, dismissed = 1 WHERE id = ? AND resolved_us IS NULL').run(
          resolvedUs,
          id,
        )
      }),
    recentAlerts: async (resolvedSinceUs) => recent.all(resolvedSinceUs).map(toAlert),
    countFiring: async (account) => new Map(firing.all(account ?? null).map((row) => [row.account, row.n])),
    commit: async (changes, judged, nowUs) =>
      write(() => {
        for (const change of changes) apply(change, nowUs)
        for (const [account, judgedUs] of judged) setProgress.run(account, judgedUs)
      }),
    judged: async () =>
      new Map(
        db
          .query<{ account: string; judged_us: number }, []>('SELECT * FROM progress')
          .all()
          .map((row) => [row.account, row.judged_us]),
      ),

    due: async (nowUs, limit) => dueRows.all(nowUs, limit).map(toNotification),
    settle: async (done, { id, ...changed }, nowUs, delivered) =>
      write(() => {
        for (const { seq, alert, body } of done) {
          deleteRow.run(seq)
          if (delivered && alert !== null && body.type === 'alert.firing') noteNotified.run(nowUs, alert)
        }
        const channel = oneChannel(id)
        if (channel === undefined) return
        putChannel({ ...channel, ...changed })
        if (changed.state === 'disabled') dropChannelRows.run(id)
      }),
    postpone: async (rows, nextUs, last) =>
      write(() => {
        for (const { seq } of rows) postponeRow.run(nextUs, seq)
        const channel = rows[0] && last && oneChannel(rows[0].channel)
        if (channel && last) putChannel({ ...channel, last })
      }),
    outbox: async () => {
      const { waiting: n, oldest } = waiting.get()!
      return { waiting: n, ...(oldest !== null && { oldestUs: oldest }) }
    },

    alive: async () => ({
      aliveUs: db.query<{ alive_us: number }, []>('SELECT alive_us FROM alive').get()?.alive_us ?? 0,
      blind: db
        .query<{ from_us: number; to_us: number }, []>('SELECT * FROM blind ORDER BY from_us')
        .all()
        .map(({ from_us, to_us }) => ({ fromUs: from_us, toUs: to_us })),
    }),
    noteAlive: async ({ aliveUs, blind }) =>
      write(() => {
        if (db.query('UPDATE alive SET alive_us = ?').run(aliveUs).changes === 0)
          db.query('INSERT INTO alive VALUES (?)').run(aliveUs)
        if (blind === undefined) return
        db.query('INSERT INTO blind VALUES (?1, ?2) ON CONFLICT DO UPDATE SET to_us = max(to_us, ?2)').run(
          blind.fromUs,
          blind.toUs,
        )
        db.query('DELETE FROM blind WHERE to_us < ?').run(aliveUs - BLIND_KEPT_US)
      }),
    prune: async (beforeUs) => write(() => void db.query('DELETE FROM alert WHERE resolved_us < ?').run(beforeUs)),
  }
}
