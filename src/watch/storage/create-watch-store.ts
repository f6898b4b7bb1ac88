// The durable state of this room on SQLite or PostgreSQL: watches, channels and maintenances here, alerts in
// moving-statements.ts, the outbox in outbox-statements.ts. Invariants:
// * The state of an alert and the notifications about it change in one transaction.
// * A notification leaves the outbox in the transaction that records its delivery; its fixed id reveals repetitions.
// Times are µs since the epoch. If the database fails, methods reject without an effect.

import type { StoredMaintenance } from '../../notify/maintenance.ts'
import type { StoredChannel } from '../../notify/notification.ts'
import { countChanges } from '../../state/count-changes.ts'
import { all, insert, run, type Script, type SqlDatabase } from '../../state/database.ts'
import { type StoredWatch, toSpec } from '../watch.ts'
import { createFeedStatements } from './feed-statements.ts'
import { applyChange, createMovingStatements, dropDeleted } from './moving-statements.ts'
import { createOutboxStatements, dropWaiting } from './outbox-statements.ts'
import {
  countOf,
  fromChannel,
  fromMaintenance,
  fromWatch,
  list,
  one,
  type Row,
  selectChannel,
  toAlert,
  toChannel,
  toMaintenance,
  toWatch,
  updateChannel,
} from './rows.ts'
import type { AlertChange, StoredAlert } from './watch-store.ts'

export type WatchStore = ReturnType<typeof createWatchStore>

/** The changes of a watch's firing alerts, within the transaction that changes it. */
type ToChanges = (firing: readonly StoredAlert[]) => readonly AlertChange[]

/** A watch by account and id. */
const OWN = 'account = $1 AND id = $2 AND deleted_us IS NULL'
const OF_ACCOUNT = 'SELECT * FROM watch WHERE account = $1'

/** What the judge keeps for itself. */
const UNSEEN = new Set(['alive', 'blind', 'feed', 'watch_state', 'refused_time'])

