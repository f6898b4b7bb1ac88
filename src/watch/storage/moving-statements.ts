// The half of the store that changes with time: alerts, and when Stint was alive.

import type { NewNotification, NotificationBody } from '../../notify/notification.ts'
import { all, get, insert, run, type Script, type SqlDatabase } from '../../state/database.ts'
import { createId } from '../random-id.ts'
import type { StoredWatch } from '../watch.ts'
import { announce, changeChannels, explain, silence, unsilence } from './outbox-statements.ts'
import { fromAlert, list, one, toAlert, toChannel, toWatch } from './rows.ts'
import type { AlertChange, AlertSelection, Alive, StoredAlert } from './watch-store.ts'

/** No rule needs blind stretches that ended longer ago. */
const BLIND_KEPT_US = 400 * 86_400e6

export function createMovingStatements({ read, write }: SqlDatabase) {
  return {
    /** Returns the confirmed channel; it is notified of alerts that already fire. */
    confirmChannel: (
      confirm: string,
      nowUs: number,
      toBody: (watch: StoredWatch, alert: StoredAlert) => NotificationBody,
    ) =>
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
    alerts(account: string, { state, process, limit, before }: AlertSelection) {
      const values = [account, before, process, limit].filter((it) => it !== undefined)
      const select = `SELECT * FROM alert WHERE account = $1
        ${state === undefined ? '' : `AND resolved_us IS ${state === 'firing' ? '' : 'NOT'} NULL`}
        ${before === undefined ? '' : 'AND seq < (SELECT seq FROM alert WHERE id = $2)'}
        ${process === undefined ? '' : `AND process = $${values.length - 1}`}
        ORDER BY seq DESC LIMIT $${values.length}`
      return read(() => list(toAlert, select, ...values))
    },
    alert: (account: string, id: string) =>
      read(() => one(toAlert, 'SELECT * FROM alert WHERE account = $1 AND id = $2', account, id)),
    /** Null undoes it. No effect on an alert that does not fire, or is acknowledged already. */
    acknowledge: (account: string, id: string, acked: StoredAlert['acked'], nowUs: number) =>
      write(function* () {
        const changed = yield* run(
          `UPDATE alert SET acked_by = $1, acked_us = $2
           WHERE account = $3 AND id = $4 AND resolved_us IS NULL
           AND acked_us IS ${acked === null ? 'NOT NULL' : 'NULL'}`,
          ...[acked?.by ?? null, acked?.atUs ?? null, account, id],
        )
        if (changed > 0) yield* acked === null ? unsilence(id, nowUs) : silence(id)
      }),
    /** Alerts that fire, and those that ended without their own event, oldest first; of an account, or of all. */
    openAlerts(account?: string) {
      const [own, values] = account === undefined ? ['', []] : ['AND account = $1', [account]]
      const select = `SELECT * FROM alert WHERE (resolved_us IS NULL OR dismissed = 1) ${own} ORDER BY seq`
      return read(() => list(toAlert, select, ...values))
    },
    async countFiring(account?: string) {
      const [own, values] = account === undefined ? ['', []] : ['AND account = $1', [account]]
      const select = `SELECT account, count(*) n FROM alert WHERE resolved_us IS NULL ${own} GROUP BY account`
      const rows = await read(() => all<{ account: string; n: number }>(select, ...values))
      return new Map(rows.map((row) => [row.account, row.n]))
    },
    /** Omits outdated changes: their watch was changed, or their alert is resolved. */
    commit: (changes: readonly AlertChange[], nowUs: number) =>
      write(function* () {
        for (const change of changes) yield* applyChange(change, nowUs)
      }),

    alive: (): Promise<Alive> =>
      read(function* () {
        const row = yield* get<{ alive_us: number }>('SELECT alive_us FROM alive')
        const blind = yield* all<{ from_us: number; to_us: number }>('SELECT * FROM blind ORDER BY from_us')
        return {
          aliveUs: row?.alive_us ?? 0,
          // version 1 noted clocks that were set back as stretches that end before they begin
          blind: blind.flatMap(({ from_us, to_us }) => (from_us <= to_us ? [{ fromUs: from_us, toUs: to_us }] : [])),
        }
      }),
    noteAlive: ({ aliveUs, blind }: Alive) =>
      write(function* () {
        if ((yield* run('UPDATE alive SET alive_us = $1', aliveUs)) === 0)
          yield* run('INSERT INTO alive (alive_us) VALUES ($1)', aliveUs)
        for (const { fromUs, toUs } of blind)
          yield* run(
            `INSERT INTO blind (from_us, to_us) VALUES ($1, $2)
             ON CONFLICT (from_us) DO UPDATE SET to_us = excluded.to_us WHERE excluded.to_us > blind.to_us`,
            ...[fromUs, toUs],
          )
        if (blind.length > 0) yield* run('DELETE FROM blind WHERE to_us < $1', aliveUs - BLIND_KEPT_US)
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

/** `outdated`: the watch of an alert was changed since it was judged. `known`: there is one about the same. */
export type Applied = 'done' | 'outdated' | 'known'

export function* applyChange(change: AlertChange, nowUs: number): Script<Applied> {
  switch (change.kind) {
    case 'open': {
      const opened = yield* open(change)
      if (opened === 'done') yield* sendTo(change.alert.id, change.notifications, nowUs, change.waitUs)
      return opened
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
      return 'done'
    }
    case 'remind': {
      const { id, remindUs, notifications } = change
      const remind = 'UPDATE alert SET remind_us = $1 WHERE id = $2 AND resolved_us IS NULL AND acked_us IS NULL'
      if ((yield* run(remind, remindUs, id)) > 0) yield* sendTo(id, notifications, nowUs)
      return 'done'
    }
    case 'explain':
      yield* explain(change.id, change.exception, nowUs)
      return 'done'
    case 'notify': {
      const firing = 'SELECT 1 FROM alert WHERE id = $1 AND resolved_us IS NULL AND acked_us IS NULL'
      if ((yield* get(firing, change.id)) !== undefined) yield* sendTo(change.id, change.notifications, nowUs)
      return 'done'
    }
    default:
      return change satisfies never
  }
}

/** The channels that it is sent to are notified of the end, too. The first notification of each is no reminder. */
function* sendTo(alert: string, notifications: readonly NewNotification[], nowUs: number, waitUs = 0): Script<void> {
  const row = yield* get<{ channels: string | null }>('SELECT channels FROM alert WHERE id = $1', alert)
  const known: readonly string[] | null = JSON.parse(row?.channels ?? 'null')
  const typed = notifications.map((one) =>
    known === null || known.includes(one.channel)
      ? one
      : { ...one, body: { ...one.body, type: 'alert.firing' as const } },
  )
  const sent = yield* announce(alert, typed, nowUs, waitUs)
  yield* changeChannels(alert, (known) => [...known, ...sent])
}

function* open({ alert, watchSinceUs, watchChanged }: AlertChange & { kind: 'open' }): Script<Applied> {
  const { watch, instance, resolvedUs } = alert
  const known = 'SELECT since_us, changed FROM watch WHERE id = $1 AND deleted_us IS NULL'
  const current = yield* get<{ since_us: number; changed: string | null }>(known, watch)
  if (current?.since_us !== watchSinceUs || (current.changed ?? '{}') !== JSON.stringify(watchChanged))
    return 'outdated'
  const firing = 'SELECT 1 FROM alert WHERE watch = $1 AND instance = $2 AND resolved_us IS NULL'
  if (resolvedUs === null && (yield* get(firing, watch, instance)) !== undefined) return 'outdated'
  const row = fromAlert({ ...alert, channels: [] })
  return (yield* insert('alert', row, 'ON CONFLICT DO NOTHING')) > 0 ? 'done' : 'known'
}
