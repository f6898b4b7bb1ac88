// The outbox: which notifications wait for which channel, and since when. Invariants:
// * A channel that does not know of an alert is not notified of its end. The end removes a first notification that is
//   held back (by the delay of the channel, or by a maintenance); one that its receiver refused is tried once more
//   then, and if it is refused again both are dropped, as in Alertmanager.
// * The notifications of one alert reach a channel in order.

import { heldUntilUs, type MaintenanceSpec } from '../../notify/maintenance.ts'
import type {
  LastAnswer,
  NewNotification,
  Notification,
  NotificationBody,
  Outcome,
  StoredChannel,
} from '../../notify/notification.ts'
import { spanUs } from '../../process/span.ts'
import { insert as addRow, all, get, run, type Script, type SqlDatabase } from '../../state/database.ts'
import { list, selectChannel, toMaintenance, toNotification, toSent, updateChannel } from './rows.ts'

/** `held` in the table. */
const FREE = 0
const HELD = 1
const SILENCED = 2
/** `next_us` of a silenced notification. */
const NEVER_US = 9e15

export function createOutboxStatements({ read, write }: SqlDatabase) {
  return {
    /** The channels that something is due for. */
    async dueChannels(nowUs: number): Promise<string[]> {
      const select = 'SELECT DISTINCT channel FROM outbox WHERE next_us <= $1'
      return (await read(() => all<{ channel: string }>(select, nowUs))).map(({ channel }) => channel)
    },
    /**
     * The oldest that are due for a channel, in the order of creation. A notification that waits for its retry holds
     * back the later ones of its alert.
     */
    due: (channel: string, nowUs: number, limit: number) =>
      read(() =>
        list(
          toNotification,
          `SELECT * FROM outbox WHERE channel = $1 AND next_us <= $2 AND NOT EXISTS (
             SELECT 1 FROM outbox earlier WHERE earlier.alert = outbox.alert AND earlier.channel = outbox.channel
               AND earlier.seq < outbox.seq AND earlier.next_us > $2 AND earlier.refused = 0)
           ORDER BY seq LIMIT $3`,
          ...[channel, nowUs, limit],
        ),
      ),
    /** Those of them, held back, that may be sent now; the others wait on. */
    release: (channel: StoredChannel, rows: readonly Notification[], nowUs: number) =>
      write(function* () {
        const maintenances = yield* selectMaintenances(channel.account)
        const ready: Notification[] = []
        for (const row of rows) {
          const untilUs = waitUntilUs(channel, row.body, maintenances, row.createdUs, nowUs)
          // since it was read its alert may have ended, or been acknowledged
          const isHeld = `seq = $2 AND held = ${HELD}`
          if (untilUs > nowUs) yield* run(`UPDATE outbox SET next_us = $1 WHERE ${isHeld}`, untilUs, row.seq)
          else if (
            (yield* run(`UPDATE outbox SET held = ${FREE}, created_us = $1 WHERE ${isHeld}`, nowUs, row.seq)) > 0
          )
            ready.push({ ...row, isHeld: false, createdUs: nowUs }) // the time until it is given up begins now
        }
        return ready
      }),
    /** Does an alert of the watch fire of which an incident, or one of these notifications, told the channel? */
    isStillFiring: (channel: string, watch: string, rows: readonly Notification[]) =>
      read(function* () {
        const firing = 'SELECT id FROM alert WHERE watch = $1 AND resolved_us IS NULL'
        const ids = (yield* all<{ id: string }>(firing, watch)).map(({ id }) => id)
        const sent = yield* all<{ alert: string }>('SELECT alert FROM incident WHERE channel = $1', channel)
        const known = new Set([...sent.map(({ alert }) => alert), ...rows.map(({ alert }) => alert)])
        return ids.some((id) => known.has(id))
      }),
    /** Removes notifications that were delivered or given up, and records the channel's last answer and state. */
    settle: (
      done: readonly Notification[],
      { id, ...changed }: Pick<StoredChannel, 'id'> & Partial<StoredChannel>,
      nowUs: number,
      outcome: Outcome,
    ) =>
      write(function* () {
        const channel = yield* selectChannel(id)
        for (const row of done) {
          yield* run('DELETE FROM outbox WHERE seq = $1', row.seq)
          if (outcome === 'dropped') yield* noteDropped(row)
          else if (row.alert !== null) yield* noteDelivery(row, row.alert, nowUs, outcome)
          if (channel && changed.last) yield* noteAttempt(row, channel, changed.last)
        }
        if (channel === undefined) return
        yield* updateChannel({ ...channel, ...changed })
        if (changed.state === 'disabled') yield* dropWaiting(id)
      }),
    /** Later notifications of their alerts do not wait for refused ones. */
    postpone: (rows: readonly Notification[], nextUs: number, last: LastAnswer | undefined, isRefused: boolean) =>
      write(function* () {
        const postpone = 'UPDATE outbox SET attempts = attempts + 1, next_us = $1, refused = $2 WHERE seq = $3'
        for (const row of rows) {
          yield* run(postpone, nextUs, Number(isRefused), row.seq)
          if (isRefused) yield* dropRefused(row)
        }
        const channel = rows[0] && last && (yield* selectChannel(rows[0].channel))
        if (!channel || !last) return
        for (const row of rows) yield* noteAttempt(row, channel, last)
        yield* updateChannel({ ...channel, last })
      }),
    /** Oldest first: the last attempts to send notifications about an alert, and those that are to be sent. */
    notificationsAbout: (alert: string) =>
      read(function* () {
        const sent = yield* list(toSent, 'SELECT * FROM notification WHERE alert = $1 ORDER BY at_us, id', alert)
        const waiting = yield* list(
          (row) => ({ ...toNotification(row), isSilenced: Number(row.held) === SILENCED }),
          'SELECT * FROM outbox WHERE alert = $1 ORDER BY seq',
          alert,
        )
        return { sent, waiting }
      }),
    async outbox(): Promise<{ readonly waiting: number; readonly oldestUs?: number }> {
      const row = await read(() =>
        get<{ waiting: number; oldest: number | null }>(
          'SELECT count(*) waiting, min(created_us) oldest FROM outbox WHERE held = 0',
        ),
      )
      const { waiting, oldest } = row!
      return { waiting, ...(oldest !== null && { oldestUs: oldest }) }
    },
  }
}

