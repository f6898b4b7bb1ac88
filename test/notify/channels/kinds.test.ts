// Each kind of channel against a receiver that checks the request by its vendor's documentation, over real HTTP.
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { createDeliver } from '../../../src/notify/delivery/deliver.ts'
import type { NotificationBody, StoredChannel } from '../../../src/notify/notification.ts'
import { CHANNEL_KINDS, type ChannelKind } from '../../../src/wire/channel-kinds.ts'
import type { ChannelMembers } from '../../../src/wire/channels.ts'
import { startReceiver } from '../../support/receiver.ts'
import { channelOf, notificationOf } from '../../watch/watch-cast.ts'

interface Sent {
  readonly path: string
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: whatever was sent
  readonly json: any
}
const received: Sent[] = []
let answer = () => new Response('ok')
const receiver = startReceiver(({ method, path, headers, text }) => {
  const isJson = headers.get('content-type') === 'application/json'
  received.push({ path, headers, json: isJson ? JSON.parse(text) : text })
  return method === 'POST' ? answer() : new Response(null, { status: 405 })
})
const { url } = receiver
beforeEach(() => {
  received.length = 0
  answer = () => new Response('ok')
})
afterAll(receiver.close)

const deliver = createDeliver({
  post: { allowPrivate: true, timeoutMs: 10_000 },
  publicUrl: () => 'https://stint.example',
  nowUs: () => 1_795_000_000_000_000,
})

const kindOf = (kind: ChannelKind, target: string, members: ChannelMembers = {}): StoredChannel =>
  channelOf('cha_1', { kind, target, settings: { ...channelOf('').settings, members } })

const bodyOf = (over: Partial<NotificationBody> = {}, summary = 'nightly [x](http://evil) @everyone <b> is late') => {
  const { body } = notificationOf('msg_1', 'cha_1')
  const facts: NotificationBody['facts'] = [
    ['Process', 'nightly <import> *&* _x_'],
    ['Exception', 'ValueError: `boom` & <@U1>'],
  ]
  return { ...body, facts, ...over, data: { ...body.data, summary, ...over.data } }
}
const firing = bodyOf()
const resolved = bodyOf({ type: 'alert.resolved' })
const send = (channel: StoredChannel, bodies: readonly NotificationBody[], isStillFiring = true) =>
  deliver({ channel, id: 'msg_1', bodies, isStillFiring })
const many = Array.from({ length: 200 }, (_, i) => bodyOf({}, `job ${i} ${'x'.repeat(200)} is late`))

describe('discord', () => {
  const channel = kindOf('discord', `${url}/api/webhooks/12345/s3cr3t-t0ken`)
  test('gets an embed in which names mention nobody and are no markup', async () => {
    answer = () => new Response(null, { status: 204 })
    expect(await send(channel, [firing])).toBe('204')
    const [{ path, json }] = received as [Sent]
    expect(path).toBe('/api/webhooks/12345/s3cr3t-t0ken')
    expect(json.allowed_mentions).toEqual({ parse: [] })
    const [embed] = json.embeds
    expect(embed).toMatchObject({ url: 'https://stint.example/alerts', timestamp: '2026-11-18T11:06:40.000Z' })
    expect(embed.title).toStartWith('Firing: nightly [x](http://evil) @everyone')
    expect(embed.fields).toContainEqual({
      name: 'Process',
      value: 'nightly \\<import\\> \\*&\\* \\_x\\_',
      inline: true,
    })
    await send(channel, [resolved])
    expect(received[1]!.json.embeds[0].color).not.toBe(embed.color)
  })
  test('gets no empty field, which it refuses', async () => {
    const [fact] = firing.facts
    await send(channel, [{ ...firing, facts: [['Run', ''], fact!, ['Meta', ' ']] }])
    expect(received[0]!.json.embeds[0].fields).toHaveLength(1)
  })
  test('gets a digest within the limits of an embed', async () => {
    await send(channel, many)
    const [embed] = received[0]!.json.embeds
    expect(embed.title).toBe('200 firing')
    expect(embed.title.length + embed.description.length).toBeLessThanOrEqual(6000)
    expect(embed.description.length).toBeLessThanOrEqual(4096)
    expect(embed.fields).toEqual([])
  })
})

