// The half of the store that changes with time: alerts and the progress of evaluation.
import { all, get, insert, run, type Script, type SqlDatabase } from '../../state/database.ts'
import { createId } from '../random-id.ts'
import type { StoredWatch } from '../watch.ts'
import { announce, changeChannels, NEVER_US, silence, unsilence } from './outbox-statements.ts'
import { fromAlert, list, one, toAlert, toChannel, toWatch } from './rows.ts'
import type { Alert, AlertChange, AlertPage, Alive, NewNotification, NotificationBody } from './watch-store.ts'

/** No rule needs blind stretches that ended longer ago. */
const BLIND_KEPT_US = 400 * 86_400e6
/** An alert that is older opens no second time: its identity is unique. */
const RECENT_MAX = 10_000
/** Limit per transaction: each statement is a round trip to PostgreSQL. */
const CHANGES_AT_ONCE = 50

export function createMovingStatements({ read, write }: SqlDatabase) {
  /** Transactions of bounded length. */
  async function inParts<T>(items: readonly T[], script: (item: T) => Script<unknown>): Promise<void> {
    for (let from = 0; from < items.length; from += CHANGES_AT_ONCE)
      await write(function* () {
        for (const item of items.slice(from, from + CHANGES_AT_ONCE)) yield* script(item)
      })
  }

  return {
    /** Returns the confirmed channel; it is notified of alerts that already fire. */
    confirmChannel: (confirm: string, nowUs: number, toBody: (watch: StoredWatch, alert: Alert) => NotificationBody) =>
      write(function* () {
        const channel = yield* one(
          toChannel,
          "UPDATE channel SET state = 'ok', confirm = NULL WHERE confirm = $1 AND state = 'pending' RETURNING *",
          confirm,
        )
        if (channel === undefined) return undefined
        const { id, account } = channel
        const watches = yield* list(toWatch, 'SELECT * FROM watch WHERE account = $1', account)
        const ofAccount = 'SELECT * FROM alert WHERE account = $1 AND resolved_us IS NULL ORDER BY seq'
        for (const alert of yield* list(toAlert, ofAccount, account)) {
          const watch = watches.find((it) => it.id === alert.watch && it.spec.channels.includes(id))
          if (watch === undefined) continue
          const notification = { id: createId('msg'), channel: id, body: toBody(watch, alert) }
          yield* sendTo(alert.id, [notification], nowUs)
        }
        return channel
      }),
    /** Newest first. */
    alerts(account: string, { state, limit, before }: AlertPage) {
      const values = before === undefined ? [account, limit] : [account, before, limit]
      const select = `SELECT * FROM alert WHERE account = $1
        ${state === undefined ? '' : `AND resolved_us IS ${state === 'firing' ? '' : 'NOT'} NULL`}
        ${before === undefined ? '' : 'AND seq < (SELECT seq FROM alert WHERE id = $2)'}
        ORDER BY seq DESC LIMIT $${values.length}`
      return read(() => list(toAlert, select, ...values))
    },
    alert: (account: string, id: string) =>
      read(() => one(toAlert, 'SELECT * FROM alert WHERE account = $1 AND id = $2', account, id)),
    /** Null undoes it. No effect on an alert that does not fire, or is acknowledged already. */
    acknowledge: (account: string, id: string, acked: Alert['acked'], nowUs: number) =>
      write(function* () {
        const changed = yield* run(
          `UPDATE alert SET acked_by = $1, acked_us = $2
           WHERE account = $3 AND id = $4 AND resolved_us IS NULL
           AND acked_us IS ${acked === null ? 'NOT NULL' : 'NULL'}`,
          ...[acked?.by ?? null, acked?.atUs ?? null, account, id],
        )
        if (changed > 0) yield* acked === null ? unsilence(id, nowUs) : silence(id)
      }),
    /** Alerts that fire, resolved after that time, or ended without their own event; the newest if very many. */
    recentAlerts: (account: string, resolvedSinceUs: number) =>
      read(() =>
        list(
          toAlert,
          `SELECT * FROM (
             SELECT * FROM alert WHERE account = $1 AND (resolved_us IS NULL OR resolved_us > $2 OR dismissed = 1)
             ORDER BY resolved_us IS NULL DESC, dismissed DESC, seq DESC LIMIT ${RECENT_MAX}) recent
           ORDER BY seq`,
          ...[account, resolvedSinceUs],
        ),
      ),
    async countFiring(account?: string) {
      const [own, values] = account === undefined ? ['', []] : ['AND account = $1', [account]]
      const select = `SELECT account, count(*) n FROM alert WHERE resolved_us IS NULL ${own} GROUP BY account`
      const rows = await read(() => all<{ account: string; n: number }>(select, ...values))
      return new Map(rows.map((row) => [row.account, row.n]))
    },
    /** Omits outdated changes: their watch was changed, or their alert is resolved. */
    async commit(changes: readonly AlertChange[], judged: ReadonlyMap<string, number>, nowUs: number) {
      await inParts(changes, (change) => applyChange(change, nowUs))
      const put =
        'INSERT INTO progress VALUES ($1, $2) ON CONFLICT (account) DO UPDATE SET judged_us = excluded.judged_us'
      await inParts([...judged], (pair) => run(put, ...pair))
    },
    async judged() {
      const rows = await read(() => all<{ account: string; judged_us: number }>('SELECT * FROM progress'))
      return new Map(rows.map((row) => [row.account, row.judged_us]))
    },

    alive: (): Promise<Alive> =>
      read(function* () {
        const row = yield* get<{ alive_us: number }>('SELECT alive_us FROM alive')
        const blind = yield* all<{ from_us: number; to_us: number }>(
          'SELECT * FROM blind WHERE from_us <= to_us ORDER BY from_us',
        )
        // a node of an earlier version writes them as stretches that end before they begin
        const back = yield* all<{ until_us: number; since_us: number }>(
          'SELECT until_us, since_us FROM set_back UNION SELECT from_us, to_us FROM blind WHERE from_us > to_us ' +
            'ORDER BY 1',
        )
        return {
          aliveUs: row?.alive_us ?? 0,
          blind: blind.map(({ from_us, to_us }) => ({ fromUs: from_us, toUs: to_us })),
          rewinds: back.map(({ until_us, since_us }) => ({ untilUs: until_us, sinceUs: since_us })),
        }
      }),
    noteAlive: ({ aliveUs, blind, rewinds }: Alive) =>
      write(function* () {
        if ((yield* run('UPDATE alive SET alive_us = $1', aliveUs)) === 0)
          yield* run('INSERT INTO alive VALUES ($1)', aliveUs)
        for (const { fromUs, toUs } of blind)
          yield* run(
            `INSERT INTO blind VALUES ($1, $2)
             ON CONFLICT (from_us) DO UPDATE SET to_us = excluded.to_us WHERE excluded.to_us > blind.to_us`,
            ...[fromUs, toUs],
          )
        for (const { sinceUs, untilUs } of rewinds) {
          yield* run('INSERT INTO set_back VALUES ($1, $2) ON CONFLICT DO NOTHING', untilUs, sinceUs)
          // what waits for a time that comes again waits no longer than from now on
          yield* run('UPDATE outbox SET created_us = $1 WHERE created_us > $1', sinceUs)
          yield* run(`UPDATE outbox SET next_us = $1 WHERE next_us > $1 AND next_us < ${NEVER_US}`, sinceUs)
        }
        if (blind.length + rewinds.length === 0) return
        yield* run('DELETE FROM blind WHERE to_us < $1', aliveUs - BLIND_KEPT_US)
        yield* run('DELETE FROM set_back WHERE since_us < $1', aliveUs - BLIND_KEPT_US)
      }),
    /** Deletes alerts that resolved before that time, and other rows that are no longer needed. */
    async prune(beforeUs: number) {
      await write(function* () {
        const isOver = 'resolved_us < $1 AND (dismissed = 0 OR resolved_us < $2)'
        yield* run(`DELETE FROM alert WHERE ${isOver}`, beforeUs, beforeUs - BLIND_KEPT_US)
        yield* dropDeleted()
      })
    },
  }
}

