// The outbox against real HTTP receivers and the real store; only the clock is the test's.
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { Webhook } from 'standardwebhooks'
import type { CompleteBody } from '../../../src/notify/delivery/complete-body.ts'
import { createDeliver, type Deliver } from '../../../src/notify/delivery/deliver.ts'
import { DeliveryError } from '../../../src/notify/delivery/delivery-error.ts'
import { createOutbox } from '../../../src/notify/delivery/outbox.ts'
import type { StoredChannel } from '../../../src/notify/notification.ts'
import type { WatchStore } from '../../../src/watch/storage/create-watch-store.ts'
import { type Received, startReceiver } from '../../support/receiver.ts'
import { inMemoryDir } from '../../support/temp-dir.ts'
import { until } from '../../support/until.ts'
import {
  alertOf,
  channelOf,
  commit,
  notificationOf,
  opened,
  openStore,
  resolved,
  silent,
  typed,
  watchOf,
} from '../../watch/watch-cast.ts'

const receiver = startReceiver()
afterAll(receiver.close)
const received = receiver.requests
const url = (path: string) => receiver.url + path
const sent = () => received.map(({ headers }) => headers.get('webhook-id'))

let store: WatchStore
let now: number
/** From the time since which an alert fires to its notification. */
let alertSeconds: number[]
/** How long a receiver may take; a test whose receiver never answers makes it shorter. */
let timeoutMs: number
beforeEach(() => {
  timeoutMs = 10_000
  alertSeconds = []
  received.length = 0
  receiver.answer = () => new Response('ok')
  store = openStore(inMemoryDir())
  now = Date.now() * 1000
})

const outboxOf = (
  mayDeliver = () => true,
  deliver?: Deliver,
  isHeld = (_account: string) => false,
  complete: CompleteBody = async (_, body) => body,
) =>
  createOutbox({
    store,
    complete,
    isHeld,
    mayDeliver,
    deliver:
      deliver ??
      createDeliver({
        post: { allowPrivate: true, timeoutMs },
        publicUrl: () => 'https://stint.example',
        nowUs: () => now,
      }),
    nowUs: () => now,
    log: silent,
    meter: { delivered() {}, failed() {}, seconds() {}, alertSeconds: (s) => alertSeconds.push(s) },
  })

async function fill(channel: StoredChannel, n: number): Promise<void> {
  await store.addChannel(channel, 10)
  await store.addWatch(watchOf('wat_1'), 10)
  const changes = Array.from({ length: n }, (_, i) =>
    opened(alertOf(`ale_${i}`, 'wat_1'), [notificationOf(`msg_${i}`, channel.id, `ale_${i}`)]),
  )
  await commit(store, now, ...changes)
}