describe('teams', () => {
  const channel = kindOf(
    'teams',
    `${url}/workflows/1/triggers/manual/paths/invoke?api-version=2016-06-01&sig=s3cr3tsig`,
  )
  const cardOf = ({ json }: Sent) => {
    expect(json.type).toBe('message')
    expect(json.attachments).toHaveLength(1)
    const [{ contentType, contentUrl, content }] = json.attachments
    expect([contentType, contentUrl]).toEqual(['application/vnd.microsoft.card.adaptive', null])
    expect([content.type, content.version]).toEqual(['AdaptiveCard', '1.4'])
    return content
  }
  test('gets an adaptive card with the facts and a button', async () => {
    answer = () => new Response(null, { status: 202 })
    expect(await send(channel, [firing])).toBe('202')
    expect(received[0]!.path).toEndWith('sig=s3cr3tsig')
    const { body, actions } = cardOf(received[0]!)
    expect(body[0]).toMatchObject({ type: 'TextBlock', color: 'Attention', wrap: true })
    expect(body[0].text).toContain('nightly \\[x\\]\\(http://evil\\)')
    expect(body[1].type).toBe('FactSet')
    expect(body[1].facts[1]).toEqual({ title: 'Exception', value: 'ValueError: \\`boom\\` & \\<\\@U1\\>' })
    expect(actions).toEqual([{ type: 'Action.OpenUrl', title: 'Open in Stint', url: 'https://stint.example/alerts' }])
  })
  test('gets a digest below 28 KB', async () => {
    await send(channel, many)
    expect(JSON.stringify(received[0]!.json).length).toBeLessThan(28_000)
    expect(cardOf(received[0]!).body.every((block: { type: string }) => block.type === 'TextBlock')).toBe(true)
  })
})