const isBeginning = ({ type }: NotificationBody): boolean => type === 'alert.firing'
const isEnd = ({ type }: NotificationBody): boolean => type === 'alert.resolved'

/** Its receiver refused the beginning and so knows nothing that could end. */
function* dropRefused({ alert, channel, body }: Notification): Script<void> {
  if (alert === null || !isBeginning(body)) return
  const rows = yield* ofAlert(alert, channel)
  if (!rows.some((row) => isEnd(row.body))) return
  for (const { seq } of rows) yield* run('DELETE FROM outbox WHERE seq = $1', seq)
}

const ofAlert = (alert: string, channel: string) =>
  list(toNotification, 'SELECT * FROM outbox WHERE alert = $1 AND channel = $2', alert, channel)

function* noteDelivery(
  { seq, channel, body }: Notification,
  alert: string,
  nowUs: number,
  outcome: 'delivered' | 'in incident',
): Script<void> {
  // a refused beginning is obsolete once something later was taken
  const refused = 'DELETE FROM outbox WHERE alert = $1 AND channel = $2 AND seq < $3 AND refused = 1'
  yield* run(refused, alert, channel, seq)
  if (body.type === 'alert.resolved')
    yield* run('DELETE FROM incident WHERE channel = $1 AND alert = $2', channel, alert)
  if (body.type !== 'alert.firing') return
  const known = yield* run('UPDATE alert SET notified_us = coalesce(notified_us, $1) WHERE id = $2', nowUs, alert)
  if (known > 0 && outcome === 'in incident')
    yield* run('INSERT INTO incident VALUES ($1, $2) ON CONFLICT DO NOTHING', channel, alert)
}

/** Drops everything that waits for a channel. */
export function* dropWaiting(channel: string): Script<void> {
  const rows = yield* list(toNotification, 'SELECT * FROM outbox WHERE channel = $1', channel)
  yield* run('DELETE FROM outbox WHERE channel = $1', channel)
  for (const row of rows) yield* noteDropped(row)
}

/** Shown with its alert, as long as that is listed. */
function* noteAttempt(
  { id, alert, body }: Notification,
  channel: StoredChannel,
  { atUs, ok, detail }: LastAnswer,
): Script<void> {
  if (alert === null || (yield* get('SELECT 1 FROM alert WHERE id = $1', alert)) === undefined) return
  const { id: to, name, kind } = channel
  yield* addRow(
    'notification',
    { id, alert, channel: to, name, kind, type: body.type, at_us: atUs, ok: Number(ok), answer: detail },
    'ON CONFLICT (id) DO UPDATE SET at_us = excluded.at_us, ok = excluded.ok, answer = excluded.answer',
  )
}

/** A channel that did not get the beginning of an alert does not get its end. */
const noteDropped = ({ alert, channel, body }: Notification): Script<void> =>
  changeChannels(body.type === 'alert.firing' ? alert : null, (known) => known.filter((it) => it !== channel))

/** The channels that are notified of the end of an alert. */
export function* changeChannels(alert: string | null, change: (known: string[]) => string[]): Script<void> {
  if (alert === null) return
  const row = yield* get<{ channels: string | null }>('SELECT channels FROM alert WHERE id = $1', alert)
  const channels = JSON.stringify([...new Set(change(JSON.parse(row?.channels ?? '[]')))])
  if (channels !== (row?.channels ?? '[]')) yield* run('UPDATE alert SET channels = $1 WHERE id = $2', channels, alert)
}