describe('a webhook', () => {
  test('is signed so that the published library of Standard Webhooks accepts it', async () => {
    const channel = channelOf('cha_1', { target: url('/hook') })
    await fill(channel, 1)
    await outboxOf().step()
    const [{ headers: sentHeaders, text: body }] = received as [Received]
    const headers = Object.fromEntries(sentHeaders)
    expect(new Webhook(channel.secret!).verify(body, headers)).toEqual(JSON.parse(body))
    expect(() => new Webhook('whsec_AAAA').verify(body, headers)).toThrow()
    expect(headers).toMatchObject({ 'webhook-id': 'msg_0', 'content-type': 'application/json' })
    const { facts: _, ...expected } = notificationOf('msg_0', 'cha_1', 'ale_0').body
    expect(JSON.parse(body)).toEqual(expected)
    expect(await store.outbox()).toEqual({ waiting: 0 })
    expect((await store.channel('cha_1'))?.last).toMatchObject({ ok: true, detail: '200 ok' })
    expect((await store.alert('acc_1', 'ale_0'))?.notifiedUs).toBe(now)
  })

  test('is retried with back-off and the same id until it is accepted', async () => {
    await fill(channelOf('cha_1', { target: url('/hook') }), 1)
    receiver.answer = () => new Response('broken', { status: 500 })
    const outbox = outboxOf()
    await outbox.step()
    await outbox.step()
    expect(received).toHaveLength(1)
    expect((await store.channel('cha_1'))?.last).toMatchObject({
      ok: false,
      detail: 'The receiver answered 500 broken',
    })
    now += 5e6
    await outbox.step()
    expect(received).toHaveLength(2)
    now += 5e6
    await outbox.step()
    expect(received).toHaveLength(2)
    now += 10e6
    receiver.answer = () => new Response(null, { status: 204 })
    await outbox.step()
    expect(sent()).toEqual(['msg_0', 'msg_0', 'msg_0'])
    expect(await store.outbox()).toEqual({ waiting: 0 })
  })

  test('gets the notifications of one alert in order, also when the first is retried', async () => {
    await fill(channelOf('cha_1', { target: url('/hook') }), 1)
    receiver.answer = () => new Response('broken', { status: 500 })
    const outbox = outboxOf()
    await outbox.step()
    receiver.answer = () => new Response('ok')
    const other = opened(alertOf('ale_other', 'wat_1'), [notificationOf('msg_other', 'cha_1', 'ale_other')])
    await commit(store, now, resolved('ale_0', now, [notificationOf('msg_end', 'cha_1')]), other)
    await outbox.step()
    now += 5e6
    await outbox.step()
    expect(sent()).toEqual(['msg_0', 'msg_other', 'msg_0', 'msg_end'])
  })

  test('is given up after 24 hours', async () => {
    await fill(channelOf('cha_1', { target: url('/hook') }), 1)
    receiver.answer = () => new Response(null, { status: 503 })
    const outbox = outboxOf()
    for (let hours = 0; hours < 30; hours++, now += 3600e6) await outbox.step()
    expect(received.length).toBeGreaterThan(20)
    expect(await store.outbox()).toEqual({ waiting: 0 })
    expect((await store.channel('cha_1'))?.last?.detail).toStartWith('Given up after 24 h.')
    expect((await store.alert('acc_1', 'ale_0'))?.notifiedUs).toBeNull()
  })

  test('that answers 410 is disabled and gets nothing more', async () => {
    await fill(channelOf('cha_1', { target: url('/gone') }), 3)
    receiver.answer = () => new Response(null, { status: 410 })
    const outbox = outboxOf()
    await outbox.step()
    now += 3600e6
    await outbox.step()
    expect(received).toHaveLength(1)
    expect((await store.channel('cha_1'))?.state).toBe('disabled')
    expect(await store.outbox()).toEqual({ waiting: 0 })
  })
})

test('channels of an account that is held are sent nothing until it is not', async () => {
  const channel = channelOf('cha_1', { target: url('/hook') })
  await fill(channel, 1)
  let isHeld = true
  const outbox = outboxOf(undefined, undefined, (account) => isHeld && account === channel.account)
  await outbox.step()
  expect(received).toHaveLength(0)
  isHeld = false
  await outbox.step()
  expect(received).toHaveLength(1)
})

test('an account sends at most 60 e-mails at once, over all of its channels', async () => {
  const channels = Array.from({ length: 7 }, (_, i) => channelOf(`cha_${i}`, { kind: 'email' }))
  for (const channel of channels) await store.addChannel(channel, 10)
  await store.addWatch(watchOf('wat_1'), 10)
  let mails = 0
  const outbox = outboxOf(undefined, async () => `${++mails}`)
  for (let i = 0; i < 10; i++) {
    const notifications = channels.map(({ id }) => notificationOf(`msg_${i} ${id}`, id, `ale_${i}`))
    await commit(store, now, opened(alertOf(`ale_${i}`, 'wat_1'), notifications))
    await outbox.step()
  }
  expect(mails).toBe(60)
})

test('a node that is stopped begins no further message', async () => {
  await fill(channelOf('cha_1', { target: url('/hook') }), 3)
  const outbox = outboxOf()
  const stops: Promise<void>[] = []
  receiver.answer = () => {
    stops.push(outbox.stop())
    return new Response('ok')
  }
  await outbox.step()
  await Promise.all(stops)
  expect([received.length, (await store.outbox()).waiting]).toEqual([1, 2])
})

