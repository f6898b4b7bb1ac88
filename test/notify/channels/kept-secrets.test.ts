// A secret that a channel keeps is sent only to the server that it was given for, and a viewer sees no address that
// may hold one. Over the API of the real service.
import { afterAll, beforeEach, expect, test } from 'bun:test'
import { CHANNEL_KINDS, channelKind } from '../../../src/wire/channel-kinds.ts'
import { useApp } from '../../support/app.ts'
import { createCaller, signInAt } from '../../support/caller.ts'
import { enter, join } from '../../support/people.ts'
import { startReceiver } from '../../support/receiver.ts'

const SECRET = 's3cr3tQQs3cr3tQQs3cr3tQQs3cr3tQQ'
const BOT = `1:${SECRET}`
const seen: string[] = []
const receiver = startReceiver(({ path, headers, text }) => {
  seen.push(JSON.stringify([path, [...headers], text]))
  return new Response(path)
})
const stranger = `${receiver.url}/`

afterAll(receiver.close)
beforeEach(() => void seen.splice(0))

const app = await useApp({ env: { NOTIFY_PRIVATE: 'true' } })
const { secret: key } = await app.rooms.accounts.keys.create(app.account, 'manage', ['manage'])
const manager = createCaller(app.url, { key })
const { call: ask } = manager

/** Each kind with a secret besides its address: a channel, the pointer to its secret, and another value of the secret. */
const KINDS: [created: Record<string, unknown>, pointer: string, hidden: object, fresh: object][] = [
  [
    { kind: 'webhook', url: 'https://h.example/x', headers: { Authorization: `Bearer ${SECRET}`, 'X-B': 'b' } },
    '/headers',
    { headers: { Authorization: '…', 'X-New': '1' } },
    { headers: { Authorization: 'Bearer other' } },
  ],
  [{ kind: 'ntfy', url: 'https://ntfy.sh/t', token: SECRET }, '/token', { token: '…' }, { token: 'other' }],
  [{ kind: 'telegram', token: BOT, chat: '@ops' }, '/token', { token: '…' }, { token: '2:other' }],
  [
    { kind: 'pagerduty', routing_key: SECRET },
    '/routing_key',
    { routing_key: '…' },
    { routing_key: 'R0123456789abcdefghijklmnopqrstu' },
  ],
]

test('samples hold every kind with a secret besides its address', () => {
  const sampled = new Set(KINDS.map(([{ kind }]) => kind))
  const missing = CHANNEL_KINDS.filter((kind) => !sampled.has(kind))
  expect(missing.filter((kind) => channelKind(kind).secret?.some((member) => member !== 'url'))).toEqual([])
})

test.each(KINDS)('%j: another server gets no stored secret', async (created, pointer, hidden, fresh) => {
  const { channel } = (await ask('POST', '/api/channels', { name: 'c', ...created })).json
  const path = `/api/channels/${channel.id}`
  const before = (await ask('GET', path)).json
  for (const body of [{ url: stranger }, { url: stranger, ...hidden }]) {
    const { status, json } = await ask('PATCH', path, body)
    expect([status, json.code]).toEqual([422, 'fields_invalid'])
    expect(json.errors).toEqual([{ pointer, detail: expect.stringContaining('must be given again') }])
  }
  expect((await ask('GET', path)).json).toEqual(before)
  expect((await ask('PATCH', path, { url: stranger, ...fresh })).status).toBe(200)
  expect((await ask('POST', `${path}/test`)).status).toBe(200)
  expect(seen).not.toEqual([])
  expect(seen.join('\n')).not.toContain(SECRET)
  // neither does the server before it
  const back = await ask('PATCH', path, { url: created.url ?? null })
  expect([back.status, back.json.errors?.[0]?.pointer]).toEqual([422, pointer])
})

test.each([
  ['scheme', 'http://h.example:443/x', 422],
  ['port', 'https://h.example:8443/x', 422],
  ['host', 'https://h.example.org/x', 422],
  ['path', 'https://H.example:443/y', 200],
])('a changed %s of the address: %s is %i', async (_, url, expected) => {
  const [created] = KINDS[0]!
  const { channel } = (await ask('POST', '/api/channels', { name: 'c', ...created })).json
  expect((await ask('PATCH', `/api/channels/${channel.id}`, { url })).status).toBe(expected)
})

test("the vendor's own address is no other server, and a secret that is removed is not needed", async () => {
  const bot = (await ask('POST', '/api/channels', { name: 'c', kind: 'telegram', token: BOT, chat: '1' })).json.channel
  const own = await ask('PATCH', `/api/channels/${bot.id}`, { url: 'https://api.telegram.org' })
  expect([own.status, own.json.changed]).toEqual([200, true])
  const [created] = KINDS[1]!
  const topic = (await ask('POST', '/api/channels', { name: 'c', ...created })).json.channel
  const moved = await ask('PATCH', `/api/channels/${topic.id}`, { url: stranger, token: null })
  expect(moved.json.channel).toMatchObject({ url: stranger })
  expect(moved.json.channel.token).toBeUndefined()
})

test('a viewer sees the server of a URL and the status of its answer; a key with manage sees the path', async () => {
  const ada = await signInAt(app.url)
  const looker = createCaller(app.url, { cookie: await enter(app, await join(app, 'viewer')) })
  const url = `${stranger}hooks/${SECRET}`
  for (const body of [{ kind: 'webhook' }, { kind: 'ntfy' }]) {
    const { channel } = (await ask('POST', '/api/channels', { name: 'c', ...body, url })).json
    const path = `/api/channels/${channel.id}`
    expect((await ask('POST', `${path}/test`)).status).toBe(200)
    const shown = { url: `${stranger}…`, last: { ok: true, detail: '200' } }
    expect((await looker.get(path)).json.channel).toMatchObject(shown)
    const full = { url, last: { detail: `200 /hooks/${SECRET}` } }
    for (const { get } of [ada, manager]) expect((await get(path)).json.channel).toMatchObject(full)
  }
  const bot = { name: 'c', kind: 'telegram', token: BOT, chat: '1', url }
  expect((await ask('POST', '/api/channels', bot)).status).toBe(201)
  const listed = await looker.get('/api/channels')
  expect(listed.json.channels.at(-1).url).toEndWith('/…')
  expect(listed.text).not.toContain(SECRET)
})