export function createWatchStore(given: SqlDatabase) {
  const database = countChanges(given, UNSEEN)
  const { read, write } = database
  return {
    /** Grows with each change of a watch, an alert, a channel or a maintenance. */
    changes: database.changes,
    ...createMovingStatements(database),
    ...createOutboxStatements(database),
    ...createFeedStatements(database),
    ...createMaintenanceStatements(database),

    async watches(account?: string) {
      const [own, values] = account === undefined ? ['', []] : ['account = $1 AND', [account]]
      const found = await read(() => list(toWatch, `SELECT * FROM watch WHERE ${own} deleted_us IS NULL`, ...values))
      return found.sort((a, b) => byText(a.spec.name, b.spec.name) || byText(a.id, b.id))
    },
    /** Of all accounts. */
    countWatches: () => read(() => countAll()),
    watch: (account: string, id: string) => read(() => one(toWatch, `SELECT * FROM watch WHERE ${OWN}`, account, id)),
    watchByBadge: (badge: string) => read(() => one(toWatch, 'SELECT * FROM watch WHERE badge = $1', badge)),
    /** False when the account has `max` watches. */
    addWatch: (watch: StoredWatch, max: number) => write(() => add('watch', fromWatch(watch), max)),
    /** All but its badge. */
    putWatch: (watch: StoredWatch, nowUs: number, toChanges: ToChanges = () => []) =>
      write(function* () {
        yield* updateWatch(watch)
        for (const change of toChanges(yield* selectFiring(watch.id))) yield* applyChange(change, nowUs)
      }),
    async setBadge(account: string, id: string, badge: string | null) {
      const update = 'UPDATE watch SET badge = $1 WHERE account = $2 AND id = $3 AND deleted_us IS NULL'
      await write(() => run(update, badge, account, id))
    },
    /** Ends those of its alerts that fire. Its alerts stay in the list until they are pruned. */
    removeWatch: (account: string, id: string, toEnds: ToChanges, nowUs: number) =>
      write(function* () {
        const watch = yield* one(toWatch, `SELECT * FROM watch WHERE ${OWN}`, account, id)
        if (watch === undefined) return false
        for (const end of toEnds(yield* selectFiring(id))) yield* applyChange(end, nowUs)
        yield* run('UPDATE watch SET deleted_us = $1, badge = NULL WHERE id = $2', nowUs, id)
        // an earlier version, which does not know the column, has nothing to judge in it
        const { name, process } = watch.spec
        const spec = JSON.stringify(toSpec({ name, process, channels: [] }))
        yield* run('UPDATE watch SET spec = $1 WHERE id = $2', spec, id)
        yield* dropDeleted(id)
        return true
      }),
    /** The names of an account's watches, of deleted ones too. */
    async watchNames(account: string): Promise<ReadonlyMap<string, string>> {
      const found = await read(() => list(toWatch, OF_ACCOUNT, account))
      return new Map(found.map(({ id, spec }) => [id, spec.name]))
    },

    async channels(account: string) {
      const found = await read(() => list(toChannel, 'SELECT * FROM channel WHERE account = $1', account))
      return found.sort((a, b) => byText(a.name, b.name) || byText(a.id, b.id))
    },
    channel: (id: string) => read(() => selectChannel(id)),
    /** The pending channel with this hash. */
    channelToConfirm: (confirm: string) =>
      read(() => one(toChannel, "SELECT * FROM channel WHERE confirm = $1 AND state = 'pending'", confirm)),
    addChannel: (channel: StoredChannel, max: number) => write(() => add('channel', fromChannel(channel), max)),
    /** Without what signs webhooks. What waits for it is dropped unless its state is `ok`. */
    putChannel: (channel: StoredChannel) =>
      write(function* () {
        const { secret, settings } = (yield* selectChannel(channel.id)) ?? channel
        const { former: _, ...others } = channel.settings
        const signing = { settings: { ...others, ...(settings.former && { former: settings.former }) } }
        yield* updateChannel({ ...channel, ...signing, secret })
        if (channel.state !== 'ok') yield* dropWaiting(channel.id)
      }),
    /** What signs its webhooks; the one before it signs, too, until then. False: it is gone. */
    replaceSecret: (id: string, secret: string, untilUs: number) =>
      write(function* () {
        const channel = yield* selectChannel(id)
        if (channel === undefined) return false
        const former = { secret: channel.secret ?? '', untilUs }
        yield* updateChannel({ ...channel, secret, settings: { ...channel.settings, former } })
        return true
      }),
    /** Removes it from the watches that use it, too. */
    removeChannel: (account: string, id: string) =>
      write(function* () {
        if ((yield* run('DELETE FROM channel WHERE account = $1 AND id = $2', account, id)) === 0) return false
        for (const watch of yield* list(toWatch, OF_ACCOUNT, account)) {
          if (!watch.spec.channels.includes(id)) continue
          const channels = watch.spec.channels.filter((it) => it !== id)
          yield* updateWatch({ ...watch, spec: { ...watch.spec, channels } })
        }
        return true
      }),
    removeAccount: (account: string) =>
      write(function* () {
        for (const table of ['outbox', 'alert', 'watch', 'channel', 'maintenance', 'watch_state', 'refused_time'])
          yield* run(`DELETE FROM ${table} WHERE account = $1`, account)
      }),
    close: database.close,
  }
}

function* countAll(): Script<number> {
  const [row] = yield* all<{ n: number }>('SELECT count(*) n FROM watch WHERE deleted_us IS NULL')
  return Number(row!.n)
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

const selectFiring = (watch: string) =>
  list(toAlert, 'SELECT * FROM alert WHERE watch = $1 AND resolved_us IS NULL', watch)

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** A change makes the outbox check again which notifications it holds back. */
const createMaintenanceStatements = ({ read, write }: SqlDatabase) => ({
  maintenances: (account: string) =>
    read(() => list(toMaintenance, 'SELECT * FROM maintenance WHERE account = $1 ORDER BY created_us, id', account)),
  addMaintenance: (maintenance: StoredMaintenance, max: number) =>
    write(() => add('maintenance', fromMaintenance(maintenance), max)),
  /** False if it does not exist. What it held back may be sent from `nowUs` on. */
  putMaintenance: ({ id, account, spec }: StoredMaintenance, nowUs: number) =>
    write(function* () {
      const update = 'UPDATE maintenance SET spec = $1 WHERE id = $2 AND account = $3'
      return yield* lookAgain(yield* run(update, JSON.stringify(spec), id, account), account, nowUs)
    }),
  removeMaintenance: (account: string, id: string, nowUs: number) =>
    write(function* () {
      const remove = 'DELETE FROM maintenance WHERE id = $1 AND account = $2'
      return yield* lookAgain(yield* run(remove, id, account), account, nowUs)
    }),
})

function* lookAgain(changes: number, account: string, nowUs: number): Script<boolean> {
  if (changes > 0) yield* run('UPDATE outbox SET next_us = $1 WHERE account = $2 AND held = 1', nowUs, account)
  return changes > 0
}
