// The budget of series over a restart: series in use are known, so that their later events are taken.
import { expect, test } from 'bun:test'
import { createStintProcess, STORES_AWAY } from '../support/process.ts'

test('the series in use are known after a restart, and new ones are not', async () => {
  await using stint = createStintProcess({ ...STORES_AWAY, SERIES_MAX: '5' })
  await stint.start()
  const caller = await stint.signUp('ada@example.com')
  const at = new Date(Date.now() - 60_000).toISOString()
  const calls: [path: string, body: unknown][] = [
    ['/v1/start', { process: 'single' }],
    ['/v1/start', { process: 'own time', at }],
    ['/v1/metrics', { process: 'metrics', items: { a: 1, b: 2 } }],
    ['/v1/batch', [{ kind: 'start', process: 'batch' }]],
  ]
  const send = () => Promise.all(calls.map(async ([path, body]) => (await caller.post(path, body)).status))
  expect(await send()).toEqual([201, 201, 201, 201])
  expect(await stint.terminate()).toBe(0)
  await stint.start()
  expect(await (await caller.get('/api/series')).json()).toMatchObject({ used: 5, max: 5 })
  expect((await caller.post('/v1/start', { process: 'one more' })).status).toBe(422)
  expect(await send()).toEqual([201, 201, 201, 201])
})