describe('telegram', () => {
  const channel = kindOf('telegram', url, { token: '123456:AAsecretsecret', chat: '-1001234' })
  test('gets a message in HTML in which names are no tags', async () => {
    answer = () => Response.json({ ok: true, result: { message_id: 1 } })
    await send(channel, [firing])
    const [{ path, json }] = received as [Sent]
    expect(path).toBe('/bot123456:AAsecretsecret/sendMessage')
    expect(json).toMatchObject({ chat_id: '-1001234', parse_mode: 'HTML', link_preview_options: { is_disabled: true } })
    expect(json.text).toContain('Process: nightly &lt;import&gt; *&amp;* _x_')
    expect(json.text).toContain('<a href="https://stint.example/alerts">Open in Stint</a>')
    expect(json.text.replace(/<\/?(b|a)( href="[^"<>]*")?>/g, '')).not.toMatch(/[<>]/)
  })
  test('gets a digest of at most 4096 characters', async () => {
    await send(channel, many)
    expect(received[0]!.json.text.length).toBeLessThanOrEqual(4096)
  })
  test('does not show its token when the request fails or the answer repeats it', async () => {
    answer = () => Response.json({ ok: false, description: 'bot123456:AAsecretsecret not found' }, { status: 404 })
    const failure = await send(channel, [firing]).catch((error) => error)
    expect(failure.message).toContain('404')
    expect(failure.message).not.toContain('secretsecret')
    expect(failure.reason).toMatchObject({ isRefused: true, isGone: false })
  })
})

describe('pagerduty', () => {
  const key = 'R0123456789abcdefghijklmnopqrstu'
  const channel = kindOf('pagerduty', `${url}/v2/enqueue`, { routing_key: key })
  const accepted = () => Response.json({ status: 'success', message: 'Event processed' }, { status: 202 })
  test('gets a trigger whose incident is the watch', async () => {
    answer = accepted
    await send(channel, [firing])
    expect(received).toHaveLength(1)
    const [{ path, json }] = received as [Sent]
    expect(path).toBe('/v2/enqueue')
    expect(json).toMatchObject({
      routing_key: key,
      event_action: 'trigger',
      dedup_key: 'stint-wat_1',
      payload: { source: firing.data.process, severity: 'error', class: 'late', group: 'nightly' },
      links: [{ href: 'https://stint.example/alerts', text: 'Open in Stint' }],
    })
    expect(json.payload.summary.length).toBeLessThanOrEqual(1024)
    expect(Date.parse(json.payload.timestamp)).not.toBeNaN()
    expect(json.payload.custom_details.Exception).toContain('boom')
  })
  test('gets a storm as one event, and no resolve while other alerts of the watch fire', async () => {
    answer = accepted
    await send(channel, many)
    expect(received.map(({ json }) => json.event_action)).toEqual(['trigger'])
    expect(received[0]!.json.payload.summary).toBe('200 firing')
    await send(channel, [resolved], true)
    expect(received).toHaveLength(1)
    await send(channel, [resolved], false)
    expect(received[1]!.json).toEqual({ routing_key: key, event_action: 'resolve', dedup_key: 'stint-wat_1' })
  })
  test('an alert that is over already leaves no incident open', async () => {
    await send(channel, [firing, resolved], false)
    expect(received.map(({ json }) => [json.event_action, json.payload?.severity])).toEqual([
      ['trigger', 'info'],
      ['resolve', undefined],
    ])
  })
})

test('a webhook carries its own headers beside the signature', async () => {
  const headers = { Authorization: 'Bearer s3cr3t-t0ken', 'X-Tenant': 'a' }
  await send(kindOf('webhook', `${url}/hook`, { headers }), [firing])
  expect(Object.fromEntries(received[0]!.headers)).toMatchObject({
    authorization: 'Bearer s3cr3t-t0ken',
    'x-tenant': 'a',
  })
  expect(received[0]!.headers.get('webhook-signature')).toStartWith('v1,')
})

test('a secret that was replaced signs until its day is over', async () => {
  const webhookUntil = (untilUs: number) => {
    const channel = kindOf('webhook', `${url}/hook`)
    return {
      ...channel,
      secret: 'whsec_bmV3',
      settings: { ...channel.settings, former: { secret: 'whsec_b2xk', untilUs } },
    }
  }
  await send(webhookUntil(Number.MAX_SAFE_INTEGER), [firing])
  await send(webhookUntil(0), [firing])
  const signatures = received.map(({ headers }) => headers.get('webhook-signature')!.split(' '))
  expect(signatures.map(({ length }) => length)).toEqual([2, 1])
})

test('a message of ntfy has at most 4,000 bytes and whole characters', async () => {
  await send(kindOf('ntfy', `${url}/topic`), Array(40).fill(bodyOf({}, `${'ü'.repeat(200)} has failed`)))
  const [{ json }] = received as [Sent]
  expect(Buffer.byteLength(json)).toBeWithin(3_990, 4_001)
  expect(json).toEndWith('…')
  expect(json).not.toContain('\ufffd')
})

test('ntfy gets its text, title, link and access token', async () => {
  await send(kindOf('ntfy', `${url}/topic`, { token: 'tk_secret' }), [bodyOf({}, 'nächtlich is late')])
  const [{ headers, json }] = received as [Sent]
  expect(Object.fromEntries(headers)).toMatchObject({
    authorization: 'Bearer tk_secret',
    priority: 'high',
    click: 'https://stint.example/alerts',
    title: `=?UTF-8?B?${Buffer.from('[Stint] Firing: nächtlich is late').toString('base64')}?=`,
  })
  expect(json).toContain('Process: nightly <import>')
})

const SECRET = 'Zs3cr3tZ'
const addressed: Record<Exclude<ChannelKind, 'email'>, [target: string, members?: ChannelMembers]> = {
  webhook: [`/h?key=${SECRET}`, { headers: { 'X-Key': SECRET } }],
  slack: [`/services/${SECRET}`],
  ntfy: ['/t', { token: SECRET }],
  discord: [`/api/webhooks/1/${SECRET}`],
  teams: [`/w?sig=${SECRET}`],
  telegram: ['', { token: `1:${SECRET}`, chat: '1' }],
  pagerduty: ['/v2/enqueue', { routing_key: SECRET }],
}
const posting = CHANNEL_KINDS.filter((kind) => kind !== 'email')

test.each(posting)('%s never posts to a private address, and its errors hold no secret', async (kind) => {
  const guarded = createDeliver({ post: { allowPrivate: false }, publicUrl: () => '', nowUs: () => 0 })
  const [path, members] = addressed[kind]
  const message = { channel: kindOf(kind, url + path, members), id: 'm', bodies: [firing], isStillFiring: true }
  await expect(guarded(message)).rejects.toThrow(/NOTIFY_PRIVATE/)
  expect(received).toEqual([])
  answer = () => new Response(`you sent ${SECRET} to ${path}`, { status: 500 })
  const failure = await deliver(message).catch((error) => error)
  expect(failure.message).toStartWith('The receiver answered 500')
  expect(JSON.stringify([failure.message, failure.stack])).not.toContain(SECRET)
})
