// A watch, a channel and an alert as they are stored, and a store in a directory of its own.
import { join } from 'node:path'
import pino from 'pino'
import type { NewNotification, Notification, StoredChannel } from '../../src/notify/notification.ts'
import type { WatchStore } from '../../src/watch/storage/create-watch-store.ts'
import type { Judged } from '../../src/watch/storage/feed-statements.ts'
import { openSqliteWatchStore } from '../../src/watch/storage/sqlite-store.ts'
import type { AlertChange, StoredAlert } from '../../src/watch/storage/watch-store.ts'
import type { StoredWatch, WatchSpec } from '../../src/watch/watch.ts'

export const ACCOUNT = 'acc_1'
export const silent = pino({ level: 'silent' })

export const openStore = (dir: string) => openSqliteWatchStore(join(dir, 'watches.sqlite'), silent)

/** What is due for all channels, at most `limit` for each. */
export async function dueOf(store: WatchStore, nowUs: number, limit: number): Promise<Notification[]> {
  const channels = (await store.dueChannels(nowUs)).sort()
  return (await Promise.all(channels.map((channel) => store.due(channel, nowUs, limit)))).flat()
}

/** What a commit of the judge stores: nothing but `over`. */
export const judgedOf = (over: Partial<Judged> = {}): Judged => ({
  ...{ judgedUs: 0, seedUs: undefined, seededUs: undefined, positions: [], state: [], dropped: [], changes: [] },
  ...{ passed: [], taken: new Map(), ...over },
})

export const specOf = (over: Partial<WatchSpec> = {}): WatchSpec => ({
  name: 'nightly',
  process: 'nightly',
  channels: [],
  meta: null,
  late: null,
  long: null,
  failed: null,
  metric: null,
  slow: null,
  remind: null,
  paused_until: null,
  ...over,
})

export const watchOf = (id: string, spec: Partial<WatchSpec> = {}, over: Partial<StoredWatch> = {}): StoredWatch => ({
  id,
  account: ACCOUNT,
  spec: specOf(spec),
  createdUs: 0,
  sinceUs: 0,
  badge: null,
  changed: {},
  ...over,
})

export const channelOf = (id: string, over: Partial<StoredChannel> = {}): StoredChannel => ({
  id,
  account: ACCOUNT,
  name: id,
  kind: 'webhook',
  target: 'http://127.0.0.1:1/',
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwAAAAAAAAAAA=',
  state: 'ok',
  confirm: null,
  last: null,
  settings: { members: {}, conditions: null, only_firing: false, delay: null },
  createdUs: 0,
  ...over,
})

export const alertOf = (id: string, watch: string, over: Partial<StoredAlert> = {}): StoredAlert => ({
  id,
  account: ACCOUNT,
  watch,
  instance: id,
  condition: 'late',
  process: 'nightly',
  meta: null,
  uid: null,
  startedUs: null,
  sinceUs: 1,
  resolvedUs: null,
  notifiedUs: null,
  remindUs: null,
  summary: `${id} is late`,
  identity: id,
  endedBy: null,
  episode: null,
  channels: null,
  acked: null,
  ...over,
})

export const notificationOf = (id: string, channel: string, alert = 'ale_1'): NewNotification => ({
  id,
  channel,
  body: {
    type: 'alert.firing',
    timestamp: '2026-11-21T03:10:00.000Z',
    data: {
      id: alert,
      watch: { id: 'wat_1', name: 'nightly' },
      condition: 'late',
      process: 'nightly <import>',
      meta: null,
      uid: null,
      since: '2026-11-21T03:10:00.000Z',
      started_at: null,
      resolved_at: null,
      ended_by: null,
      exception: null,
      usual_ms: null,
      note: null,
      summary: `${alert} is late`,
      url: 'https://stint.example/alerts',
    },
    facts: [['Process', 'nightly <import>']],
  },
})
/** Of the channel cha_1. */
export const typed = (id: string, type: NewNotification['body']['type'], alert?: string): NewNotification => {
  const { body, ...rest } = notificationOf(id, 'cha_1', alert)
  return { ...rest, body: { ...body, type } }
}

type Change<K extends AlertChange['kind']> = Extract<AlertChange, { kind: K }>

export const opened = (alert: StoredAlert, notifications: readonly NewNotification[] = []): Change<'open'> => ({
  ...{ kind: 'open', alert, watchSinceUs: 0, watchChanged: {}, notifications },
})

export const resolved = (
  id: string,
  resolvedUs: number,
  notifications: readonly NewNotification[] = [],
  endedBy: Change<'resolve'>['endedBy'] = 'event',
): Change<'resolve'> => ({ kind: 'resolve', id, resolvedUs, endedBy, summary: 'over', notifications })

export const reminded = (
  id: string,
  remindUs: number,
  ...notifications: readonly NewNotification[]
): Change<'remind'> => ({ kind: 'remind', id, remindUs, notifications })

/** Stores what happened to alerts. */
export const commit = (store: WatchStore, nowUs: number, ...changes: readonly AlertChange[]) =>
  store.commit(changes, nowUs)
