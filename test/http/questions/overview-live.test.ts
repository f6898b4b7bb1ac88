// GET /api/overview over HTTP at a real Stint whose stores take nothing: what had its 201 is in the answer.
import { describe, expect, test } from 'bun:test'
import { startApp } from '../../support/app.ts'
import { until } from '../../support/until.ts'

const SECOND_US = 1e6

describe('with both stores away', () => {
  test('a start, an end and the reason of a failure are there as soon as they had their 201', async () => {
    await using app = await startApp()
    const ask = async () => (await app.fetch('/api/overview', { key: app.keys.owner })).json
    expect((await ask()).processes).toEqual([])
    expect((await app.post('/v1/start', { process: 'job', uid: 'a' })).status).toBe(201)
    expect(await ask()).toMatchObject({ stale_s: null, processes: [{ process: 'job', state: 'running' }] })
    app.clock.pass(SECOND_US)
    await app.post('/v1/exception', { process: 'job', uid: 'a', exception: 'Error: disk full\n  at x' })
    await app.post('/v1/end', { process: 'job', uid: 'a', failed: true })
    const [row] = (await ask()).processes
    expect(row).toMatchObject({ state: 'failed', exception: 'Error: disk full', last_24h: { runs: 1, failed: 1 } })
    const [, state, ms, , uid] = row.runs[0]
    expect([state, Math.round(ms), uid]).toEqual(['failed', 1000, 'a'])
  })

  test('its tag holds while nothing comes, and for one process while others send', async () => {
    await using app = await startApp()
    const ask = (path: string, tag = '""') =>
      app.fetch(path, { key: app.keys.owner, headers: { 'if-none-match': tag } })
    await app.post('/v1/start', { process: 'job' })
    const [all, one] = ['/api/overview', '/api/overview?process=job']
    const tagOf = async (path: string) => {
      let tag: string | null = null
      await until('it has a tag', async () => {
        tag = (await ask(path)).headers.get('etag')
        return tag !== null
      })
      return tag!
    }
    const [ofAll, ofOne] = [await tagOf(all), await tagOf(one)]
    expect([(await ask(all, ofAll)).status, (await ask(one, ofOne)).status]).toEqual([304, 304])
    await app.post('/v1/start', { process: 'other' })
    await until('the log was read', async () => (await ask(all, ofAll)).status === 200)
    expect((await ask(one, ofOne)).status).toBe(304)
    expect((await ask('/api/timings?process=job', '""')).status).toBe(200)
  })

  test('/api/changes differs once something came', async () => {
    await using app = await startApp()
    const ask = async () => (await app.fetch('/api/changes', { key: app.keys.owner })).json
    const before = await ask()
    expect(before).toMatchObject({ whole: true })
    await app.post('/v1/start', { process: 'job' })
    await until('it differs', async () => (await ask()).version !== before.version)
  })
})
