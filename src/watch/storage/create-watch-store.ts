// The WatchStore on SQLite or PostgreSQL: watches, channels and maintenances here, alerts in moving-statements.ts, the
// outbox in outbox-statements.ts.
import { all, get, insert, run, type Script, type SqlDatabase } from '../../state/database.ts'
import { type StoredWatch, toSpec } from '../watch.ts'
import { applyChange, createMovingStatements, dropDeleted } from './moving-statements.ts'
import { createOutboxStatements, dropWaiting } from './outbox-statements.ts'
import {
  countOf,
  fromChannel,
  fromMaintenance,
  fromWatch,
  type Row,
  selectChannel,
  toAlert,
  toChannel,
  toMaintenance,
  toWatch,
  updateChannel,
} from './rows.ts'
import { createUnjudgedStatements } from './unjudged-statements.ts'
import type { Alert, WatchStore } from './watch-store.ts'

/** A watch by account and id. */
const OWN = 'account = $1 AND id = $2 AND deleted_us IS NULL'

export function createWatchStore(database: SqlDatabase): WatchStore {
  const { read, write } = database
  return {
    ...createMovingStatements(database),
    ...createOutboxStatements(database),
    ...createUnjudgedStatements(database),
    ...createMaintenanceStatements(database),

    watches: async (account) => {
      const rows = await read(() =>
        account === undefined
          ? all<Row>('SELECT * FROM watch WHERE deleted_us IS NULL')
          : all<Row>('SELECT * FROM watch WHERE account = $1 AND deleted_us IS NULL', account),
      )
      return rows.map(toWatch).sort((a, b) => byText(a.spec.name, b.spec.name) || byText(a.id, b.id))
    },
    watch: async (account, id) =>
      maybe(await read(() => get<Row>(`SELECT * FROM watch WHERE ${OWN}`, account, id)), toWatch),
    watchByBadge: async (badge) =>
      maybe(await read(() => get<Row>('SELECT * FROM watch WHERE badge = $1', badge)), toWatch),
    addWatch: (watch, max) => write(() => add('watch', fromWatch(watch), max)),
    putWatch: (watch, nowUs, toChanges = () => []) =>
      write(function* () {
        yield* updateWatch(watch)
        for (const change of toChanges(yield* selectFiring(watch.id))) yield* applyChange(change, nowUs)
      }),
    async setBadge(account, id, badge) {
      const update = 'UPDATE watch SET badge = $1 WHERE account = $2 AND id = $3 AND deleted_us IS NULL'
      await write(() => run(update, badge, account, id))
    },
    removeWatch: (account, id, toEnds, nowUs) =>
      write(function* () {
        const row = yield* get<Row>(`SELECT * FROM watch WHERE ${OWN}`, account, id)
        if (row === undefined) return false
        for (const end of toEnds(yield* selectFiring(id))) yield* applyChange(end, nowUs)
        yield* run('UPDATE watch SET deleted_us = $1, badge = NULL WHERE id = $2', nowUs, id)
        // an earlier version, which does not know the column, has nothing to judge in it
        const { name, process } = toWatch(row).spec
        const spec = JSON.stringify(toSpec({ name, process, channels: [] }))
        yield* run('UPDATE watch SET spec = $1 WHERE id = $2', spec, id)
        yield* dropDeleted(id)
        return true
      }),
    async watchNames(account) {
      const rows = await read(() => all<Row>('SELECT * FROM watch WHERE account = $1', account))
      return new Map(rows.map(toWatch).map(({ id, spec }) => [id, spec.name]))
    },

    channels: async (account) => {
      const rows = await read(() => all<Row>('SELECT * FROM channel WHERE account = $1', account))
      return rows.map(toChannel).sort((a, b) => byText(a.name, b.name) || byText(a.id, b.id))
    },
    channel: (id) => read(() => selectChannel(id)),
    channelToConfirm: async (confirm) => {
      const select = "SELECT * FROM channel WHERE confirm = $1 AND state = 'pending'"
      return maybe(await read(() => get<Row>(select, confirm)), toChannel)
    },
    addChannel: (channel, max) => write(() => add('channel', fromChannel(channel), max)),
    putChannel: (channel) =>
      write(function* () {
        yield* updateChannel(channel)
        if (channel.state !== 'ok') yield* dropWaiting(channel.id)
      }),
    removeChannel: (account, id) =>
      write(function* () {
        if ((yield* run('DELETE FROM channel WHERE account = $1 AND id = $2', account, id)) === 0) return false
        for (const row of yield* all<Row>('SELECT * FROM watch WHERE account = $1', account)) {
          const watch = toWatch(row)
          if (!watch.spec.channels.includes(id)) continue
          const channels = watch.spec.channels.filter((it) => it !== id)
          yield* updateWatch({ ...watch, spec: { ...watch.spec, channels } })
        }
        return true
      }),
    removeAccount: (account) =>
      write(function* () {
        for (const table of ['outbox', 'alert', 'watch', 'channel', 'maintenance', 'progress', 'unjudged'])
          yield* run(`DELETE FROM ${table} WHERE account = $1`, account)
      }),
    close: database.close,
  }
}

/** False when its account has `max` of them. */
function* add(table: 'watch' | 'channel' | 'maintenance', row: Row, max: number): Script<boolean> {
  if ((yield* countOf(table, String(row.account))) >= max) return false
  yield* insert(table, row)
  return true
}

/** Without its badge, which changes by itself. */
const updateWatch = ({ id, spec, sinceUs, changed }: StoredWatch): Script<number> =>
  run(
    'UPDATE watch SET spec = $1, since_us = $2, changed = $3 WHERE id = $4',
    ...[JSON.stringify(spec), sinceUs, JSON.stringify(changed), id],
  )

function* selectFiring(watch: string): Script<Alert[]> {
  return (yield* all<Row>('SELECT * FROM alert WHERE watch = $1 AND resolved_us IS NULL', watch)).map(toAlert)
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
const maybe = <Row, T>(row: Row | undefined, map: (row: Row) => T): T | undefined =>
  row === undefined ? undefined : map(row)

type OfMaintenances = 'maintenances' | 'addMaintenance' | 'putMaintenance' | 'removeMaintenance'

/** A change makes the outbox check again which notifications it holds back. */
function createMaintenanceStatements({ read, write }: SqlDatabase): Pick<WatchStore, OfMaintenances> {
  return {
    async maintenances(account) {
      const select = 'SELECT * FROM maintenance WHERE account = $1 ORDER BY created_us, id'
      return (await read(() => all<Row>(select, account))).map(toMaintenance)
    },
    addMaintenance: (maintenance, max) => write(() => add('maintenance', fromMaintenance(maintenance), max)),
    putMaintenance: ({ id, account, spec }, nowUs) =>
      write(function* () {
        const update = 'UPDATE maintenance SET spec = $1 WHERE id = $2 AND account = $3'
        return yield* lookAgain(yield* run(update, JSON.stringify(spec), id, account), account, nowUs)
      }),
    removeMaintenance: (account, id, nowUs) =>
      write(function* () {
        const remove = 'DELETE FROM maintenance WHERE id = $1 AND account = $2'
        return yield* lookAgain(yield* run(remove, id, account), account, nowUs)
      }),
  }
}

function* lookAgain(changes: number, account: string, nowUs: number): Script<boolean> {
  if (changes > 0) yield* run('UPDATE outbox SET next_us = $1 WHERE account = $2 AND held = 1', nowUs, account)
  return changes > 0
}