/** Adds for each usable channel of the alert's account what its filters let through. Returns these channels. */
export function* announce(
  alert: string,
  notifications: readonly NewNotification[],
  nowUs: number,
  waitUs = 0,
): Script<readonly string[]> {
  const noted: string[] = []
  if (notifications.length === 0) return noted
  const owner = yield* get<{ account: string; resolved_us: number | null }>(
    'SELECT account, resolved_us FROM alert WHERE id = $1',
    alert,
  )
  if (owner === undefined) return noted
  const maintenances = yield* selectMaintenances(owner.account)
  for (const notification of notifications) {
    const channel = yield* selectUsable(notification.channel, owner.account)
    if (channel === undefined || !isWanted(channel, notification)) continue
    const { type } = notification.body
    const isHeld = (yield* ofAlert(alert, channel.id)).some((it) => it.isHeld)
    if (type === 'alert.reminder' && isHeld) continue
    if (type === 'alert.resolved' && (yield* dropUnknown(alert, channel.id, nowUs))) continue
    const untilUs = waitUntilUs(channel, notification.body, maintenances, nowUs, nowUs)
    // an alert that was over when it became known never is "still firing" later
    if (untilUs > nowUs && type === 'alert.firing' && owner.resolved_us !== null) continue
    yield* insert(alert, owner.account, notification, nowUs, untilUs, waitUs)
    noted.push(channel.id)
  }
  return noted
}

function* selectUsable(id: string, account: string): Script<StoredChannel | undefined> {
  const channel = yield* selectChannel(id)
  return channel?.state === 'ok' && channel.account === account ? channel : undefined
}

const insert = (
  alert: string,
  account: string,
  { id, channel, body }: NewNotification,
  nowUs: number,
  untilUs: number,
  waitUs: number,
): Script<number> =>
  addRow('outbox', {
    id,
    account,
    channel,
    alert,
    body: JSON.stringify(body),
    created_us: nowUs,
    next_us: Math.max(untilUs, nowUs + waitUs),
    held: untilUs > nowUs ? HELD : FREE,
  })

/** At the end of an alert: true if the channel does not know of it. What waits for a retry is sent now. */
function* dropUnknown(alert: string, channel: string, nowUs: number): Script<boolean> {
  const rows = (yield* ofAlert(alert, channel)).filter(({ isHeld }) => isHeld)
  for (const { seq } of rows) yield* run('DELETE FROM outbox WHERE seq = $1', seq)
  const pull = 'UPDATE outbox SET next_us = $1 WHERE alert = $2 AND channel = $3 AND next_us > $1'
  yield* run(pull, nowUs, alert, channel)
  return rows.some(({ body }) => isBeginning(body))
}

/** When a notification may be sent: after the delay of its channel and the maintenances of its process. */
function waitUntilUs(
  channel: StoredChannel,
  { type, data }: NotificationBody,
  maintenances: readonly MaintenanceSpec[],
  createdUs: number,
  nowUs: number,
): number {
  const { delay } = channel.settings
  const delayUs = type === 'alert.firing' && delay !== null ? spanUs(delay) : 0
  return Math.min(NEVER_US, Math.max(createdUs + delayUs, heldUntilUs(maintenances, data.process, nowUs) ?? 0))
}

/** The exception of its run arrived: what waits for it says so, and waits no longer. */
export function* explain(alert: string, exception: string, nowUs: number): Script<void> {
  const waiting = yield* list(toNotification, 'SELECT * FROM outbox WHERE alert = $1 AND attempts = 0', alert)
  for (const { seq, body, isHeld } of waiting) {
    const facts = [...body.facts.filter(([label]) => label !== 'Exception'), ['Exception', exception]]
    const told = JSON.stringify({ ...body, facts, data: { ...body.data, exception } })
    yield* run('UPDATE outbox SET body = $1 WHERE seq = $2', told, seq)
    if (!isHeld) yield* run('UPDATE outbox SET next_us = $1 WHERE seq = $2 AND next_us > $1', nowUs, seq)
  }
}

/** The alert was acknowledged: notifications held back stay so until it ends, or until `unsilence`. */
export const silence = (alert: string): Script<number> =>
  run(`UPDATE outbox SET held = ${SILENCED}, next_us = ${NEVER_US} WHERE alert = $1 AND held = ${HELD}`, alert)

export const unsilence = (alert: string, nowUs: number): Script<number> =>
  run(`UPDATE outbox SET held = ${HELD}, next_us = $1 WHERE alert = $2 AND held = ${SILENCED}`, nowUs, alert)

function isWanted(
  { settings: { conditions, only_firing } }: StoredChannel,
  { body: { type, data } }: NewNotification,
): boolean {
  if (conditions !== null && data.condition !== null && !conditions.includes(data.condition)) return false
  return !only_firing || type !== 'alert.resolved'
}

const selectMaintenances = (account: string) =>
  list((row) => toMaintenance(row).spec, 'SELECT * FROM maintenance WHERE account = $1', account)
