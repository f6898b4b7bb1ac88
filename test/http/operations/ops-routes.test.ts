import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import pino from 'pino'
import { listen } from '../../../src/http/listen.ts'
import { opsRoutes } from '../../../src/http/operations/ops-routes.ts'
import { Problem } from '../../../src/problem.ts'
import { startApp, type TestApp } from '../../support/app.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

test('/livez and /readyz answer without a key', async () => {
  for (const path of ['/livez', '/readyz']) {
    const { status, headers } = await app.fetch(path)
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain;charset=utf-8'])
    expect((await app.fetch(path, { method: 'HEAD' })).status).toBe(200)
  }
})

test('/readyz says why no event can be taken', async () => {
  const unready = () => new Problem('disk_low', 'There is too little free space.', { retryAfterS: 5 })
  const routes = new Elysia().use(opsRoutes({ unready, renderMetrics: async () => '' }))
  const log = pino({ level: 'silent' })
  const listener = await listen(routes, { host: '127.0.0.1', port: 0, tls: undefined, log })
  const response = await fetch(`${listener.url}/readyz`)
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5'])
  expect(await response.json()).toMatchObject({ code: 'disk_low', detail: 'There is too little free space.' })
  expect((await fetch(`${listener.url}/livez`)).status).toBe(200)
  await listener.stop()
})

test('/metrics is the text that Prometheus reads', async () => {
  const { status, headers, text } = await app.fetch('/metrics')
  expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
  expect(text).toContain('stint_events_accepted_total')
})

describe('outside /v1', () => {
  test.each(['/nothing', '/livez/', '/livez/x', '/api', '/api/nothing', '/v1x'])('%s is a plain 404', async (path) => {
    const answer = await app.fetch(path)
    expect([answer.status, answer.json.code]).toEqual([404, 'not_found'])
  })

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])(
    '%s to a path that is only read is 405 with allow',
    async (method) => {
      for (const path of ['/livez', '/readyz', '/metrics', '/swagger', '/swagger/json', '/api/timings']) {
        const answer = await app.fetch(path, { method })
        expect([answer.status, answer.headers.get('allow'), answer.json.code]).toEqual([
          405,
          'GET, HEAD',
          'method_not_allowed',
        ])
      }
    },
  )
})
