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
import { createFailingDisk } from '../../support/failing-disk.ts'
import { until } from '../../support/until.ts'

const app = await useApp()

test('/livez and /readyz answer without a key', async () => {
  for (const path of ['/livez', '/readyz']) {
    const { status, headers } = await app.fetch(path)
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain;charset=utf-8'])
    expect((await app.fetch(path, { method: 'HEAD' })).status).toBe(200)
  }
})

function listenTo(deps: Pick<OpsDeps, 'unready' | 'notes'>) {
  const routes = new Elysia()
  const authorize = () => Promise.reject(new Error('nobody is asked for a key here'))
  const mounts = createMounts(routes, { authorize, isOwnHost: () => true, noteDone: async () => {} })
  mountOperations(mounts, { ...deps, renderMetrics: async () => '' })
  return listen(routes, { host: '127.0.0.1', port: 0, tls: undefined, log: pino({ level: 'silent' }) })
}

test('/readyz stays 200 and has a line for each thing that is wrong', async () => {
  const note = 'spool/points/7.segment cannot be read: delivery waits for it'
  const listener = await listenTo({ unready: () => undefined, notes: () => [note] })
  const response = await fetch(`${listener.url}/readyz`)
  expect([response.status, await response.text()]).toEqual([
    200,
    'ready\nspool/points/7.segment cannot be read: delivery waits for it\n',
  ])
  await listener.stop()
})

test('/readyz reports why no event can be accepted', async () => {
  const unready = () => new Problem('disk_low', 'There is too little free space.', { retryAfterS: 5 })
  const listener = await listenTo({ unready, notes: () => [] })
  const response = await fetch(`${listener.url}/readyz`)
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5'])
  expect(await response.json()).toMatchObject({ code: 'disk_low', detail: 'There is too little free space.' })
  expect((await fetch(`${listener.url}/livez`)).status).toBe(200)
  await listener.stop()
})

test('/readyz is ready while one of two spools is full, and names the other', async () => {
  await using small = await startApp({ spoolMaxBytes: 2_000_000 })
  const exception = 'x'.repeat(15_000)
  const fill = async () => (await small.post('/v1/exception', { process: 'p', exception })).status
  await until('one spool is full', async () => (await fill()) === 503)
  const { status, text } = await small.fetch('/readyz')
  expect([status, text]).toEqual([200, 'ready\nexceptions are refused: spool_full\n'])
  expect((await small.post('/v1/start', { process: 'p' })).status).toBe(201)
  await until('it is logged', () => small.log.some((line) => line.includes('the spool is full: events are refused')))
})

test('/readyz is not ready while writes fail, and is ready again without an event when the disk is well', async () => {
  const disk = { points: createFailingDisk(), exceptions: createFailingDisk() }
  await using app = await startApp({ disk })
  const send = async (path: string, body: object) => (await app.post(path, { process: 'p', ...body })).status
  const state = async () => (await app.fetch('/readyz')).text
  disk.points.isBroken = true
  expect(await send('/v1/start', {})).toBe(500)
  expect(await state()).toBe('ready\npoints are refused: disk_failed\n')
  disk.exceptions.isBroken = true
  expect(await send('/v1/exception', { exception: 'e' })).toBe(500)
  expect(await app.fetch('/readyz')).toMatchObject({ status: 500, json: { code: 'disk_failed' } })
  for (let i = 0; i < 50; i++) expect(await send('/v1/start', {})).toBe(500)
  expect((await app.fetch('/readyz')).status).toBe(500)
  for (const one of Object.values(disk)) one.isBroken = false
  await until('it is ready', async () => (await state()) === 'ready\n')
  expect(await send('/v1/start', {})).toBe(201)
  const errors = app.log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'records could not be written')
  expect(errors.filter(({ level, dir }) => level === 50 && dir.endsWith('points'))).toHaveLength(1)
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
