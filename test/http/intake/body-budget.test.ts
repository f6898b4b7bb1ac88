// Bodies on their way in have a bound together: what begins to send a batch and never ends it must not fill the memory.
import { afterEach, expect, test } from 'bun:test'
import { createBodyBudget } from '../../../src/http/intake/body-budget.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { openRaw, type RawConnection } from '../../support/raw-http.ts'

const MIB = 2 ** 20
const HELD_BATCHES = 32 // of 8 MiB, in 256 MiB
const WITHIN_MS = 10_000

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

const batch = (app: TestApp) => app.post('/v1/batch', `[{"kind":"start","process":"p"}]${' '.repeat(2 ** 17)}`)

/** Asks until the batch is answered as expected. */
async function untilBatchIs(app: TestApp, status: number) {
  const deadline = performance.now() + WITHIN_MS
  for (;;) {
    const answer = await batch(app)
    if (answer.status === status) return answer
    if (performance.now() > deadline) throw new Error(`still ${answer.status}`)
  }
}

test.each([
  ['with a length', `content-length: ${8 * MIB}`],
  ['without one', 'transfer-encoding: chunked'],
])(
  'bodies %s that trickle leave no room for large ones, small ones pass, and all is well when they are gone',
  async (_, framing) => {
    app = await startApp()
    for (let i = 0; i < HELD_BATCHES; i++) await beginBatch(app, framing)
    const refused = await untilBatchIs(app, 503)
    expect(refused.json).toMatchObject({ code: 'busy', status: 503 })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(await app.refused()).toContain('other busy')
    expect((await app.post('/v1/start', { process: 'p' })).status).toBe(201)
    expect((await app.post('/v1/batch', [{ kind: 'start', process: 'p' }])).status).toBe(201)
    for (const connection of connections.splice(0)) connection.close()
    await untilBatchIs(app, 201)
    for (let i = 0; i < HELD_BATCHES; i++) expect((await batch(app)).status).toBe(201)
    expect(app.log.filter((line) => line.includes('a request failed'))).toEqual([])
  },
)

test('what is held is given back however the work ends', async () => {
  const { during } = createBodyBudget(MIB)
  for (let i = 0; i < 3; i++) {
    await expect(during(MIB, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await during(MIB, async () => 'yes')).toBe('yes')
  }
  const { promise, resolve } = Promise.withResolvers<string>()
  const held = during(MIB, () => promise)
  await expect(during(MIB, async () => 'no')).rejects.toMatchObject({ code: 'busy' })
  expect(await during(1000, async () => 'small')).toBe('small')
  resolve('done')
  expect(await held).toBe('done')
  expect(await during(MIB, async () => 'yes')).toBe('yes')
})
