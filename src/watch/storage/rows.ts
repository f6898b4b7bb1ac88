// Converts database rows to the room's types and back, and holds the statements that several files use.

import type { StoredMaintenance } from '../../notify/maintenance.ts'
import type { ChannelSettings, Notification, StoredChannel } from '../../notify/notification.ts'
import { all, get, run, type Script, type Value } from '../../state/database.ts'
import { completeConditions } from '../conditions/conditions.ts'
import type { StoredWatch } from '../watch.ts'
import type { LastAttempt, StoredAlert } from './watch-store.ts'

export type Row = Readonly<Record<string, Value>>

/** The rows of a query. */
export function* list<T>(toItem: (row: Row) => T, sql: string, ...values: Value[]): Script<T[]> {
  return (yield* all<Row>(sql, ...values)).map(toItem)
}

/** Its first row. */
export function* one<T>(toItem: (row: Row) => T, sql: string, ...values: Value[]): Script<T | undefined> {
  const row = yield* get<Row>(sql, ...values)
  return row && toItem(row)
}

/** A column is called like its member, in snake_case. `json`: stored as text; NULL = null. */
function createMapper<T extends object>(members: readonly (keyof T & string)[], json: readonly (keyof T & string)[]) {
  const columns = [...members, ...json].map((member) => {
    const column = member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    return { member, column, isJson: json.includes(member) }
  })
  return {
    fromRow: (row: Row): T =>
      Object.fromEntries(
        columns.map(({ member, column, isJson }) => {
          const value = row[column] ?? null
          return [member, isJson && value !== null ? JSON.parse(String(value)) : value]
        }),
      ) as T,
    toRow: (object: T): Row =>
      Object.fromEntries(
        columns.map(({ member, column, isJson }) => {
          const value = object[member] as Value
          return [column, isJson && value !== null ? JSON.stringify(value) : value]
        }),
      ),
  }
}

const watches = createMapper<StoredWatch>(['id', 'account', 'createdUs', 'sinceUs', 'badge'], ['spec', 'changed'])
export const fromWatch = watches.toRow
/** A watch that was stored before a condition existed has none of it. */
const NO_CONDITIONS = completeConditions({})
export function toWatch(row: Row): StoredWatch {
  const watch = watches.fromRow(row)
  return { ...watch, spec: { ...NO_CONDITIONS, ...watch.spec }, changed: watch.changed ?? {} }
}

export const NO_SETTINGS: ChannelSettings = { members: {}, conditions: null, only_firing: false, delay: null }
const channels = createMapper<StoredChannel>(
  ['id', 'account', 'name', 'kind', 'target', 'secret', 'state', 'confirm', 'createdUs'],
  ['last', 'settings'],
)
export const fromChannel = channels.toRow
export function toChannel(row: Row): StoredChannel {
  const channel = channels.fromRow(row)
  return { ...channel, settings: { ...NO_SETTINGS, ...channel.settings } }
}

const alerts = createMapper<Omit<StoredAlert, 'acked'> & { ackedBy: string | null; ackedUs: number | null }>(
  [
    ...(['id', 'account', 'watch', 'instance', 'condition', 'process', 'meta', 'uid', 'startedUs'] as const),
    ...(['sinceUs', 'resolvedUs', 'notifiedUs', 'remindUs', 'summary', 'identity', 'endedBy'] as const),
    ...(['ackedBy', 'ackedUs'] as const),
  ],
  ['episode', 'channels'],
)
export const fromAlert = ({ acked, ...alert }: StoredAlert): Row =>
  alerts.toRow({ ...alert, ackedBy: acked?.by ?? null, ackedUs: acked?.atUs ?? null })
export function toAlert(row: Row): StoredAlert {
  const { ackedBy, ackedUs, ...alert } = alerts.fromRow(row)
  return { ...alert, acked: ackedBy === null ? null : { by: ackedBy, atUs: ackedUs ?? 0 } }
}

const notifications = createMapper<Omit<Notification, 'isHeld'>>(
  ['seq', 'id', 'account', 'channel', 'alert', 'createdUs', 'nextUs', 'attempts'],
  ['body'],
)
export const toNotification = (row: Row): Notification => ({
  ...notifications.fromRow(row),
  isHeld: Number(row.held) > 0,
})

export const toSent = (row: Row): LastAttempt => {
  const { id, channel, name, kind, type, atUs, ok, answer } = sent.fromRow(row)
  return { id, type, channel: { id: channel, name, kind }, last: { atUs, ok: ok === 1, detail: answer } }
}
const sent = createMapper<
  Omit<LastAttempt['channel'], 'id'> &
    Pick<LastAttempt, 'id' | 'type'> & { channel: string; atUs: number; ok: number; answer: string }
>(['id', 'channel', 'name', 'kind', 'type', 'atUs', 'ok', 'answer'], [])

const maintenances = createMapper<StoredMaintenance>(['id', 'account', 'createdUs'], ['spec'])
export const [fromMaintenance, toMaintenance] = [maintenances.toRow, maintenances.fromRow]

export const selectChannel = (id: string): Script<StoredChannel | undefined> =>
  one(toChannel, 'SELECT * FROM channel WHERE id = $1', id)

export function updateChannel(channel: StoredChannel): Script<number> {
  const { id, account: _, kind: _kind, created_us: _created, ...changed } = fromChannel(channel)
  const columns = Object.keys(changed).map((column, i) => `${column} = $${i + 1}`)
  const values = [...Object.values(changed), id!]
  return run(`UPDATE channel SET ${columns.join(', ')} WHERE id = $${values.length}`, ...values)
}

export function* countOf(table: 'watch' | 'channel' | 'maintenance', account: string): Script<number> {
  const kept = table === 'watch' ? 'AND deleted_us IS NULL' : ''
  return (yield* get<{ n: number }>(`SELECT count(*) n FROM ${table} WHERE account = $1 ${kept}`, account))!.n
}
