import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { MaintenanceSpec, StoredMaintenance } from '../../../src/notify/maintenance.ts'
import type { ChannelSettings, StoredChannel } from '../../../src/notify/notification.ts'
import type { WatchStore } from '../../../src/watch/storage/create-watch-store.ts'
import {
  ACCOUNT,
  alertOf,
  channelOf,
  commit,
  dueOf,
  opened,
  reminded,
  resolved,
  typed,
  watchOf,
} from '../watch-cast.ts'
import { databases, OTHER } from './watch-databases.ts'

const NOW = 1_795_000_000_000_000
const MINUTE = 60e6
const EVER = Number.MAX_SAFE_INTEGER

const at = (us: number) => new Date(us / 1000).toISOString()
const maintenanceOf = (
  spec: Partial<MaintenanceSpec> = {},
  over: Partial<StoredMaintenance> = {},
): StoredMaintenance => ({
  id: 'mnt_1',
  account: ACCOUNT,
  spec: { process: 'nightly*', from: at(NOW - MINUTE), to: at(NOW + 30 * MINUTE), repeat: null, ...spec },
  createdUs: NOW,
  ...over,
})

describe.each(databases)('the outbox in $database', ({ open }) => {
  let store: WatchStore
  beforeAll(async () => {
    store = await open()
  })
  beforeEach(async () => {
    for (const account of [ACCOUNT, OTHER]) await store.removeAccount(account)
    await store.addWatch(watchOf('wat_1'), 9)
  })
  afterAll(() => store.close())

  const channel = async (settings: Partial<ChannelSettings> = {}): Promise<StoredChannel> => {
    const made = channelOf('cha_1', { settings: { ...channelOf('').settings, ...settings } })
    await store.addChannel(made, 9)
    return made
  }
  const fire = (nowUs = NOW, over = {}) =>
    commit(store, nowUs, opened(alertOf('ale_1', 'wat_1', over), [typed('msg_fires', 'alert.firing')]))
  const remind = (nowUs: number) =>
    commit(store, nowUs, reminded('ale_1', nowUs, typed(`msg_reminds_${nowUs}`, 'alert.reminder')))
  const end = (nowUs: number) => commit(store, nowUs, resolved('ale_1', nowUs, [typed('msg_ends', 'alert.resolved')]))
  const due = async (nowUs: number) => (await dueOf(store, nowUs, 9)).map(({ id }) => id)
  /** What may be sent at that time, after another look at what is held back. */
  const sendable = async (to: StoredChannel, nowUs: number) => {
    const rows = await dueOf(store, nowUs, 9)
    const free = rows.filter(({ isHeld }) => !isHeld)
    const held = rows.filter(({ isHeld }) => isHeld)
    return [...free, ...(await store.release(to, held, nowUs))].map(({ id }) => id)
  }

  test('notifications outlive their watch and its alerts', async () => {
    await channel()
    await fire()
    expect(await store.removeWatch(ACCOUNT, 'wat_1', () => [], NOW)).toBe(true)
    expect(await store.watches(ACCOUNT)).toEqual([])
    const [row] = await dueOf(store, NOW, 9)
    expect(row).toMatchObject({ id: 'msg_fires', isHeld: false })
    await store.settle([row!], { id: 'cha_1' }, NOW, 'delivered')
    expect(await store.outbox()).toEqual({ waiting: 0 })
  })

  test('the end of an alert reaches each channel that its beginning or a reminder reached, and no other', async () => {
    const one = await channel()
    await fire()
    await store.addChannel(channelOf('cha_2'), 9)
    const reminder = { ...typed('msg_reminds', 'alert.reminder'), channel: 'cha_2' }
    await commit(store, NOW, reminded('ale_1', NOW, reminder))
    expect((await store.alert(ACCOUNT, 'ale_1'))!.channels).toEqual(['cha_1', 'cha_2'])
    // the beginning is refused for good, dropped with its channel's state, or delivered
    const [row] = await dueOf(store, NOW, 1)
    await store.settle([row!], { id: 'cha_1' }, NOW, 'dropped')
    expect((await store.alert(ACCOUNT, 'ale_1'))!.channels).toEqual(['cha_2'])
    await commit(store, NOW, opened(alertOf('ale_2', 'wat_1'), [typed('msg_2', 'alert.firing')]))
    await store.putChannel({ ...one, state: 'disabled' })
    expect((await store.alert(ACCOUNT, 'ale_2'))!.channels).toEqual([])
    await store.putChannel(one)
    await commit(store, NOW, opened(alertOf('ale_3', 'wat_1'), [typed('msg_3', 'alert.firing')]))
    const delivered = (await dueOf(store, NOW, 9)).find(({ id }) => id === 'msg_3')!
    await store.settle([delivered], { id: 'cha_1' }, NOW, 'delivered')
    await store.putChannel({ ...one, state: 'disabled' })
    expect((await store.alert(ACCOUNT, 'ale_3'))!.channels).toEqual(['cha_1'])
  })

  test('the last attempt to send each notification is kept with its alert, and goes with it', async () => {
    await channel()
    await fire()
    const about = async (alert = 'ale_1') => {
      const { sent, waiting } = await store.notificationsAbout(alert)
      return {
        sent: sent.map(({ id, type, channel: { name }, last }) => [id, type, name, last.ok, last.detail].join(' ')),
        waiting: waiting.map(({ id }) => id),
      }
    }
    expect(await about()).toEqual({ sent: [], waiting: ['msg_fires'] })
    const [row] = await dueOf(store, NOW, 9)
    await store.postpone([row!], NOW + MINUTE, { atUs: NOW, ok: false, detail: '500 no' }, false)
    expect(await about()).toEqual({ sent: ['msg_fires alert.firing cha_1 false 500 no'], waiting: ['msg_fires'] })
    const last = { atUs: NOW + MINUTE, ok: true, detail: '204' }
    await store.settle([row!], { id: 'cha_1', last }, NOW + MINUTE, 'delivered')
    expect(await about()).toEqual({ sent: ['msg_fires alert.firing cha_1 true 204'], waiting: [] })
    expect(await about('ale_2')).toEqual({ sent: [], waiting: [] })
    await store.removeChannel(ACCOUNT, 'cha_1')
    expect((await about()).sent).toHaveLength(1)
    await store.removeAccount(ACCOUNT)
    expect(await about()).toEqual({ sent: [], waiting: [] })
  })

  test('the first notification of a channel is no reminder, and a held one is not followed by an end', async () => {
    const made = await channel()
    await commit(store, NOW, opened(alertOf('ale_1', 'wat_1')))
    await store.addMaintenance(maintenanceOf(), 9)
    await remind(NOW)
    await end(NOW + MINUTE)
    expect(await sendable(made, NOW + 60 * MINUTE)).toEqual([])
    const later = NOW + 60 * MINUTE
    await commit(store, later, opened(alertOf('ale_2', 'wat_1')))
    for (const id of ['msg_first', 'msg_second'])
      await commit(store, later, reminded('ale_2', 0, typed(id, 'alert.reminder')))
    expect((await dueOf(store, EVER, 9)).map(({ body: { type } }) => type)).toEqual(['alert.firing', 'alert.reminder'])
  })

  test('a channel gets only alerts of its conditions, and no ends if it wants none', async () => {
    await channel({ conditions: ['failed', 'long'] })
    await fire()
    await end(NOW)
    expect(await due(EVER)).toEqual([])
    await store.removeChannel(ACCOUNT, 'cha_1')
    await channel({ conditions: ['late'], only_firing: true })
    await commit(store, NOW, opened(alertOf('ale_2', 'wat_1'), [typed('msg_2', 'alert.firing')]))
    await commit(store, NOW, resolved('ale_2', NOW, [typed('msg_2_ends', 'alert.resolved')]))
    expect(await due(EVER)).toEqual(['msg_2'])
  })

  test('a delayed channel is notified of what still fires, and of its end', async () => {
    const to = await channel({ delay: '15m' })
    await fire()
    expect([await due(NOW + 15 * MINUTE - 1), (await store.outbox()).waiting]).toEqual([[], 0])
    await remind(NOW + 10 * MINUTE)
    expect(await sendable(to, NOW + 15 * MINUTE)).toEqual(['msg_fires'])
    await end(NOW + 16 * MINUTE)
    expect(await due(NOW + 16 * MINUTE)).toEqual(['msg_fires', 'msg_ends'])
  })

  test('what ended or was acknowledged between two looks at the outbox is not sent', async () => {
    const to = await channel({ delay: '15m' })
    await fire()
    const acknowledged = await dueOf(store, NOW + 15 * MINUTE, 9)
    await store.acknowledge(ACCOUNT, 'ale_1', { by: 'me', atUs: NOW }, NOW + 15 * MINUTE)
    expect(await store.release(to, acknowledged, NOW + 15 * MINUTE)).toEqual([])
    await store.acknowledge(ACCOUNT, 'ale_1', null, NOW + 15 * MINUTE)
    const ended = await dueOf(store, NOW + 15 * MINUTE, 9)
    expect(ended).toHaveLength(1)
    await end(NOW + 15 * MINUTE)
    expect(await store.release(to, ended, NOW + 15 * MINUTE)).toEqual([])
    expect(await due(EVER)).toEqual([])
  })

  test.each(['disabled', 'pending'] as const)('a channel that becomes %s loses what waits for it', async (state) => {
    const to = await channel({ delay: '15m' })
    await fire()
    await store.putChannel({ ...to, name: 'renamed' })
    expect(await due(EVER)).toEqual(['msg_fires'])
    await store.putChannel({ ...to, state })
    expect(await due(EVER)).toEqual([])
  })

  test('no change that was begun before undoes the replacement of a secret', async () => {
    const known = await channel()
    const replace = (secret: string) => store.replaceSecret('cha_1', secret, NOW + MINUTE)
    expect(await Promise.all([replace('whsec_1'), replace('whsec_2')])).toEqual([true, true])
    await store.putChannel({ ...known, name: 'renamed' })
    const { name, secret, settings } = (await store.channel('cha_1'))!
    // whichever came first
    expect([name, ...[secret, settings.former?.secret].sort()]).toEqual(['renamed', 'whsec_1', 'whsec_2'])
    expect(await store.replaceSecret('cha_gone', 'whsec_3', NOW)).toBe(false)
  })

  test('a delayed channel is not notified of what was over when it became known', async () => {
    await channel({ delay: '15m' })
    await fire(NOW, { resolvedUs: NOW - 1 })
    expect(await due(EVER)).toEqual([])
  })

  test('a maintenance holds back what fires, until its end', async () => {
    const to = await channel()
    expect(await store.addMaintenance(maintenanceOf(), 9)).toBe(true)
    await fire()
    await remind(NOW + MINUTE)
    expect(await due(NOW + 30 * MINUTE - 1)).toEqual([])
    expect(await sendable(to, NOW + 30 * MINUTE)).toEqual(['msg_fires'])
    expect((await dueOf(store, NOW + 30 * MINUTE, 9))[0]).toMatchObject({ isHeld: false, createdUs: NOW + 30 * MINUTE })
  })

  test('what fired and ended within a maintenance is not notified', async () => {
    await channel()
    await store.addMaintenance(maintenanceOf(), 9)
    await fire()
    await end(NOW + MINUTE)
    expect(await due(EVER)).toEqual([])
  })

  test('the end of an alert that was notified before a maintenance is notified after it, without the reminders', async () => {
    const to = await channel()
    await fire(NOW - 2 * MINUTE)
    await store.settle(await dueOf(store, NOW, 9), { id: 'cha_1' }, NOW, 'delivered')
    await store.addMaintenance(maintenanceOf(), 9)
    await remind(NOW)
    await end(NOW + MINUTE)
    expect(await due(NOW + 29 * MINUTE)).toEqual([])
    expect(await sendable(to, NOW + 30 * MINUTE)).toEqual(['msg_ends'])
  })

  test('a maintenance that is moved or deleted releases what it held back', async () => {
    const to = await channel()
    await store.addMaintenance(maintenanceOf(), 9)
    await fire()
    const later = maintenanceOf({ to: at(NOW + 60 * MINUTE) })
    expect(await store.putMaintenance(later, NOW + MINUTE)).toBe(true)
    expect(await sendable(to, NOW + MINUTE)).toEqual([])
    expect(await due(NOW + 59 * MINUTE)).toEqual([])
    expect(await store.removeMaintenance(OTHER, 'mnt_1', NOW)).toBe(false)
    expect(await store.removeMaintenance(ACCOUNT, 'mnt_1', NOW + 2 * MINUTE)).toBe(true)
    expect(await sendable(to, NOW + 2 * MINUTE)).toEqual(['msg_fires'])
  })

  test('a maintenance of another account or process holds nothing back', async () => {
    await channel()
    await store.addMaintenance(maintenanceOf({}, { account: OTHER }), 9)
    await store.addMaintenance(maintenanceOf({ process: 'nightly' }, { id: 'mnt_2' }), 9)
    expect((await store.maintenances(OTHER)).map(({ id }) => id)).toEqual(['mnt_1'])
    expect(await store.addMaintenance(maintenanceOf({}, { id: 'mnt_3' }), 1)).toBe(false)
    await fire()
    expect(await due(NOW)).toEqual(['msg_fires'])
  })

  test('the end of an alert does not wait for the retry of its beginning', async () => {
    await channel()
    await fire()
    await store.postpone(await dueOf(store, NOW, 9), NOW + 60 * MINUTE, undefined, false)
    await end(NOW + MINUTE)
    expect(await due(NOW + MINUTE)).toEqual(['msg_fires', 'msg_ends'])
  })
})
