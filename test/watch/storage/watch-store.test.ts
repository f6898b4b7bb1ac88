// The contract of the WatchStore, on SQLite and on a real PostgreSQL.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { WatchStore } from '../../../src/watch/storage/create-watch-store.ts'
import type { StoredAlert } from '../../../src/watch/storage/watch-store.ts'
import {
  ACCOUNT,
  alertOf,
  channelOf,
  commit,
  dueOf,
  judgedOf,
  notificationOf,
  opened,
  reminded,
  resolved,
  watchOf,
} from '../watch-cast.ts'
import { databases, OTHER } from './watch-databases.ts'

const NOW = 1_795_000_000_123_456

describe.each(databases)('watches in $database', ({ open }) => {
  let store: WatchStore
  beforeAll(async () => {
    store = await open()
  })
  afterAll(() => store.close())

  const waiting = async () => (await dueOf(store, Number.MAX_SAFE_INTEGER, 100)).map(({ id }) => id)
  const fire = async (id: string, watch: string, channel: string, over: Partial<StoredAlert> = {}) =>
    commit(store, NOW, opened(alertOf(id, watch, over), [notificationOf(`msg_${id}`, channel, id)]))

  test('a watch is read as it was written, ordered by name, and its account has at most `max`', async () => {
    const [b, a] = [
      watchOf('wat_b', { name: 'Ä', process: "it's 100 %; --" }, { badge: 'badge', createdUs: NOW, sinceUs: NOW }),
      watchOf('wat_a', { name: 'B' }),
    ]
    expect([await store.addWatch(b, 2), await store.addWatch(a, 2)]).toEqual([true, true])
    expect(await store.addWatch(watchOf('wat_c'), 2)).toBe(false)
    expect(await store.addWatch(watchOf('wat_o', {}, { account: OTHER }), 2)).toBe(true)
    expect(await store.watches(ACCOUNT)).toEqual([a, b])
    expect((await store.watches()).map(({ id }) => id).sort()).toEqual(['wat_a', 'wat_b', 'wat_o'])
    expect(await store.watch(ACCOUNT, 'wat_b')).toEqual(b)
    expect(await store.watch(OTHER, 'wat_b')).toBeUndefined()
    expect((await store.watchByBadge('badge'))?.id).toBe('wat_b')
    await store.putWatch({ ...b, badge: 'stale', sinceUs: NOW + 1 }, NOW) // a change does not touch the badge
    expect(await store.watchByBadge('badge')).toMatchObject({ id: 'wat_b', sinceUs: NOW + 1 })
    await store.setBadge(OTHER, 'wat_b', null)
    expect((await store.watchByBadge('badge'))?.id).toBe('wat_b')
    await store.setBadge(ACCOUNT, 'wat_b', null)
    expect(await store.watch(ACCOUNT, 'wat_b')).toEqual({ ...b, badge: null, sinceUs: NOW + 1 })
    expect(await store.watchByBadge('badge')).toBeUndefined()
    await store.putWatch({ ...a, spec: { ...a.spec, slow: undefined as never } }, NOW) // older than that condition
    expect(await store.watch(ACCOUNT, 'wat_a')).toEqual(a)
    expect(await store.removeWatch(OTHER, 'wat_b', () => [], NOW)).toBe(false)
    expect(await store.removeWatch(ACCOUNT, 'wat_b', () => [], NOW)).toBe(true)
    expect(await store.removeWatch(ACCOUNT, 'wat_b', () => [], NOW)).toBe(false)
  })

  test('two that add the last watch or channel at once do not both succeed', async () => {
    const before = (await store.watches(OTHER)).length
    const both = await Promise.all(
      ['wat_1st', 'wat_2nd'].map((id) => store.addWatch(watchOf(id, {}, { account: OTHER }), before + 1)),
    )
    expect(both.sort()).toEqual([false, true])
  })

  test('a channel is confirmed once, by its own token, and its deletion removes it from the watches', async () => {
    const channel = channelOf('cha_mail', { kind: 'email', state: 'pending', confirm: 'hash', secret: null })
    const other = channelOf('cha_other', { last: { atUs: NOW, ok: false, detail: 'no' } })
    expect([await store.addChannel(channel, 2), await store.addChannel(other, 2)]).toEqual([true, true])
    expect(await store.addChannel(channelOf('cha_3'), 2)).toBe(false)
    expect(await store.channels(ACCOUNT)).toEqual([channel, other])
    const body = () => notificationOf('msg', 'cha').body
    expect(await store.confirmChannel('other hash', NOW, body)).toBeUndefined()
    expect(await store.confirmChannel('hash', NOW, body)).toEqual({ ...channel, state: 'ok', confirm: null })
    expect(await store.confirmChannel('hash', NOW, body)).toBeUndefined()
    await store.putWatch(watchOf('wat_a', { channels: ['cha_mail', 'cha_other'] }), NOW)
    expect(await store.removeChannel(OTHER, 'cha_mail')).toBe(false)
    expect(await store.removeChannel(ACCOUNT, 'cha_mail')).toBe(true)
    expect((await store.watch(ACCOUNT, 'wat_a'))?.spec.channels).toEqual(['cha_other'])
  })

  test('an alert and its notifications are stored together, once for each instance, and not for a watch that changed', async () => {
    await store.addChannel(channelOf('cha_off', { state: 'disabled' }), 10)
    await store.addChannel(channelOf('cha_theirs', { account: OTHER }), 10)
    const alert = alertOf('ale_1', 'wat_a', { instance: 'one', meta: 'm', uid: 'u', startedUs: NOW, sinceUs: NOW })
    const notifications = ['cha_other', 'cha_off', 'cha_theirs', 'cha_gone'].map((id) =>
      notificationOf(`msg_${id}`, id),
    )
    await commit(store, NOW, opened(alert, notifications))
    expect(await store.alert(ACCOUNT, 'ale_1')).toEqual({ ...alert, channels: ['cha_other'] })
    expect(await store.alert(OTHER, 'ale_1')).toBeUndefined()
    expect(await waiting()).toEqual(['msg_cha_other'])
    await fire('ale_again', 'wat_a', 'cha_other', { instance: 'one' })
    await commit(store, NOW, { ...opened(alertOf('ale_old', 'wat_a')), watchSinceUs: 5 })
    await fire('ale_gone', 'wat_gone', 'cha_other')
    expect((await store.alerts(ACCOUNT, { limit: 10 })).map(({ id }) => id)).toEqual(['ale_1'])
  })

  test('a notification is delivered once: its row, the channel and the alert change together', async () => {
    const [row] = await dueOf(store, NOW, 10)
    expect(row).toMatchObject({ id: 'msg_cha_other', alert: 'ale_1', createdUs: NOW, nextUs: NOW, attempts: 0 })
    expect(await dueOf(store, NOW - 1, 10)).toEqual([])
    expect(await store.outbox()).toEqual({ waiting: 1, oldestUs: NOW })
    const failure = { atUs: NOW, ok: false, detail: '503' }
    await store.postpone([row!], NOW + 9, failure, false)
    expect(await dueOf(store, NOW, 10)).toEqual([])
    expect((await dueOf(store, NOW + 9, 10))[0]).toMatchObject({ id: 'msg_cha_other', attempts: 1 })
    expect((await store.channel('cha_other'))?.last).toEqual(failure)
    const last = { atUs: NOW + 10, ok: true, detail: '200' }
    await store.settle([row!], { id: 'cha_other', last }, NOW + 10, 'delivered')
    expect((await store.channel('cha_other'))?.last).toEqual(last)
    expect((await store.alert(ACCOUNT, 'ale_1'))?.notifiedUs).toBe(NOW + 10)
    expect(await store.outbox()).toEqual({ waiting: 0 })
  })

  test('an alert is reminded and resolved only while it fires, and one resolved by hand is remembered', async () => {
    await commit(store, NOW, reminded('ale_1', NOW + 60))
    expect((await store.alert(ACCOUNT, 'ale_1'))?.remindUs).toBe(NOW + 60)
    expect(await store.countFiring()).toEqual(new Map([[ACCOUNT, 1]]))
    expect(await store.countFiring(OTHER)).toEqual(new Map())
    const over = notificationOf('msg_over', 'cha_other', 'ale_1')
    await commit(store, NOW, resolved('ale_1', NOW + 70, [over]))
    await commit(store, NOW, resolved('ale_1', NOW + 80, [notificationOf('m', 'cha_other')]))
    await commit(store, NOW, reminded('ale_1', 1, over))
    expect(await store.alert(ACCOUNT, 'ale_1')).toMatchObject({ resolvedUs: NOW + 70, summary: 'over' })
    expect(await waiting()).toEqual(['msg_over'])
    await fire('ale_2', 'wat_a', 'cha_other')
    await commit(store, NOW, resolved('ale_2', NOW + 1, [], 'person'))
    await fire('ale_3', 'wat_a', 'cha_other')
    const ids = async (page: object) => (await store.alerts(ACCOUNT, { limit: 10, ...page })).map(({ id }) => id)
    expect(await ids({})).toEqual(['ale_3', 'ale_2', 'ale_1'])
    expect(await ids({ state: 'firing' })).toEqual(['ale_3'])
    expect(await ids({ state: 'resolved', before: 'ale_2' })).toEqual(['ale_1'])
    expect(await ids({ before: 'ale_3', limit: 1 })).toEqual(['ale_2'])
    expect(await ids({ before: 'ale_3', process: 'nightly' })).toEqual(['ale_2', 'ale_1'])
    expect(await ids({ process: 'other' })).toEqual([])
    expect((await store.openAlerts(ACCOUNT)).map(({ id }) => id)).toEqual(['ale_2', 'ale_3'])
    await store.prune(NOW + 71)
    expect(await ids({})).toEqual(['ale_3', 'ale_2'])
  })

  test('a disabled channel loses what waits for it, a deleted account everything', async () => {
    const [row] = await dueOf(store, Number.MAX_SAFE_INTEGER, 1)
    await store.settle([row!], { id: 'cha_other', state: 'disabled' }, NOW, 'dropped')
    expect(await waiting()).toEqual([])
    expect((await store.alert(ACCOUNT, 'ale_3'))?.notifiedUs).toBeNull()
    await store.removeAccount(ACCOUNT)
    expect([await store.watches(ACCOUNT), await store.channels(ACCOUNT)]).toEqual([[], []])
    expect((await store.judged()).state.filter(({ account }) => account === ACCOUNT)).toEqual([])
    expect((await store.watches(OTHER)).length).toBeGreaterThan(0)
  })

  test('many changes at once are all stored, names and summaries with any character too', async () => {
    await store.addWatch(watchOf('wat_many'), 10)
    await store.addChannel(channelOf('cha_many'), 10)
    const odd = 'a\u0000b\u{1f980}\\\'"$1 ?'
    const changes = Array.from({ length: 40 }, (_, i) =>
      opened(alertOf(`ale_m${i}`, 'wat_many', { summary: odd }), [notificationOf(`msg_m${i}`, 'cha_many')]),
    )
    await commit(store, NOW, ...changes)
    expect((await store.countFiring(ACCOUNT)).get(ACCOUNT)).toBe(40)
    expect((await store.outbox()).waiting).toBe(40)
    const [{ summary }] = (await store.alerts(ACCOUNT, { limit: 1 })) as [StoredAlert]
    expect(summary.replace('\uFFFD', '\0')).toBe(odd)
  })

  test('signs of life and downtimes are kept', async () => {
    await store.noteAlive({ aliveUs: NOW + 1, blind: [{ fromUs: 5, toUs: NOW }] })
    await store.noteAlive({ aliveUs: NOW + 2, blind: [{ fromUs: 5, toUs: NOW - 1 }] })
    expect(await store.alive()).toEqual({ aliveUs: NOW + 2, blind: [{ fromUs: 5, toUs: NOW }] })
  })

  test('what was judged brings a sign of life along, which never goes back', async () => {
    for (const aliveUs of [NOW + 9, NOW + 8, undefined]) {
      await store.commitJudged(judgedOf({ aliveUs }), NOW)
      expect((await store.alive()).aliveUs).toBe(NOW + 9)
    }
  })

  test('positions, memory and alerts are stored together, and what is omitted is named with its reason', async () => {
    await store.addWatch(watchOf('wat_j'), 10)
    const of = (id: string, over: Partial<StoredAlert> = {}) => opened(alertOf(id, 'wat_j', over))
    const position = { segment: 1, offset: 2, seq: 3 }
    const known = { node: 4, spool: 'points', position, knownUs: 5 } as const
    const row = (state: string | null, name = '["job",""]') => ({ account: ACCOUNT, name, state })
    const first = { judgedUs: NOW, seedUs: 7, positions: [known], state: [row('a'), row('b', '["x",""]')] }
    expect(await store.commitJudged(judgedOf({ ...first, changes: [of('ale_j1')] }), NOW)).toEqual([])
    expect(await store.feedPositions(4)).toEqual([known])
    expect(await store.judged()).toMatchObject({ judgedUs: NOW, seedUs: 7 })
    const changes = [
      of('ale_j2', { identity: 'ale_j1' }),
      { ...of('ale_j3'), watchSinceUs: 9 },
      of('ale_j4', { instance: 'ale_j1' }),
    ]
    const again = judgedOf({ judgedUs: NOW + 1, seededUs: 7, state: [row('c'), row(null, '["x",""]')], changes })
    expect((await store.commitJudged(again, NOW)).map(({ alert, why }) => [alert.id, why])).toEqual([
      ['ale_j2', 'known'],
      ['ale_j3', 'outdated'],
      ['ale_j4', 'outdated'],
    ])
    const { judgedUs, seedUs, state } = await store.judged()
    expect([judgedUs, seedUs, state]).toEqual([NOW + 1, undefined, [row('c')]])
    await store.commitJudged(judgedOf({ dropped: [ACCOUNT] }), NOW)
    expect((await store.judged()).state).toEqual([])
  })

  test('a block is taken in parts, is read once, and is not doubled by a repeated hand-over', async () => {
    const fed = { node: 1, spool: 'points', position: { segment: 0, offset: 9, seq: 2 }, knownUs: 9 } as const
    const records = [
      [5, 'a'],
      [6, 'b'],
    ] as const
    await store.addBlock(fed, records)
    await store.addBlock(fed, records)
    const [block] = (await store.blocks([])).blocks
    expect(block).toMatchObject({ node: 1, spool: 'points', records, taken: 0 })
    expect((await store.blocks([block!.seq])).blocks).toEqual([])
    await store.commitJudged(judgedOf({ taken: new Map([[block!.seq, 1]]) }), NOW)
    expect((await store.blocks([])).blocks).toMatchObject([{ taken: 1 }])
    await store.commitJudged(judgedOf({ passed: [block!.seq] }), NOW)
    expect((await store.blocks([])).blocks).toEqual([])
    await store.noteSkipped(4)
    await store.noteSkipped(8)
    expect(await store.seedUs()).toBe(4)
  })
})