/** Deletes watches that are marked as deleted and have no alerts any more. */
export const dropDeleted = (id?: string): Script<number> =>
  run(
    `DELETE FROM watch WHERE deleted_us IS NOT NULL AND NOT EXISTS (SELECT 1 FROM alert WHERE alert.watch = watch.id)
     ${id === undefined ? '' : 'AND id = $1'}`,
    ...(id === undefined ? [] : [id]),
  )

export function* applyChange(change: AlertChange, nowUs: number): Script<void> {
  switch (change.kind) {
    case 'open': {
      if (!(yield* open(change))) return
      return yield* sendTo(change.alert.id, change.notifications, nowUs)
    }
    case 'resolve': {
      const { id, resolvedUs, endedBy, summary, notifications } = change
      // remembered, because the reason to fire may still be there
      const isDismissed = Number(endedBy === 'person' || endedBy === 'expired')
      const resolved = yield* run(
        `UPDATE alert SET resolved_us = $1, summary = $2, ended_by = $3, dismissed = $4
         ${endedBy === 'changed' ? ', identity = NULL' : ''}
         WHERE id = $5 AND resolved_us IS NULL`, // by the changed rule the same run may fire again
        ...[resolvedUs, summary, endedBy, isDismissed, id],
      )
      if (resolved > 0) yield* announce(id, notifications, nowUs)
      return
    }
    case 'remind': {
      const { id, remindUs, notifications } = change
      const remind = 'UPDATE alert SET remind_us = $1 WHERE id = $2 AND resolved_us IS NULL AND acked_us IS NULL'
      if ((yield* run(remind, remindUs, id)) > 0) yield* sendTo(id, notifications, nowUs)
      return
    }
    case 'notify': {
      const firing = 'SELECT 1 FROM alert WHERE id = $1 AND resolved_us IS NULL AND acked_us IS NULL'
      if ((yield* get(firing, change.id)) !== undefined) yield* sendTo(change.id, change.notifications, nowUs)
      return
    }
    default:
      change satisfies never
  }
}

