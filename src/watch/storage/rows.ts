// Converts database rows to the room's types, and holds the statements that both halves of the store use.
import { get, run, type Script } from '../../state/database.ts'
import type { Maintenance } from '../maintenance.ts'
import type { StoredWatch } from '../watch.ts'
import type { Alert, Channel, Notification } from './watch-store.ts'

export interface WatchRow {
  id: string
  account: string
  spec: string
  created_us: number
  since_us: number
  badge: string | null
  changed: string | null
}

export interface ChannelRow {
  id: string
  account: string
  name: string
  kind: string
  target: string
  secret: string | null
  state: string
  confirm: string | null
  last: string | null
  settings: string
  created_us: number
}

export interface MaintenanceRow {
  id: string
  account: string
  spec: string
  created_us: number
}

export interface AlertRow {
  seq: number
  id: string
  account: string
  watch: string
  instance: string
  condition: string
  process: string
  meta: string | null
  uid: string | null
  started_us: number | null
  since_us: number
  resolved_us: number | null
  notified_us: number | null
  remind_us: number | null
  summary: string
  identity: string | null
  ended_by: string | null
  episode: string | null
  channels: string | null
  acked_by: string | null
  acked_us: number | null
}

export interface OutboxRow {
  seq: number
  id: string
  account: string
  channel: string
  alert: string | null
  body: string
  created_us: number
  next_us: number
  attempts: number
  held: number
}

export const toWatch = ({ id, account, spec, created_us, since_us, badge, changed }: WatchRow): StoredWatch => ({
  id,
  account,
  spec: JSON.parse(spec),
  createdUs: created_us,
  sinceUs: since_us,
  badge,
  changed: parse(changed) ?? {},
})

/** NULL = null. */
const parse = (text: string | null) => (text === null ? null : JSON.parse(text))

export const toChannel = ({ created_us, last, kind, state, settings, ...row }: ChannelRow): Channel => ({
  ...row,
  kind: kind as Channel['kind'],
  state: state as Channel['state'],
  last: parse(last),
  settings: { members: {}, conditions: null, only_firing: false, delay: null, ...JSON.parse(settings) },
  createdUs: created_us,
})

export const toAlert = (row: AlertRow): Alert => ({
  id: row.id,
  account: row.account,
  watch: row.watch,
  instance: row.instance,
  condition: row.condition as Alert['condition'],
  process: row.process,
  meta: row.meta,
  uid: row.uid,
  startedUs: row.started_us,
  sinceUs: row.since_us,
  resolvedUs: row.resolved_us,
  notifiedUs: row.notified_us,
  remindUs: row.remind_us,
  summary: row.summary,
  identity: row.identity,
  endedBy: row.ended_by as Alert['endedBy'],
  episode: parse(row.episode),
  channels: parse(row.channels),
  acked: row.acked_by === null ? null : { by: row.acked_by, atUs: row.acked_us ?? 0 },
})

export const toNotification = ({ body, created_us, next_us, held, ...row }: OutboxRow): Notification => ({
  ...row,
  isHeld: held > 0,
  body: JSON.parse(body),
  createdUs: created_us,
  nextUs: next_us,
})

export const toMaintenance = ({ spec, created_us, ...row }: MaintenanceRow): Maintenance => ({
  ...row,
  spec: JSON.parse(spec),
  createdUs: created_us,
})

export function* selectChannel(id: string): Script<Channel | undefined> {
  const row = yield* get<ChannelRow>('SELECT * FROM channel WHERE id = $1', id)
  return row && toChannel(row)
}

export const updateChannel = ({ id, name, target, secret, state, confirm, last, settings }: Channel): Script<number> =>
  run(
    `UPDATE channel SET name = $1, target = $2, secret = $3, state = $4, confirm = $5, last = $6, settings = $7
     WHERE id = $8`,
    ...[name, target, secret, state, confirm, last && JSON.stringify(last), JSON.stringify(settings), id],
  )

export function* countOf(table: 'watch' | 'channel' | 'maintenance', account: string): Script<number> {
  const kept = table === 'watch' ? 'AND deleted_us IS NULL' : ''
  return (yield* get<{ n: number }>(`SELECT count(*) n FROM ${table} WHERE account = $1 ${kept}`, account))!.n
}
