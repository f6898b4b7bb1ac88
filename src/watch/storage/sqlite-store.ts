// The WatchStore in one SQLite file under DATA_DIR.

import type { Logger } from '../../log.ts'
import { openSqlite } from '../../state/open-sqlite.ts'
import type { StoredWatch } from '../watch.ts'
import { migrations } from './migrations.ts'
import { type ChannelRow, toChannel, toWatch, type WatchRow } from './rows.ts'
import { createAlertStatements } from './sqlite-alerts.ts'
import type { Channel, WatchStore } from './watch-store.ts'

/** 'StnW'. */
const APPLICATION_ID = 0x53746e57

/** Throws an Error that tells the operator the fault of the file and what to do. */
export function openSqliteWatchStore(path: string, log: Logger): WatchStore {
  const { db, write, close } = openSqlite({
    path,
    what: 'watches',
    applicationId: APPLICATION_ID,
    migrations,
    withoutIt: 'the watches and channels of every account',
    log,
  })

  const watchesOf = db.query<WatchRow, [string | null]>(
    "SELECT * FROM watch WHERE ?1 IS NULL OR account = ?1 ORDER BY spec ->> 'name', id",
  )
  const oneWatch = db.query<WatchRow, [string, string]>('SELECT * FROM watch WHERE account = ? AND id = ?')
  const badgeWatch = db.query<WatchRow, [string]>('SELECT * FROM watch WHERE badge = ?')
  const insertWatch = db.query<null, [string, string, string, number, number, string | null, number]>(
    'INSERT INTO watch SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE (SELECT count(*) FROM watch WHERE account = ?2) < ?7',
  )
  const updateWatch = db.query<null, [string, number, string | null, string]>(
    'UPDATE watch SET spec = ?, since_us = ?, badge = ? WHERE id = ?',
  )
  const deleteWatch = db.query<null, [string, string]>('DELETE FROM watch WHERE account = ? AND id = ?')

  const channelsOf = db.query<ChannelRow, [string]>('SELECT * FROM channel WHERE account = ? ORDER BY name, id')
  const oneChannel = db.query<ChannelRow, [string]>('SELECT * FROM channel WHERE id = ?')
  const insertChannel = db.query<null, (string | number | null)[]>(
    `INSERT INTO channel SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10
     WHERE (SELECT count(*) FROM channel WHERE account = ?2) < ?11`,
  )
  const updateChannel = db.query<null, (string | null)[]>(
    'UPDATE channel SET name = ?, target = ?, secret = ?, state = ?, confirm = ?, last = ? WHERE id = ?',
  )
  const deleteChannel = db.query<null, [string, string]>('DELETE FROM channel WHERE account = ? AND id = ?')
  const confirmedChannel = db.query<ChannelRow, [string]>(
    "UPDATE channel SET state = 'ok', confirm = NULL WHERE confirm = ? AND state = 'pending' RETURNING *",
  )

  const putChannel = (channel: Channel) => {
    const last = channel.last === null ? null : JSON.stringify(channel.last)
    updateChannel.run(channel.name, channel.target, channel.secret, channel.state, channel.confirm, last, channel.id)
  }
  const putWatch = ({ id, spec, sinceUs, badge }: StoredWatch) =>
    void updateWatch.run(JSON.stringify(spec), sinceUs, badge, id)

  return {
    ...createAlertStatements(db, write, { oneChannel: (id) => maybe(oneChannel.get(id), toChannel), putChannel }),

    watches: async (account) => watchesOf.all(account ?? null).map(toWatch),
    watch: async (account, id) => maybe(oneWatch.get(account, id), toWatch),
    watchByBadge: async (badge) => maybe(badgeWatch.get(badge), toWatch),
    addWatch: async ({ id, account, spec, createdUs, sinceUs, badge }, max) =>
      write(() => insertWatch.run(id, account, JSON.stringify(spec), createdUs, sinceUs, badge, max).changes === 1),
    putWatch: async (watch) => write(() => putWatch(watch)),
    removeWatch: async (account, id) => write(() => deleteWatch.run(account, id).changes > 0),

    channels: async (account) => channelsOf.all(account).map(toChannel),
    channel: async (id) => maybe(oneChannel.get(id), toChannel),
    addChannel: async (channel, max) => {
      const { id, account, name, kind, target, secret, state, confirm, last, createdUs } = channel
      const row = [
        id,
        account,
        name,
        kind,
        target,
        secret,
        state,
        confirm,
        last && JSON.stringify(last),
        createdUs,
        max,
      ]
      return write(() => insertChannel.run(...row).changes === 1)
    },
    putChannel: async (channel) => write(() => putChannel(channel)),
    removeChannel: async (account, id) =>
      write(() => {
        if (deleteChannel.run(account, id).changes === 0) return false
        for (const watch of watchesOf.all(account).map(toWatch)) {
          if (!watch.spec.channels.includes(id)) continue
          const channels = watch.spec.channels.filter((it) => it !== id)
          putWatch({ ...watch, spec: { ...watch.spec, channels } })
        }
        return true
      }),
    confirmChannel: async (confirm) => write(() => maybe(confirmedChannel.get(confirm), toChannel)),

    removeAccount: async (account) =>
      write(() => {
        for (const table of ['outbox', 'alert', 'watch', 'channel', 'progress'])
          db.query(`DELETE FROM ${table} WHERE account = ?`).run(account)
      }),
    close: async () => close(),
  }
}

const maybe = <Row, T>(row: Row | null, map: (row: Row) => T): T | undefined => (row === null ? undefined : map(row))
