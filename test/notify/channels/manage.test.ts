// Channels of every kind over the API of the real service: secrets, changes, filters.

import { afterAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { CHANNEL_KINDS } from '../../../src/wire/channel-kinds.ts'
import { createPerson } from '../../cli/cli-cast.ts'
import { useApp } from '../../support/app.ts'
import { faultsOf, signInAt } from '../../support/caller.ts'
import { startReceiver } from '../../support/receiver.ts'

const KEY = 'R0123456789abcdefghijklmnopqrstu'
const TOKEN = '123456:AAsecretsecret'
let status = 200
const receiver = startReceiver(({ headers }) => new Response(`you sent ${headers.get('x-key')}`, { status }))
afterAll(receiver.close)
const local = (path: string) => receiver.url + path

const app = await useApp({ env: { NOTIFY_PRIVATE: 'true' } })
const { call: ask } = await signInAt(app.url)
const create = async (body: object) => (await ask('POST', '/api/channels', { name: 'c', ...body })).json.channel
const show = async (id: string) => (await ask('GET', `/api/channels/${id}`)).json.channel
const change = async (id: string, body: object) => (await ask('PATCH', `/api/channels/${id}`, body)).json

const SAMPLES: [body: Record<string, unknown>, shown: object][] = [
  [{ kind: 'webhook', url: 'https://h.example/x?k=s3cr3tQQ&a=b' }, { url: 'https://h.example/x?k=…&a=…' }],
  [
    { kind: 'webhook', url: 'https://h.example/x', headers: { Authorization: 'Bearer s3cr3tQQ' } },
    { url: 'https://h.example/x', headers: { Authorization: '…' } },
  ],
  [{ kind: 'slack', url: 'https://hooks.slack.com/services/s3cr3tQQ' }, { url: 'https://hooks.slack.com/…' }],
  [{ kind: 'discord', url: 'https://discord.com/api/webhooks/1/s3cr3tQQ' }, { url: 'https://discord.com/…' }],
  [{ kind: 'teams', url: 'https://x.logic.azure.com/w?sig=s3cr3tQQ' }, { url: 'https://x.logic.azure.com/…' }],
  [
    { kind: 'ntfy', url: 'https://ntfy.sh/t', token: 'tk_s3cr3tQQ' },
    { url: 'https://ntfy.sh/t', token: '…' },
  ],
  [
    { kind: 'telegram', token: '1:s3cr3tQQ', chat: '@ops' },
    { token: '…', chat: '@ops' },
  ],
  [{ kind: 'pagerduty', routing_key: KEY.replace('0123', 'QQQQ') }, { routing_key: '…' }],
]

describe('secrets', () => {
  test('the secret of a webhook is replaced: for a day both sign', async () => {
    const sent = receiver.requests.length
    const { id, secret: before } = await create({ kind: 'webhook', url: local('/replaced') })
    const replaced = await ask('POST', `/api/channels/${id}/secret`)
    expect(replaced.status).toBe(200)
    const { secret, former_until } = replaced.json.channel
    expect(secret).toMatch(/^whsec_/)
    expect(secret).not.toBe(before)
    expect(Date.parse(former_until) - Date.now()).toBeWithin(86_000_000, 86_400_001)
    await change(id, { name: 'renamed' })
    expect((await show(id)).former_until).toBe(former_until)
    expect((await ask('POST', `/api/channels/${id}/test`)).status).toBe(200)
    const { headers, text } = receiver.requests[sent]!
    const signs = (by: string) => {
      const key = Buffer.from(by.slice('whsec_'.length), 'base64')
      const signed = `${headers.get('webhook-id')}.${headers.get('webhook-timestamp')}.${text}`
      return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
    }
    expect(headers.get('webhook-signature')).toBe(`${signs(secret)} ${signs(before)}`)
    expect((await ask('GET', `/api/channels/${id}`)).text).not.toContain('whsec_')
    const slack = await create({ kind: 'slack', url: 'https://hooks.slack.com/services/x' })
    expect((await ask('POST', `/api/channels/${slack.id}/secret`)).status).toBe(404)
    for (const one of [id, slack.id]) await ask('DELETE', `/api/channels/${one}`)
  })

  test('samples hold every kind that posts', () => {
    const kinds = new Set(SAMPLES.map(([{ kind }]) => kind))
    expect(CHANNEL_KINDS.filter((kind) => !kinds.has(kind))).toEqual(['email'])
  })

  test.each(SAMPLES)('of %j are not shown again', async (body, shown) => {
    const { id } = await create(body)
    const list = await ask('GET', '/api/channels')
    expect(list.text).not.toMatch(/s3cr3tQQ|RQQQQ/)
    expect(await show(id)).toMatchObject({ ...shown, state: 'untested' })
    const { changed, channel } = await change(id, { ...shown, name: 'c' })
    expect([changed, channel.state]).toEqual([false, 'untested'])
    expect(app.log.join('\n')).not.toMatch(/s3cr3tQQ|RQQQQ/)
    await ask('DELETE', `/api/channels/${id}`)
  })

  test('a header that is sent back hidden keeps its value, a new one is added, one left out is removed', async () => {
    const headers = { 'X-Key': 's3cr3tQQ', 'X-Old': '1' }
    const { id } = await create({ kind: 'webhook', url: local('/kept'), headers })
    const { changed, channel } = await change(id, { headers: { 'X-Key': '…', 'X-New': '2' } })
    expect([changed, channel.headers]).toEqual([true, { 'X-Key': '…', 'X-New': '…' }])
    const { json } = await ask('POST', `/api/channels/${id}/test`)
    expect(json).toEqual({ detail: '200 you sent …' })
    const sent = receiver.requests.at(-1)!.headers
    expect(['x-key', 'x-new', 'x-old'].map((name) => sent.get(name))).toEqual(['s3cr3tQQ', '2', null])
    expect((await change(id, { headers: null })).channel.headers).toBeUndefined()
  })
})

test.each([
  [{ kind: 'telegram', token: TOKEN }, '/chat'],
  [{ kind: 'telegram', token: 'no token', chat: '1' }, '/token'],
  [{ kind: 'telegram', token: '…', chat: '1' }, '/token'],
  [{ kind: 'pagerduty', routing_key: 'short' }, '/routing_key'],
  [{ kind: 'pagerduty', routing_key: KEY, only_firing: true }, '/only_firing'],
  [{ kind: 'discord', url: 'https://discord.com/x', headers: { a: 'b' } }, '/headers'],
  [{ kind: 'webhook', url: 'https://x.example', headers: { 'Content-Length': '1' } }, '/headers/Content-Length'],
  [{ kind: 'webhook', url: 'https://x.example', headers: { 'webhook-id': '1' } }, '/headers/webhook-id'],
  [{ kind: 'webhook', url: 'https://x.example', headers: { a: 'b\r\nc: d' } }, '/headers/a'],
  [{ kind: 'slack', url: 'https://hooks.slack.com/…' }, '/url'],
  [{ kind: 'ntfy', url: 'https://x.example', conditions: ['never'] }, '/conditions/0'],
  [{ kind: 'ntfy', url: 'https://x.example', conditions: [] }, '/conditions'],
  [{ kind: 'ntfy', url: 'https://x.example', delay: 'soon' }, '/delay'],
])('%j is refused at %s', async (body, pointer) => {
  const answer = await ask('POST', '/api/channels', { name: 'x', ...body })
  expect(faultsOf(answer)).toEqual([422, 'fields_invalid', pointer])
})

test('a channel is changed: its filters at once, its address with the state', async () => {
  const { id } = await create({ kind: 'webhook', url: local('/a') })
  status = 500
  expect((await ask('POST', `/api/channels/${id}/test`)).status).toBe(502)
  expect(await show(id)).toMatchObject({ state: 'failing', last: { ok: false } })
  const filters = { conditions: ['late', 'failed'], only_firing: true, delay: '15m' }
  expect((await change(id, filters)).channel).toMatchObject({ ...filters, state: 'failing' })
  expect(await show(id)).toMatchObject(filters)
  expect((await change(id, { url: local('/b') })).channel).toMatchObject({ state: 'untested', last: null, ...filters })
  status = 200
  expect((await ask('POST', `/api/channels/${id}/test`)).status).toBe(200)
  expect(receiver.requests.at(-1)!.path).toBe('/b')
  expect((await show(id)).state).toBe('delivered')
  expect((await change(id, { conditions: null, delay: null })).channel).toMatchObject({ conditions: null, delay: null })
  expect((await ask('PATCH', `/api/channels/${id}`, { kind: 'slack' })).status).toBe(422)
  expect((await ask('PATCH', `/api/channels/${id}`, { url: null })).json.errors[0].pointer).toBe('/url')
  expect((await change(id, { enabled: false })).channel.state).toBe('disabled')
  expect((await change(id, { name: 'other' })).channel).toMatchObject({ name: 'other', state: 'disabled' })
  expect((await change(id, { enabled: true })).channel.state).toBe('delivered')
})

describe('with test=true', () => {
  const add = (body: object) => ask('POST', '/api/channels?test=true', { name: 'tried', ...body })
  const names = async () =>
    (await ask('GET', '/api/channels')).json.channels.map(({ name }: { name: string }) => name) as string[]

  test('a channel is created with what its receiver answered', async () => {
    const { status: code, json } = await add({ url: local('/tried'), headers: { 'x-key': 's3cr3tQQ' } })
    expect([code, json.test]).toEqual([201, { detail: '200 you sent …' }])
    expect(json.channel).toMatchObject({ kind: 'webhook', state: 'delivered', last: { ok: true } })
    expect(json.channel.secret).toStartWith('whsec_')
    expect(JSON.parse(receiver.requests.at(-1)!.text)).toMatchObject({ type: 'test' })
    expect((await show(json.channel.id)).state).toBe('delivered')
    await ask('DELETE', `/api/channels/${json.channel.id}`)
  })

  test('one that its receiver refuses is not kept, so the request can be repeated', async () => {
    status = 404
    const { status: code, json } = await add({ url: local('/tried') })
    status = 200
    expect([code, json.code]).toEqual([502, 'channel_failed'])
    expect(json.detail).toBe('The receiver answered 404 you sent null. The channel was not created.')
    expect(await names()).not.toContain('tried')
    const sent = receiver.requests.length
    const yes = await ask('POST', '/api/channels?test=yes', { name: 'tried', url: local('/tried') })
    expect([yes.status, yes.json.errors]).toEqual([422, [{ pointer: '/test', detail: 'must be one of true, false' }]])
    expect([receiver.requests.length, await names()]).toEqual([sent, expect.not.arrayContaining(['tried'])])
  })
})

test.each<[body: object, kind: string, shown: object]>([
  [{ url: 'https://hooks.slack.com/services/T/B/s3cr3t' }, 'slack', {}],
  [{ url: 'https://chat.example.com/hooks/abcdefghij0123456789klmnop' }, 'slack', {}],
  [{ url: 'https://discord.com/api/webhooks/1/s3cr3t' }, 'discord', {}],
  [{ url: 'https://discord.com/api/webhooks/1/s3cr3t/slack' }, 'slack', {}],
  [{ url: 'https://prod-1.westeurope.logic.azure.com:443/workflows/x?sig=s3cr3t' }, 'teams', {}],
  [{ url: 'https://default1.2.environment.api.powerplatform.com:443/powerautomate/x?sig=s3cr3t' }, 'teams', {}],
  [{ url: 'https://ntfy.example.com/topic', token: 'tk_1' }, 'ntfy', { token: '…' }],
  [{ url: `https://api.telegram.org/bot${TOKEN}/sendMessage?chat_id=%40ops` }, 'telegram', { chat: '@ops' }],
  [{ token: TOKEN, chat: '-100' }, 'telegram', { chat: '-100', token: '…' }],
  [{ url: `https://events.pagerduty.com/integration/${KEY}/enqueue` }, 'pagerduty', { routing_key: '…' }],
  [{ routing_key: KEY }, 'pagerduty', {}],
  [{ url: 'https://ntfy.example.com/t', kind: 'webhook' }, 'webhook', {}],
  [{ url: 'https://example.com/services/hooks.slack.com/services/' }, 'webhook', {}],
])('%j without more is a channel of the kind %s', async (body, kind, shown) => {
  const { status: code, json } = await ask('POST', '/api/channels', { name: 'guessed', ...body })
  expect([code, json.channel]).toMatchObject([201, { kind, ...shown }])
  expect((await show(json.channel.id)).kind).toBe(kind)
  await ask('DELETE', `/api/channels/${json.channel.id}`)
})

test.each([
  [{ url: 'https://hooks.slack.com/services/T/B/s3cr3t' }, 'Slack'],
  [{ kind: 'webhook', url: 'https://example.com/x' }, 'Webhook'],
  [{ url: 'https://example.com/x', name: ' own ' }, 'own'],
])('%j makes a channel that is called %s', async (body, name) => {
  const { status: code, json } = await ask('POST', '/api/channels', body)
  expect([code, json.channel.name]).toEqual([201, name])
  await ask('DELETE', `/api/channels/${json.channel.id}`)
})

test.each([
  [{}, '/kind'],
  [{ url: 'https://api.telegram.org/bot1:x/sendMessage' }, '/chat'],
  [{ url: 'https://events.eu.pagerduty.com/v2/enqueue' }, '/routing_key'],
  [{ url: 'ftp://example.com' }, '/url'],
])('%j does not say enough: refused at %s', async (body, pointer) => {
  const answer = await ask('POST', '/api/channels', { name: 'guessed', ...body })
  expect(faultsOf(answer)).toEqual([422, 'fields_invalid', pointer])
})

test('stint channel adds, changes, lists, tests and deletes, and reads secrets from the environment', async () => {
  const { run } = createPerson(app.url)
  const made = await ask('POST', '/api/keys', { name: 'infra', scopes: ['manage'] })
  const env = { STINT_API_KEY: made.json.key.secret }
  const secret = { ...env, STINT_CHANNEL_SECRET: TOKEN }
  const bot = await run('channel add bot --no-test --chat -100123 --condition failed --delay 15m', {
    env: secret,
  })
  expect(bot).toMatchObject({ exitCode: 0, stderr: 'Channel bot (telegram) created.\n' })
  expect(await show(bot.stdout.trim())).toMatchObject({ chat: '-100123', conditions: ['failed'], delay: '15m' })
  const args = ['channel', 'add', 'own', local('/cli'), '--header', 'X-Key: a b', '--only-firing']
  const first = await run(args, { env })
  expect(first.stderr).toStartWith('Channel own (webhook) created.\nDelivered: 200 you sent a b\nSigning secret')
  const own = first.stdout.trim()
  expect(await run(args, { env })).toMatchObject({
    stdout: `${own}\n`,
    stderr: 'Channel own (webhook) changed.\nDelivered: 200 you sent a b\n',
  })
  expect((await run('channel test own', { env })).stderr).toContain('Delivered: 200')
  const { path, headers } = receiver.requests.at(-1)!
  expect([path, headers.get('x-key')]).toEqual(['/cli', 'a b'])
  expect(await run('channel change own --name mine', { env })).toMatchObject({ stderr: 'Channel own changed.\n' })
  expect(await run('channel change mine --name mine', { env })).toMatchObject({ stderr: 'Nothing to change.\n' })
  expect((await run('channel change mine', { env })).exitCode).toBe(2)
  const listed = (await run('channel list', { env })).stdout
  expect(listed).toMatch(/delivered +webhook +mine/)
  expect(listed).toMatch(/untested +telegram +bot +-100123/)
  status = 410
  const gone = await run(args.with(2, 'gone'), { env })
  expect([gone.exitCode, gone.stdout]).toEqual([1, ''])
  expect(gone.stderr).toContain('The receiver answered 410 you sent a b. The channel was not created.')
  status = 200
  expect((await run('channel add pager', { env })).exitCode).toBe(2)
  const twin = (await create({ name: 'mine', kind: 'webhook', url: local('/twin') })).id
  const refused = { exitCode: 1, stderr: expect.stringContaining('more than one channel is called mine; use the id: ') }
  expect(await run('channel rm mine', { env })).toMatchObject(refused)
  expect(await run('watch add import --failed 1 --channel mine', { env })).toMatchObject(refused)
  expect((await run(`channel rm ${twin}`, { env })).exitCode).toBe(0)
  expect((await run('channel rm mine', { env })).exitCode).toBe(0)
  expect((await ask('GET', `/api/channels/${own}`)).status).toBe(404)
})