test('the time until an alert is notified is that of its beginning, not of its end', async () => {
  await fill(channelOf('cha_1', { target: url('/hook') }), 1)
  const outbox = outboxOf()
  await outbox.step()
  await commit(store, now, resolved('ale_0', now, [typed('msg_end', 'alert.resolved', 'ale_0')]))
  await outbox.step()
  expect([received.length, alertSeconds.length]).toEqual([2, 1])
})

test('a broken channel with thousands of waiting notifications delays no other channel', async () => {
  await store.addChannel(channelOf('cha_2', { target: url('/fast') }), 10)
  await fill(channelOf('cha_1', { target: url('/broken') }), 2100)
  await store.commit([opened(alertOf('ale_x', 'wat_1'), [notificationOf('msg_x', 'cha_2')])], now)
  receiver.answer = ({ path }) => new Response(null, { status: path === '/broken' ? 500 : 200 })
  await outboxOf().step()
  expect(received.map(({ path }) => path).sort()).toEqual(['/broken', '/fast'])
})

test('many channels that do not answer leave a turn to the others', async () => {
  timeoutMs = 500
  await store.addWatch(watchOf('wat_1'), 10)
  const silentOnes = Array.from({ length: 20 }, (_, i) => `cha_${10 + i}`)
  for (const id of [...silentOnes, 'cha_9'])
    await store.addChannel(channelOf(id, { target: url(id === 'cha_9' ? '/fast' : '/slow') }), 50)
  const alerts = Array.from({ length: 3 }, (_, i) => `ale_${i}`)
  const sent = (alert: string, channel: string) => notificationOf(`msg_${alert}_${channel}`, channel, alert)
  const all = [...silentOnes, 'cha_9']
  const opens = alerts.map((id) => opened(alertOf(id, 'wat_1'), all.map((channel) => sent(id, channel)))) // biome-ignore format: a row
  await commit(store, now, ...opens)
  receiver.answer = ({ path }) => new Response(path === '/slow' ? new ReadableStream({ start() {} }) : 'ok')
  const outbox = outboxOf()
  await outbox.step()
  await outbox.step()
  expect(received.filter(({ path }) => path === '/fast')).toHaveLength(3)
})

test('a channel that answers slowly gives its turn to others', async () => {
  await fill(channelOf('cha_1', { target: url('/hook') }), 60)
  receiver.answer = () => {
    now += 6e6
    return new Response('ok')
  }
  const outbox = outboxOf()
  // eight at once, and one more while the turn lasts
  await outbox.step()
  expect(received.length).toBeWithin(8, 10)
  await outbox.step()
  expect(received.length).toBeWithin(16, 19)
})

test('a webhook gets up to eight alerts at once, and those of one alert in order', async () => {
  await fill(channelOf('cha_1', { target: url('/hook') }), 20)
  const ends = Array.from({ length: 20 }, (_, i) =>
    resolved(`ale_${i}`, now, [typed(`end_${i}`, 'alert.resolved', `ale_${i}`)]),
  )
  await commit(store, now, ...ends)
  let [open, most] = [0, 0]
  const openAlerts = new Set<string>()
  receiver.answer = async ({ text }) => {
    const { data, type } = JSON.parse(text)
    expect(openAlerts.has(data.id)).toBe(type === 'alert.resolved')
    if (type === 'alert.resolved') openAlerts.delete(data.id)
    most = Math.max(most, ++open)
    await new Promise(setImmediate)
    await until('eight are open, or no more follow', () => open === 8 || received.length === 1 || received.length > 32)
    open--
    if (type === 'alert.firing') openAlerts.add(data.id)
    return new Response('ok')
  }
  await outboxOf().step()
  expect([received.length, most]).toEqual([40, 8])
  expect(await store.outbox()).toEqual({ waiting: 0 })
})

test('of hundreds that wait only those are read that the rate limit lets through', async () => {
  await fill(channelOf('cha_1', { target: url('/hook') }), 250)
  const { due } = store
  const limits: number[] = []
  store = {
    ...store,
    due(channel, nowUs, limit) {
      limits.push(limit)
      return due(channel, nowUs, limit)
    },
  }
  const outbox = outboxOf()
  for (let i = 0; i < 3; i++) {
    await outbox.step()
    now += 1e6
  }
  expect(limits).toEqual([200, 10, 10])
  expect(received).toHaveLength(220)
})

