// Alerts that a person acknowledges or resolves, and that end because their watch is changed or deleted: each with its notification and its reason.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createManageAlerts } from '../../src/watch/manage/manage-alerts.ts'
import { createManageWatches } from '../../src/watch/manage/manage-watches.ts'
import type { WatchStore } from '../../src/watch/storage/create-watch-store.ts'
import { inMemoryDir } from '../support/temp-dir.ts'
import {
  ACCOUNT,
  alertOf,
  channelOf,
  commit,
  dueOf,
  notificationOf,
  opened,
  openStore,
  reminded,
  resolved,
  watchOf,
} from './watch-cast.ts'

const S = 1e6
const HOUR = 3600 * S
const NOW = Date.UTC(2026, 10, 21) * 1000
let store: WatchStore
let changed: string[]

const nowUs = () => NOW
const publicUrl = () => 'https://stint.example'
const onChanged = async (account: string) => void changed.push(account)
const alerts = () => createManageAlerts({ store, nowUs, publicUrl, unjudged: async () => [], onChanged })
const watches = (from = store) =>
  createManageWatches({ store: from, nowUs, publicUrl, maxRunUs: 24 * HOUR, isUnknown: () => false, onChanged })

beforeEach(async () => {
  store = openStore(inMemoryDir())
  changed = []
  await store.addChannel(channelOf('cha_1'), 9)
  const spec = { late: { every: '1h', grace: '5m' }, long: '30m', failed: { after: 1, exceptions: true } } as const
  await store.addWatch(watchOf('wat_1', { ...spec, channels: ['cha_1'] }), 9)
  const since = NOW - HOUR
  const fire = (id: string, over: object) => {
    const alert = alertOf(id, 'wat_1', { instance: id, sinceUs: since, ...over })
    return commit(store, NOW, opened(alert, [notificationOf(`m_${id}`, 'cha_1', id)]))
  }
  await fire('ale_late', { episode: { sinceUs: since, dueUs: since - 300 * S, silentUs: since - 300 * S - HOUR } })
  const run = { uid: 'r1', startedUs: NOW - 2 * HOUR }
  await fire('ale_long', { condition: 'long', ...run, episode: { sinceUs: since, ...run, limit: HOUR / 2 } })
  await fire('ale_failed', { condition: 'failed', episode: { sinceUs: since, figure: 1, cause: 'exception' } })
  const waiting = await dueOf(store, NOW, 99)
  await store.settle(waiting, { id: 'cha_1' }, NOW, 'delivered')
})
afterEach(() => store.close())

const firing = async () =>
  (await alerts().list(ACCOUNT, { state: 'firing', limit: 9 })).alerts.map(({ id }) => id).sort()
const sent = async () =>
  (await dueOf(store, NOW, 99)).map(({ body: { type, data } }) => [type, data.id, data.ended_by, data.summary])

test('an acknowledgement names who made it, keeps the first one, silences reminders, and can be undone', async () => {
  const { acknowledged } = await alerts().acknowledge(ACCOUNT, 'ale_late', 'ada@example.com')
  expect(acknowledged).toEqual({ by: 'ada@example.com', at: '2026-11-21T00:00:00.000Z' })
  expect((await alerts().acknowledge(ACCOUNT, 'ale_late', 'eve@example.com')).acknowledged?.by).toBe('ada@example.com')
  const remind = () => commit(store, NOW, reminded('ale_late', NOW + 1, notificationOf('m', 'cha_1')))
  await remind()
  expect(await sent()).toEqual([])
  expect(await firing()).toEqual(['ale_failed', 'ale_late', 'ale_long'])
  expect((await alerts().undoAcknowledge(ACCOUNT, 'ale_late')).acknowledged).toBeNull()
  await remind()
  expect(await sent()).toHaveLength(1)
  await expect(alerts().acknowledge('acc_2', 'ale_late', 'eve')).rejects.toMatchObject({ code: 'not_found' })
})

