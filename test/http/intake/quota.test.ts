// QUOTA_BYTES at every door: what is refused and how, the last tenth for starts and ends, when it ends; accepted = stored.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createQuota } from '../../../src/account/quota.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { PASSWORD } from '../../support/caller.ts'

const QUOTA = 10_000
const HOUR_US = 3600 * 1e6
const EXCEPTION = { process: 'p', exception: 'x'.repeat(900) }
const START = { process: 'p', meta: 'm'.repeat(300) }

const withQuota = (bytes = QUOTA) => startApp({ env: { QUOTA_BYTES: String(bytes) }, signup: 'open' })
const usedOf = (app: TestApp) => app.rooms.accounts.use.bytesOf(app.account)

const pingKey = async ({ rooms, account }: TestApp) =>
  (await rooms.accounts.keys.create(account, 'ping', ['ping'])).secret

/** Until the account has sent nine tenths, or all. */
async function spend(app: TestApp, path: '/v1/exception' | '/v1/start'): Promise<void> {
  const body = path === '/v1/start' ? START : EXCEPTION
  for (let status = 201; status === 201; ) status = (await app.post(path, body)).status
}

describe('an account beyond its quota', () => {
  test('is answered 429 with the time when it ends, and other accounts are not', async () => {
    await using app = await withQuota()
    await spend(app, '/v1/start')
    const beganUs = Math.floor(app.clock.wallUs() / HOUR_US) * HOUR_US
    const end = new Date((beganUs + 25 * HOUR_US) / 1000).toISOString().slice(0, 16).replace('T', ' ')
    const refused = await app.post('/v1/start', START)
    expect([refused.status, refused.json.code, refused.headers.get('retry-after')]).toEqual([429, 'quota_spent', '300'])
    expect(refused.json.detail).toBe(
      `This account has sent the ${QUOTA} bytes that it may send in 24 hours; it may send again from ${end} UTC.`,
    )
    const bob = await app.rooms.accounts.create({ email: 'bob@example.com', password: PASSWORD, address: '192.0.2.1' })
    const headers = { 'content-type': 'application/json' }
    const ofBob = { method: 'POST', key: bob.key.secret, headers, body: JSON.stringify(START) }
    expect((await app.fetch('/v1/start', ofBob)).status).toBe(201)
    app.clock.pass(25 * HOUR_US)
    expect((await app.post('/v1/start', START)).status).toBe(201)
  })

  test('hears of one minute, though two clocks are read for it', () => {
    const atTenUs = Date.UTC(2026, 10, 29, 10) * 1e3
    const quotaUntil = (us: number) =>
      createQuota({
        ...{ limitBytes: 1, waitingBytesOf: () => 0, onRefused: () => {}, nowUs: () => us - HOUR_US },
        use: { bytesOf: () => 1, fallsBelowUs: () => us },
      })
    for (const us of [-800_000, -3, 0, 3, 800_000])
      expect(quotaUntil(atTenUs + us).refusal('acc_1', true)!.detail).toEndWith('send again from 2026-11-29 10:00 UTC.')
  })

  test('is refused at every door before its body is read', async () => {
    await using app = await withQuota()
    await spend(app, '/v1/start')
    const codes = [
      await app.post('/v1/end', '{'),
      await app.post('/v1/metrics', '{'),
      await app.post('/v1/exception', '{'),
      await app.post('/v1/batch', '['),
      await app.post('/otlp/v1/traces', '{'),
      await app.post('/otlp/v1/logs', '{'),
      await app.post('/otlp/v1/metrics', '{'),
      await app.fetch(`/ping/${await pingKey(app)}/p`),
    ].map(({ status, json }) => [status, json.code])
    expect(codes).toEqual(Array(8).fill([429, 'quota_spent']))
  })

  test('keeps the last tenth for starts, ends with what they bring, and pings', async () => {
    await using app = await withQuota(20_000)
    await spend(app, '/v1/exception')
    expect(usedOf(app)).toBeGreaterThanOrEqual(18_000)
    for (const [path, body] of [
      ['/v1/metrics', { process: 'p', items: { a: 1 } }],
      ['/v1/exception', { process: 'p', exception: 'x' }],
    ] as const) {
      const refused = await app.post(path, body)
      expect([refused.status, refused.json.code]).toEqual([429, 'quota_spent'])
      expect(refused.json.detail).toContain('nine tenths')
    }
    expect((await app.post('/v1/start', { process: 'p' })).status).toBe(201)
    expect((await app.post('/v1/end', { process: 'p', output: 'done' })).status).toBe(201)
    expect((await app.fetch(`/ping/${await pingKey(app)}/p/fail`)).status).toBe(200)
  })

  test('has the events of a batch refused one by one', async () => {
    await using app = await withQuota(20_000)
    await spend(app, '/v1/exception')
    const mixed = await app.post('/v1/batch', [
      { kind: 'start', process: 'p' },
      { kind: 'exception', ...EXCEPTION },
      { kind: 'end', process: 'p' },
    ])
    expect([mixed.status, mixed.headers.get('retry-after')]).toEqual([207, '300'])
    expect(mixed.json.items.map(({ code = 'taken' }) => code)).toEqual(['taken', 'quota_spent', 'taken'])
    const others = await app.post('/v1/batch', [{ kind: 'exception', ...EXCEPTION }])
    expect([others.status, others.json.code]).toEqual([429, 'quota_spent'])
  })

  test('makes an exporter send again, and nothing counts as lost', async () => {
    await using app = await withQuota(20_000)
    await spend(app, '/v1/exception')
    const point = { asInt: '1', timeUnixNano: `${app.clock.wallUs()}000` }
    const refused = await app.post('/otlp/v1/metrics', {
      resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: 'm', gauge: { dataPoints: [point] } }] }] }],
    })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '300'])
  })
})

