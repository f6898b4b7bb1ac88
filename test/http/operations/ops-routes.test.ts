import { expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { Elysia } from 'elysia'
import pino from 'pino'
import { listen } from '../../../src/http/listen.ts'
import { createMounts } from '../../../src/http/mount.ts'
import { mountOperations, type OpsDeps } from '../../../src/http/operations/ops-routes.ts'
import { Problem } from '../../../src/problem.ts'
import { startApp, useApp } from '../../support/app.ts'
import { until } from '../../support/until.ts'

const app = await useApp()

test('/livez and /readyz answer without a key', async () => {
  for (const path of ['/livez', '/readyz']) {
    const { status, headers } = await app.fetch(path)
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain;charset=utf-8'])
    expect((await app.fetch(path, { method: 'HEAD' })).status).toBe(200)
  }
})

function listenTo(deps: Pick<OpsDeps, 'unready' | 'unreadable'>) {
  const routes = new Elysia()
  const authorize = () => Promise.reject(new Error('nobody is asked for a key here'))
  const mounts = createMounts(routes, { authorize, isOwnHost: () => true, noteDone: async () => {} })
  mountOperations(mounts, { ...deps, renderMetrics: async () => '' })
  return listen(routes, { host: '127.0.0.1', port: 0, tls: undefined, log: pino({ level: 'silent' }) })
}

test('/readyz stays 200 and names a file of the spool that cannot be read', async () => {
  const listener = await listenTo({ unready: () => undefined, unreadable: () => ['spool/points/7.segment'] })
  const response = await fetch(`${listener.url}/readyz`)
  expect([response.status, await response.text()]).toEqual([
    200,
    'ready\nspool/points/7.segment cannot be read: delivery waits for it\n',
  ])
  await listener.stop()
})

test('/readyz reports why no event can be accepted', async () => {
  const unready = () => new Problem('disk_low', 'There is too little free space.', { retryAfterS: 5 })
  const listener = await listenTo({ unready, unreadable: () => [] })
  const response = await fetch(`${listener.url}/readyz`)
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5'])
  expect(await response.json()).toMatchObject({ code: 'disk_low', detail: 'There is too little free space.' })
  expect((await fetch(`${listener.url}/livez`)).status).toBe(200)
  await listener.stop()
})

test('/readyz is 503 when the directory of a spool was deleted, and no event is accepted', async () => {
  await using broken = await startApp()
  rmSync(join(broken.rooms.config.dataDir, 'spool'), { recursive: true })
  expect((await broken.post('/v1/start', { process: 'p' })).status).toBe(500)
  await until('noticed', async () => (await broken.fetch('/readyz')).status === 503)
  expect((await broken.fetch('/readyz')).json).toMatchObject({ code: 'spool_missing' })
})

test('/metrics has the text format of Prometheus', async () => {
  const { status, headers, text } = await app.fetch('/metrics')
  expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
  expect(text).toContain('stint_events_accepted_total')
})
