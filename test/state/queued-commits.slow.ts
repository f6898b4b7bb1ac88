// Keys that were created and revoked just before kill -9.
import { expect, test } from 'bun:test'
import { type ApiCaller, createCaller, signUpAt } from '../support/caller.ts'
import { createStintProcess } from '../support/process.ts'

test('a key that was answered works after kill -9, and a revoked one does not', async () => {
  await using stint = createStintProcess({ SIGNUP: 'open', CLICKHOUSE_URL: 'http://127.0.0.1:9' })
  await stint.start()
  const { bySession, byKey } = await signUpAt(stint.url)
  const create = async (name: string) => {
    const made = await bySession.post('/api/keys', { name, scopes: ['write'] })
    expect(made.status).toBe(201)
    return made.json.key as { id: string; secret: string }
  }
  const keys = await Promise.all(Array.from({ length: 20 }, (_, i) => create(`key ${i}`)))
  const revoked = await Promise.all(keys.slice(0, 5).map(({ id }) => bySession.delete(`/api/keys/${id}`)))
  expect(revoked.map(({ status }) => status)).toEqual([204, 204, 204, 204, 204])
  await stint.kill()
  await stint.start()
  const statusOf = async (caller: ApiCaller) => (await caller.post('/v1/start', { process: 'p' })).status
  const statuses = await Promise.all(keys.map(({ secret }) => statusOf(createCaller(stint.url, { key: secret }))))
  expect(statuses).toEqual(keys.map((_, i) => (i < 5 ? 401 : 201)))
  expect(await statusOf(byKey)).toBe(201)
})
