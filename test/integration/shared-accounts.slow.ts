// Two nodes with their accounts in PostgreSQL, before the same ClickHouse: real processes, stopped and killed for real.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Answer, createCaller, PASSWORD } from '../support/caller.ts'
import { createClickHouse } from '../support/clickhouse-process.ts'
import { engineMissing } from '../support/engine.ts'
import { missing } from '../support/needs.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { type Caller, callerOf, createStintProcess, type StintProcess } from '../support/process.ts'
import { until } from '../support/until.ts'

const EMAIL = 'ada@example.com'
const CANNOT_RUN = engineMissing ?? missing('postgresql')

/** Requests of somebody who is signed in. */
const askAs = (cookie: string) => (url: string, method: string, path: string, body?: unknown) =>
  createCaller(url, { cookie }).call(method, path, body)

const signIn = (url: string) => createCaller(url).post('/api/session', { email: EMAIL, password: PASSWORD })

const cookieOf = ({ headers }: Answer) => headers.get('set-cookie')!.split(';')[0]!

describe.skipIf(CANNOT_RUN !== undefined)('two nodes with their accounts in PostgreSQL', () => {
  let postgres: PostgresServer
  const clickhouse = createClickHouse('shared_accounts')
  let first: StintProcess
  let second: StintProcess
  let ada: Caller
  let ask: ReturnType<typeof askAs>
  /** The same key at the second node. */
  let atSecond: Caller
  let sent = 0
  const post = async (caller: Caller) =>
    (await caller.post('/v1/metrics', { process: 'p', items: { n: ++sent } })).status
  const createKey = async (url: string): Promise<{ id: string; secret: string }> =>
    (await ask(url, 'POST', '/api/keys', { name: 'k' })).json.key

  beforeAll(async () => {
    postgres = await startPostgres({ log_statement: 'all', log_parameter_max_length: '0' })
    await clickhouse.start()
    const settings = {
      ...{ DATABASE_URL: await postgres.createDatabase(), ...clickhouse.settings, SIGNUP: 'open' },
      PUBLIC_URL: 'http://stint.test', // one name of the session's cookie at both
    }
    first = createStintProcess({ ...settings, NODE_ID: '1' })
    second = createStintProcess({ ...settings, NODE_ID: '2' })
    await Promise.all([first.start(), second.start()]) // both find an empty database
    ada = await first.signUp(EMAIL)
    atSecond = callerOf(second.url, ada)
    const signedIn = await signIn(second.url)
    expect(signedIn.status).toBe(201)
    ask = askAs(cookieOf(signedIn))
  })

  afterAll(async () => {
    await Promise.all([first?.close(), second?.close(), clickhouse.kill()])
    await postgres?.close()
  })

  test('a session of one node is valid on the other immediately', async () => {
    for (const { url } of [first, second]) expect((await ask(url, 'GET', '/api/session')).status).toBe(200)
    const { url } = first
    const again = await signIn(url)
    const askAgain = askAs(cookieOf(again))
    expect((await askAgain(second.url, 'GET', '/api/session')).status).toBe(200)
    expect((await askAgain(second.url, 'DELETE', '/api/session')).status).toBe(204)
    expect((await askAgain(url, 'GET', '/api/sessions')).status).toBe(401)
  })

  test('a key created, rotated or revoked on one node is so on the other within a second', async () => {
    const within = async (caller: Caller, status: number) => {
      const since = performance.now()
      await until(`the other node answers ${status}`, async () => (await post(caller)) === status)
      return performance.now() - since
    }
    const tookMs: number[] = []
    for (let round = 0; round < 3; round++) {
      const key = await createKey(first.url)
      const caller = callerOf(second.url, { ...ada, secret: key.secret })
      tookMs.push(await within(caller, 201))
      const rotated = (await ask(first.url, 'POST', `/api/keys/${key.id}/rotate`, {})).json
      tookMs.push(await within(caller, 401))
      const next = callerOf(second.url, { ...ada, secret: rotated.key.secret })
      expect(await post(next)).toBe(201)
      expect((await ask(first.url, 'DELETE', `/api/keys/${rotated.key.id}`)).status).toBe(204)
      tookMs.push(await within(next, 401))
    }
    const medianMs = tookMs.toSorted((a, b) => a - b)[tookMs.length >> 1]! // one may fall into a pause of a busy machine
    expect(medianMs).toBeLessThan(1_000)
  })

  test('without PostgreSQL no event is refused, not even after a restart; changes are answered 503; everything recovers by itself', async () => {
    await postgres.stop()
    for (const caller of [ada, atSecond]) expect(await post(caller)).toBe(201)
    for (const answer of [
      await signIn(first.url),
      await ask(first.url, 'POST', '/api/keys', { name: 'k' }),
      await ask(second.url, 'GET', '/api/session'),
    ]) {
      expect([answer.status, answer.json.code]).toEqual([503, 'store_unavailable'])
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    await second.kill()
    await second.start()
    for (const caller of [ada, atSecond]) expect(await post(caller)).toBe(201)
    expect((await atSecond.get('/api/health')).status).toBe(200)
    expect(await second.terminate()).toBe(0)
    await second.start()
    expect(await post(atSecond)).toBe(201)

    await postgres.start()
    await until('sign-in works again', async () => (await signIn(second.url)).status === 201)
    const key = await createKey(first.url)
    const caller = callerOf(second.url, { ...ada, secret: key.secret })
    await until('the other node learns of the key', async () => (await post(caller)) === 201)
  })

  test('while PostgreSQL hangs, events are accepted and a sign-in is answered 503 instead of hanging, too', async () => {
    postgres.pause()
    try {
      const since = performance.now()
      const [signedIn, ...events] = await Promise.all([signIn(first.url), post(ada), post(atSecond)])
      expect([signedIn.status, ...events]).toEqual([503, 201, 201])
      expect(performance.now() - since).toBeLessThan(12_000)
    } finally {
      postgres.resume()
    }
    await until('sign-in works again', async () => (await signIn(first.url)).status === 201)
  })

  test('the statement log of PostgreSQL contains no password, key, token or hash', async () => {
    const key = await createKey(first.url)
    const log = postgres.log().replaceAll(/\$argon2id\$[^']*\$A{43}\$A{43}'/g, '') // a default that no password has
    expect(log).toContain('INSERT INTO api_key')
    const hash = Bun.SHA256.hash(key.secret, 'hex')
    for (const secret of [PASSWORD, key.secret.slice(12, 36), hash, ada.secret.slice(12, 36), '$argon2'])
      expect(log.includes(secret)).toBe(false)
  })
})
