// Stint is away at the end of a job, and back some seconds later: a background process sends what was kept.
import { afterAll, expect, test } from 'bun:test'
import { until } from '../../support/until.ts'
import { createUser, deadUrl } from './exec-cast.ts'

const away = deadUrl()
const user = createUser(away)
afterAll(() => user.remove())

test('what was kept is sent once Stint is back, by one process', async () => {
  for (const _ of [1, 2]) await user.run(['exec', '--process', 'p', '--', 'true'])
  expect(user.pending().length).toBe(4)
  const paths: string[] = []
  await using _server = Bun.serve({
    port: Number(new URL(away).port),
    hostname: '127.0.0.1',
    async fetch(request) {
      paths.push(new URL(request.url).pathname)
      const { at } = (await request.json()) as { at: string }
      return Response.json({ at }, { status: 201 })
    },
  })
  await until('all is sent', () => user.pendingFiles().length === 0)
  expect(paths.sort()).toEqual(['/v1/end', '/v1/end', '/v1/start', '/v1/start'])
})