test('a notification that was delivered while the outbox was read is not sent again', async () => {
  await fill(channelOf('cha_1', { target: url('/hook') }), 1)
  const { dueChannels } = store
  let whileRead: (() => Promise<void>) | undefined
  store = {
    ...store,
    async dueChannels(...args) {
      const channels = await dueChannels(...args)
      const other = whileRead
      whileRead = undefined
      await other?.()
      return channels
    },
  }
  const outbox = outboxOf()
  whileRead = () => outbox.step()
  await outbox.step()
  expect(received).toHaveLength(1)
})

describe('people', () => {
  test('get one digest when more than five alerts fire at once', async () => {
    await fill(channelOf('cha_1', { kind: 'slack', target: url('/slack') }), 200)
    await outboxOf().step()
    expect(received).toHaveLength(1)
    const { text } = JSON.parse(received[0]!.text)
    expect(text).toContain('*Firing*: ale_0 is late')
    expect(text).toContain('… and 170 more')
    expect(await store.outbox()).toEqual({ waiting: 0 })
  })

  test('get a digest for which nothing is looked up, and a single notification with what was looked up', async () => {
    let looks = 0
    const complete: CompleteBody = async (_, body) => {
      looks++
      return { ...body, data: { ...body.data, summary: 'looked up' } }
    }
    await fill(channelOf('cha_1', { kind: 'slack', target: url('/slack') }), 200)
    const outbox = outboxOf(undefined, undefined, undefined, complete)
    await outbox.step()
    expect([received.length, looks]).toEqual([1, 0])
    await commit(store, now, resolved('ale_0', now, [typed('end_0', 'alert.resolved', 'ale_0')]))
    await outbox.step()
    expect([received.length, looks]).toEqual([2, 1])
    expect(JSON.parse(received[1]!.text).text).toContain('looked up')
  })

  test('get a digest of what came while the rate limit was exhausted', async () => {
    await store.addChannel(channelOf('cha_1', { kind: 'ntfy', target: url('/topic') }), 10)
    await store.addWatch(watchOf('wat_1'), 10)
    const outbox = outboxOf()
    for (let i = 0; i < 20; i++) {
      await commit(store, now, opened(alertOf(`ale_${i}`, 'wat_1'), [notificationOf(`msg_${i}`, 'cha_1', `ale_${i}`)]))
      await outbox.step()
      now += 1e6
    }
    expect(received).toHaveLength(10)
    now += 30e6
    await outbox.step()
    expect(received).toHaveLength(11)
    expect(Object.fromEntries(received.at(-1)!.headers)).toMatchObject({
      title: '[Stint] 10 firing',
      priority: 'high',
      tags: 'rotating_light',
    })
    expect(await store.outbox()).toEqual({ waiting: 0 })
  })

  test('read Slack texts in which names are no markup', async () => {
    const channel = channelOf('cha_1', { kind: 'slack', target: url('/slack') })
    await store.addChannel(channel, 10)
    await store.addWatch(watchOf('wat_1'), 10)
    const { body, ...rest } = notificationOf('msg_0', 'cha_1')
    const notification = { ...rest, body: { ...body, data: { ...body.data, summary: '<!channel> *a* & b' } } }
    await commit(store, now, opened(alertOf('ale_0', 'wat_1'), [notification]))
    await outboxOf().step()
    expect(JSON.parse(received[0]!.text)).toEqual({
      text: '*Firing*: &lt;!channel&gt; *a* &amp; b <https://stint.example/alerts|Open>',
    })
  })
})

test('a node that lost its lease in the middle of a delivery sends nothing more', async () => {
  await fill(channelOf('cha_1', { target: url('/hook') }), 20)
  await outboxOf(() => received.length < 2).step()
  const { length } = received
  expect(length).toBeWithin(2, 10)
  expect(await store.outbox()).toMatchObject({ waiting: 20 - length })
  await outboxOf(() => false).step()
  expect(received).toHaveLength(length)
  await outboxOf().step()
  expect(sent().toSorted()).toEqual(Array.from({ length: 20 }, (_, i) => `msg_${i}`).toSorted())
})