test('an alert that is resolved by hand says by whom, notifies its channels once, and is remembered', async () => {
  const { state, ended_by, summary, path } = await alerts().resolve(ACCOUNT, 'ale_long', 'ada@example.com')
  expect({ state, ended_by }).toEqual({ state: 'resolved', ended_by: 'person' })
  expect(summary).toEndWith('; resolved by ada@example.com')
  expect(path).toBe(`/#/alert?id=ale_long&account=${ACCOUNT}`)
  await alerts().resolve(ACCOUNT, 'ale_long', 'eve@example.com')
  expect(await sent()).toMatchObject([['alert.resolved', 'ale_long', 'person', expect.any(String)]])
  expect((await store.openAlerts(ACCOUNT)).map(({ id }) => id)).toContain('ale_long')
  expect(changed).toEqual([ACCOUNT])
})

test('an alert that has ended cannot be acknowledged, even if it ends meanwhile; the acknowledgement before it stays', async () => {
  const ended = { code: 'alert_ended', status: 409 }
  await alerts().resolve(ACCOUNT, 'ale_long', 'ada@example.com')
  await expect(alerts().acknowledge(ACCOUNT, 'ale_long', 'eve@example.com')).rejects.toMatchObject(ended)
  const racing = createManageAlerts({
    store: {
      ...store,
      async acknowledge(account, id, ...rest) {
        await alerts().resolve(account, id, 'ada@example.com')
        return store.acknowledge(account, id, ...rest)
      },
    },
    ...{ nowUs, publicUrl, unjudged: async () => [], onChanged },
  })
  await expect(racing.acknowledge(ACCOUNT, 'ale_failed', 'eve@example.com')).rejects.toMatchObject(ended)
  await alerts().acknowledge(ACCOUNT, 'ale_late', 'ada@example.com')
  await alerts().resolve(ACCOUNT, 'ale_late', 'ada@example.com')
  await expect(alerts().acknowledge(ACCOUNT, 'ale_late', 'eve@example.com')).rejects.toMatchObject(ended)
  expect((await alerts().undoAcknowledge(ACCOUNT, 'ale_late')).acknowledged?.by).toBe('ada@example.com')
})

test('an alert that expired is remembered, as the reason to fire may still be there', async () => {
  await commit(store, NOW, resolved('ale_late', NOW, [], 'expired'), resolved('ale_long', NOW))
  expect((await store.openAlerts(ACCOUNT)).map(({ id }) => id)).toEqual(['ale_late', 'ale_failed'])
})

test('a changed interval of reminders counts from the last notification', async () => {
  await watches().change(ACCOUNT, 'wat_1', { remind: '2h' })
  await commit(store, NOW, reminded('ale_late', NOW + HOUR)) // the last one was an hour ago
  await watches().change(ACCOUNT, 'wat_1', { remind: '90m' })
  expect((await store.alert(ACCOUNT, 'ale_late'))?.remindUs).toBe(NOW + HOUR / 2)
})

test('a watch whose pause a person ends counts from then on', async () => {
  const sinceUs = async () => (await store.watch(ACCOUNT, 'wat_1'))?.sinceUs
  await watches().change(ACCOUNT, 'wat_1', { paused_until: '2030-01-01T00:00:00Z' })
  expect(await sinceUs()).toBe(0)
  await watches().change(ACCOUNT, 'wat_1', { paused_until: null })
  expect(await sinceUs()).toBe(NOW)
})

test('changing one condition ends only its alerts, and only those that do not hold any more', async () => {
  await watches().change(ACCOUNT, 'wat_1', { late: { every: '1d' } })
  expect(await firing()).toEqual(['ale_failed', 'ale_long'])
  expect(await sent()).toMatchObject([['alert.resolved', 'ale_late', 'changed', expect.any(String)]])
  await watches().change(ACCOUNT, 'wat_1', { long: '1h' }) // the run is two hours old
  await watches().change(ACCOUNT, 'wat_1', { name: 'other', paused_until: '2030-01-01T00:00:00Z' })
  expect(await firing()).toEqual(['ale_failed', 'ale_long'])
  await watches().change(ACCOUNT, 'wat_1', { failed: { after: 1, exceptions: false } })
  await watches().change(ACCOUNT, 'wat_1', { long: null })
  expect(await firing()).toEqual([])
  expect((await sent()).map(([, id, why]) => `${id} ${why}`)).toEqual([
    'ale_late changed',
    'ale_failed changed',
    'ale_long changed',
  ])
})

