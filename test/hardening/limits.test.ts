// Rate limits and their answers: accounts under RATE_LIMIT, addresses that send bad keys, sign-ups, and which address counts.
import { expect, test } from 'bun:test'
import { startApp, type TestApp } from '../support/app.ts'

const MARK = { process: 'p' }
const badKey = (app: TestApp, path: string, headers: Record<string, string> = {}) =>
  app.fetch(path, {
    method: path.startsWith('/v1') ? 'POST' : 'GET',
    headers: { 'x-stint-api-key': 'stint_unknown', ...headers },
  })

test('beyond its limit an account is refused, and told how long to wait', async () => {
  await using app = await startApp({ rateLimit: 2 })
  expect((await app.post('/v1/start', MARK)).status).toBe(201)
  expect((await app.post('/v1/start', {})).status).toBe(422) // counts, too
  const refused = await app.post('/v1/start', MARK)
  expect([refused.status, refused.json.code, refused.headers.get('retry-after')]).toEqual([429, 'rate_limited', '1'])
  app.clock.pass(1_000_000)
  expect((await app.post('/v1/start', MARK)).status).toBe(201)
})

test('the limit is per account: another key of the same account shares it', async () => {
  await using app = await startApp({ rateLimit: 1 })
  expect((await app.post('/v1/start', MARK)).status).toBe(201)
  expect((await app.post('/v1/start', MARK)).status).toBe(429)
  expect((await app.fetch('/v1/start', { method: 'POST', key: app.keys.writer, body: '{}' })).status).toBe(429)
})

test('a batch counts its events: one above the limit passes and becomes a debt', async () => {
  await using app = await startApp({ rateLimit: 10 })
  const batch = (events: number) => app.post('/v1/batch', Array(events).fill({ kind: 'start', ...MARK }))
  expect((await batch(35)).status).toBe(201)
  const refused = await app.post('/v1/start', MARK)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '3'])
  expect((await batch(1)).status).toBe(429)
  app.clock.pass(2_500_000)
  expect((await batch(1)).status).toBe(429)
  app.clock.pass(100_000)
  expect((await batch(1)).status).toBe(201)
})

test('reading has a limit of its own, per account', async () => {
  await using app = await startApp({ rateLimit: 1 })
  await app.post('/v1/start', MARK)
  expect((await app.post('/v1/start', MARK)).status).toBe(429)
  const ask = (key = app.keys.reader) => app.fetch('/api/timings', { key })
  for (let i = 0; i < 50; i++) expect((await ask(app.keys.owner)).status).toBe(200)
  const refused = await ask()
  expect([refused.status, refused.json.code, refused.headers.get('retry-after')]).toEqual([429, 'rate_limited', '1'])
  app.clock.pass(1_000_000)
  expect((await ask()).status).toBe(200)
})

test('without RATE_LIMIT bad keys are not limited', async () => {
  await using app = await startApp({})
  const statuses = new Set<number>()
  for (let i = 0; i < 120; i++) statuses.add((await badKey(app, '/v1/start')).status)
  expect([...statuses]).toEqual([401])
})

test('with RATE_LIMIT an address may send a hundred bad keys a minute, under /v1 and /api together; a good key still passes', async () => {
  await using app = await startApp({ rateLimit: 1000 })
  const statuses: number[] = []
  for (let i = 0; i < 102; i++) statuses.push((await badKey(app, i % 2 === 0 ? '/v1/start' : '/api/timings')).status)
  expect(statuses.slice(0, 100).every((status) => status === 401)).toBe(true)
  expect(statuses.slice(100)).toEqual([429, 429])
  const refused = await badKey(app, '/v1/start')
  expect(refused.headers.get('retry-after')).toBe('1')
  expect((await app.post('/v1/start', MARK)).status).toBe(201)
  expect((await app.fetch('/api/timings', { key: app.keys.reader })).status).toBe(200)
  app.clock.pass(60_000_000)
  expect((await badKey(app, '/v1/start')).status).toBe(401)
})

test.each<[string, number | undefined, (i: number) => string, same: string, other: string | undefined]>([
  ['that send X-Forwarded-For without a trusted proxy', undefined, (i) => `203.0.113.${i}`, '198.51.100.1', undefined],
  ['that one proxy saw', 1, (i) => `10.0.0.${i}, 203.0.113.9`, '10.9.9.9, 203.0.113.9', '10.9.9.9, 203.0.113.10'],
  ['of an IPv6 network', 1, (i) => `2001:db8:0:1::${i.toString(16)}`, '2001:db8:0:1:ffff::1', '2001:db8:0:2::1'],
])('the addresses %s count as one', async (_, trustProxy, nth, same, other) => {
  await using app = await startApp({ rateLimit: 1000, ...(trustProxy !== undefined && { trustProxy }) })
  const from = async (forwarded: string) => (await badKey(app, '/v1/start', { 'x-forwarded-for': forwarded })).status
  for (let i = 0; i < 100; i++) await from(nth(i))
  expect(await from(same)).toBe(429)
  if (other !== undefined) expect(await from(other)).toBe(401)
})

test('accepts any host name behind a trusted proxy', async () => {
  await using app = await startApp({ trustProxy: 1 })
  expect((await app.fetch('/api/sign-up', { headers: { host: 'stint.example' } })).status).toBe(200)
})