describe('a notification that is refused', () => {
  const end = (id = 'ale_0') => commit(store, now, resolved(id, now, [typed(`end_${id}`, 'alert.resolved', id)]))

  const REFUSED = [
    { name: 'refuses the beginning again is not notified of the end', statuses: [400, 400], ids: ['msg_0'] },
    { name: 'takes the beginning now gets the end after it', statuses: [200, 200], ids: ['msg_0', 'end_ale_0'] },
    { name: 'cannot be reached now gets both later', statuses: [503, 200, 200], ids: ['msg_0', 'msg_0', 'end_ale_0'] },
  ]
  test.each(REFUSED)('at the end of its alert, a receiver that $name', async ({ statuses, ids }) => {
    await fill(channelOf('cha_1', { target: url('/hook') }), 1)
    receiver.answer = () => new Response('no', { status: 400 })
    const outbox = outboxOf()
    for (let i = 0; i < 3; i++, now += 30e6) await outbox.step()
    received.length = 0
    await end()
    const left = [...statuses]
    receiver.answer = () => new Response('', { status: left.shift() ?? 200 })
    for (let i = 0; i < 3; i++, now += 30e6) await outbox.step()
    expect(sent()).toEqual(ids)
    expect(await store.outbox()).toEqual({ waiting: 0 })
  })

  test.each([
    ['90', 90],
    ['90000', 3600],
  ])('waits as long as its receiver asks, at most an hour: %s', async (seconds, waits) => {
    await fill(channelOf('cha_1', { target: url('/hook') }), 1)
    receiver.answer = () => new Response('', { status: 429, headers: { 'retry-after': seconds } })
    const outbox = outboxOf()
    await outbox.step()
    now += (waits - 1) * 1e6
    await outbox.step()
    expect(received).toHaveLength(1)
    now += 1e6
    await outbox.step()
    expect(received).toHaveLength(2)
  })

  test('for good is dropped, and the next one is sent', async () => {
    await fill(channelOf('cha_1', { target: url('/hook') }), 2)
    const refusals = [new DeliveryError('code 550', { isPermanent: true })]
    const tried: string[] = []
    const outbox = outboxOf(undefined, async ({ id }) => {
      tried.push(id)
      const refusal = refusals.pop()
      if (refusal) throw refusal
      return '250'
    })
    await outbox.step()
    await outbox.step()
    expect(tried).toEqual(['msg_0', 'msg_1'])
    expect(await store.outbox()).toEqual({ waiting: 0 })
    expect((await store.alert('acc_1', 'ale_0'))?.notifiedUs).toBeNull()
  })

  test('PagerDuty: the incident of a watch is resolved with the last of the alerts that were sent', async () => {
    const members = { routing_key: 'R0123456789abcdefghijklmnopqrstu' }
    const settings = { ...channelOf('').settings, members }
    await fill(channelOf('cha_1', { kind: 'pagerduty', target: url('/v2/enqueue'), settings }), 2)
    // an alert of the same watch that this channel was not notified of
    await commit(store, now, opened(alertOf('ale_other', 'wat_1')))
    const outbox = outboxOf()
    const actions = () => received.map(({ text }) => JSON.parse(text).event_action)
    await outbox.step()
    expect(actions()).toEqual(['trigger'])
    await end('ale_0')
    await outbox.step()
    expect(actions()).toEqual(['trigger'])
    await end('ale_1')
    await outbox.step()
    expect(actions()).toEqual(['trigger', 'resolve'])
    expect(await store.outbox()).toEqual({ waiting: 0 })
  })
})

test('a held notification is sent when its time has come, and is then tried for another 24 hours', async () => {
  const settings = { ...channelOf('').settings, delay: '2d' }
  await fill(channelOf('cha_1', { target: url('/hook'), settings }), 1)
  const outbox = outboxOf()
  await outbox.step()
  now += 48 * 3600e6
  receiver.answer = () => new Response('', { status: 500 })
  await outbox.step()
  now += 3600e6
  receiver.answer = () => new Response('')
  await outbox.step()
  expect(received).toHaveLength(2)
  expect(await store.outbox()).toEqual({ waiting: 0 })
})