/** The channels that it is sent to are notified of the end, too. The first notification of each is no reminder. */
function* sendTo(alert: string, notifications: readonly NewNotification[], nowUs: number): Script<void> {
  const row = yield* get<{ channels: string | null }>('SELECT channels FROM alert WHERE id = $1', alert)
  const known: readonly string[] | null = JSON.parse(row?.channels ?? 'null')
  const typed = notifications.map((one) =>
    known === null || known.includes(one.channel)
      ? one
      : { ...one, body: { ...one.body, type: 'alert.firing' as const } },
  )
  const sent = yield* announce(alert, typed, nowUs)
  yield* changeChannels(alert, (known) => [...known, ...sent])
}

/** False if the watch was changed since it was judged, or there is an alert about the same already. */
function* open({ alert, watchSinceUs, watchChanged }: AlertChange & { kind: 'open' }): Script<boolean> {
  const { watch, instance, resolvedUs } = alert
  const known = 'SELECT since_us, changed FROM watch WHERE id = $1 AND deleted_us IS NULL'
  const current = yield* get<{ since_us: number; changed: string | null }>(known, watch)
  if (current?.since_us !== watchSinceUs || (current.changed ?? '{}') !== JSON.stringify(watchChanged)) return false
  const firing = 'SELECT 1 FROM alert WHERE watch = $1 AND instance = $2 AND resolved_us IS NULL'
  if (resolvedUs === null && (yield* get(firing, watch, instance)) !== undefined) return false
  return (yield* insert('alert', fromAlert({ ...alert, channels: [] }), 'ON CONFLICT DO NOTHING')) > 0
}
