// Large bodies on their way in have a bound together, and one for each account: a caller that never ends its batches must not fill the memory.
import { afterEach, expect, test } from 'bun:test'
import { createBodyBudget } from '../../../src/http/intake/body-budget.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { openRaw, type RawConnection } from '../../support/raw-http.ts'

const MIB = 2 ** 20
const HELD_BATCHES = 32 // of 4 MiB, in 128 MiB
const WITHIN_MS = 60_000

let app: TestApp | undefined
const connections: RawConnection[] = []
afterEach(async () => {
  for (const connection of connections.splice(0)) connection.close()
  await app?.stop()
  app = undefined
})

/** Sends the head of a batch and the first byte of its body. */
async function beginBatch({ port, keys }: TestApp, framing: string): Promise<RawConnection> {
  const connection = await openRaw(port)
  connections.push(connection)
  const head = [
    'POST /v1/batch HTTP/1.1',
    'host: stint',
    `x-stint-api-key: ${keys.owner}`,
    'content-type: application/json',
    framing,
  ]
  await connection.write(`${head.join('\r\n')}\r\n\r\n${framing.startsWith('transfer') ? '1\r\n[\r\n' : '['}`)
  return connection
}

const BATCH = `[{"kind":"start","process":"p"}]${' '.repeat(2 * MIB)}`
const batch = (app: TestApp) => app.post('/v1/batch', BATCH)

/** Asks until the batch is answered as expected. */
async function untilBatchIs(app: TestApp, status: number) {
  const deadline = performance.now() + WITHIN_MS
  for (;;) {
    const answer = await batch(app)
    if (answer.status === status) return answer
    if (performance.now() > deadline) throw new Error(`still ${answer.status}`)
  }
}

const FRAMINGS = [
  ['with a length', `content-length: ${4 * MIB}`],
  ['without one', 'transfer-encoding: chunked'],
] as const

test.each(FRAMINGS)('bodies %s that announce much and send one byte reserve nothing', async (_, framing) => {
  app = await startApp()
  for (let i = 0; i < 2 * HELD_BATCHES; i++) await beginBatch(app, framing)
  for (let i = 0; i < 3; i++) expect((await batch(app)).status).toBe(201)
})

test('received bodies block large ones of the same account, but not small ones, until they are processed', async () => {
  app = await startApp({ signup: 'open' })
  const { accounts } = app.rooms
  const other = await accounts.create({
    email: 'bob@example.com',
    password: 'another long password of a test',
    address: '127.0.0.2',
  })
  const asOther = (body: string) =>
    app!.fetch('/v1/batch', {
      method: 'POST',
      key: other.key.secret,
      headers: { 'content-type': 'application/json' },
      body,
    })
  const filler = ' '.repeat(4 * MIB - 100)
  for (let i = 0; i < HELD_BATCHES / 2 + 1; i++) {
    const connection = await beginBatch(app, `content-length: ${4 * MIB}`)
    await connection.write(filler)
  }
  const refused = await untilBatchIs(app, 503)
  expect(refused.json).toMatchObject({ code: 'busy', status: 503 })
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(await app.refused()).toContain('other busy')
  expect((await app.post('/v1/start', { process: 'p' })).status).toBe(201)
  expect((await app.post('/v1/batch', [{ kind: 'start', process: 'p' }])).status).toBe(201)
  expect((await asOther(BATCH)).status).toBe(201)
  for (const connection of connections.splice(0)) connection.close()
  await untilBatchIs(app, 201)
  for (let i = 0; i < HELD_BATCHES; i++) expect((await batch(app)).status).toBe(201)
  expect(app.log.filter((line) => line.includes('a request failed'))).toEqual([])
})

test('releases reserved memory however the work ends', async () => {
  const { during } = createBodyBudget(MIB, MIB)
  const take = (bytes: number, account = 'a') =>
    during(account, async (reserve) => {
      reserve(bytes)
      return 'yes'
    })
  for (let i = 0; i < 3; i++) {
    const failing = during('a', async (reserve) => {
      reserve(MIB)
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(await take(MIB)).toBe('yes')
  }
  const { promise, resolve } = Promise.withResolvers<void>()
  const held = during('a', async (reserve) => {
    for (let i = 0; i < 16; i++) reserve(MIB / 16)
    await promise
    return 'done'
  })
  await expect(take(MIB)).rejects.toMatchObject({ code: 'busy' })
  await expect(take(MIB, 'b')).rejects.toMatchObject({ code: 'busy' })
  expect(await take(1000)).toBe('yes')
  resolve()
  expect(await held).toBe('done')
  expect(await take(MIB)).toBe('yes')
})

test('limits an account to its share', async () => {
  const { during } = createBodyBudget(4 * MIB, 2 * MIB)
  const { promise, resolve } = Promise.withResolvers<void>()
  const hold = (account: string) =>
    during(account, async (reserve) => {
      reserve(1.5 * MIB)
      await promise
    })
  const first = hold('a')
  await expect(hold('a')).rejects.toMatchObject({ code: 'busy' })
  const second = hold('b')
  resolve()
  await Promise.all([first, second])
  await hold('a')
})