test('a channel that is added is notified of what fires and is not acknowledged, and of its end', async () => {
  await store.addChannel(channelOf('cha_2'), 9)
  await alerts().acknowledge(ACCOUNT, 'ale_long', 'ada@example.com')
  await watches().change(ACCOUNT, 'wat_1', { channels: ['cha_1', 'cha_2'], failed: null })
  const to = async () =>
    (await dueOf(store, NOW, 99)).map(({ channel, body: { type, data } }) => [channel, type, data.id])
  expect(await to()).toEqual([
    ['cha_1', 'alert.resolved', 'ale_failed'],
    ['cha_2', 'alert.firing', 'ale_late'],
  ])
  await watches().change(ACCOUNT, 'wat_1', { channels: ['cha_2', 'cha_1'], name: 'again' })
  expect(await to()).toHaveLength(2)
  await alerts().resolve(ACCOUNT, 'ale_late', 'ada@example.com')
  expect((await to()).filter(([channel]) => channel === 'cha_2')).toEqual([
    ['cha_2', 'alert.firing', 'ale_late'],
    ['cha_2', 'alert.resolved', 'ale_late'],
  ])
})

test('a channel that is added to a paused watch is not notified', async () => {
  await store.addChannel(channelOf('cha_2'), 9)
  await watches().change(ACCOUNT, 'wat_1', { channels: ['cha_2'], paused_until: '2030-01-01T00:00:00Z' })
  expect(await sent()).toEqual([])
})

test('a run that ended by a changed limit may fire again', async () => {
  await watches().change(ACCOUNT, 'wat_1', { long: '3h' })
  const alert = alertOf('ale_again', 'wat_1', { instance: 'ale_long', condition: 'long', identity: 'ale_long' })
  const { changed: version } = (await store.watch(ACCOUNT, 'wat_1'))!
  await commit(store, NOW, { ...opened(alert), watchChanged: version })
  expect(await firing()).toContain('ale_again')
})

test('a changed watch and the ends of its alerts are one transaction', async () => {
  const commit = () => Promise.reject(new Error('killed'))
  await watches({ ...store, commit }).change(ACCOUNT, 'wat_1', { long: null })
  expect(await firing()).toEqual(['ale_failed', 'ale_late'])
})

test('an alert that begins while its watch is being deleted ends with it', async () => {
  const removeWatch: typeof store.removeWatch = async (...args) => {
    const begun = alertOf('ale_begun', 'wat_1', { instance: 'begun', sinceUs: NOW - S })
    await commit(store, NOW, opened(begun, [notificationOf('m_begun', 'cha_1', 'ale_begun')]))
    return store.removeWatch(...args)
  }
  await watches({ ...store, removeWatch }).remove(ACCOUNT, 'wat_1')
  expect(await firing()).toEqual([])
  expect(await sent()).toContainEqual(['alert.resolved', 'ale_begun', 'deleted', expect.any(String)])
})

test('a watch that looks at another process, or is deleted, ends its alerts; they stay in the list', async () => {
  await watches().change(ACCOUNT, 'wat_1', { process: 'night*' })
  expect(await firing()).toHaveLength(3)
  await watches().change(ACCOUNT, 'wat_1', { process: 'other' })
  expect(await firing()).toEqual([])
  await commit(store, NOW, { ...opened(alertOf('ale_new', 'wat_1', { sinceUs: NOW })), watchSinceUs: NOW })
  await watches().remove(ACCOUNT, 'wat_1')
  const { alerts: listed } = await alerts().list(ACCOUNT, { limit: 9 })
  expect(listed.map(({ ended_by, watch }) => `${watch.name} ${ended_by}`).sort()).toEqual([
    'nightly changed',
    'nightly changed',
    'nightly changed',
    'nightly deleted',
  ])
  expect(await watches().list(ACCOUNT)).toEqual([])
  await expect(watches().remove(ACCOUNT, 'wat_1')).rejects.toMatchObject({ code: 'not_found' })
})