test('one batch larger than the quota is taken up to it', async () => {
  await using app = await withQuota()
  const batch = await app.post('/v1/batch', Array(100).fill({ kind: 'start', ...START }))
  expect(batch.status).toBe(207)
  expect((await app.events()).length).toBe(batch.json.accepted)
  expect(usedOf(app)).toBeGreaterThanOrEqual(QUOTA)
  expect(usedOf(app)).toBeLessThan(QUOTA + 500)
})

test('a start with SIGNUP=open and no quota says so', async () => {
  const warning = 'SIGNUP=open without QUOTA_BYTES'
  await using open = await startApp({ signup: 'open' })
  await using limited = await withQuota()
  await using first = await startApp()
  expect([open, limited, first].map(({ log }) => log.join('').includes(warning))).toEqual([true, false, false])
})

test('without a quota the bytes are counted all the same', async () => {
  await using app = await startApp()
  for (let i = 0; i < 30; i++) expect((await app.post('/v1/exception', EXCEPTION)).status).toBe(201)
  expect(usedOf(app)).toBeGreaterThan(30 * 900)
})

test('whatever is sent at once, what was accepted is stored, and no more than the quota and an event', async () => {
  const event = fc.oneof(
    fc.record({ path: fc.constantFrom('/v1/start', '/v1/end'), text: fc.integer({ min: 0, max: 400 }) }),
    fc.record({ path: fc.constant('/v1/exception'), text: fc.integer({ min: 1, max: 3000 }) }),
    fc.record({ path: fc.constant('/v1/batch'), text: fc.integer({ min: 1, max: 1500 }) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(event, { maxLength: 12 }), { maxLength: 6 }), async (rounds) => {
      await using app = await withQuota(12_000)
      let accepted = 0
      for (const round of rounds) {
        const answers = await Promise.all(
          round.map(({ path, text }) => {
            const exception = 'x'.repeat(text)
            if (path === '/v1/batch')
              return app.post(path, [
                { kind: 'start', process: 'p' },
                { kind: 'exception', process: 'p', exception },
              ])
            return app.post(
              path,
              path === '/v1/exception' ? { process: 'p', exception } : { process: 'p', meta: exception },
            )
          }),
        )
        for (const { status, json } of answers) {
          if (status === 207 || json.accepted !== undefined) accepted += json.accepted
          else if (status === 201) accepted++
          else expect([status, json.code]).toEqual([429, 'quota_spent'])
        }
      }
      expect((await app.events()).length).toBe(accepted)
      expect(usedOf(app)).toBeLessThan(12_000 + 3_200)
    }),
    { numRuns: 8 },
  )
})
