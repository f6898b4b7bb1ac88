// Watches from outside: the real process and a real receiver. Killed in between: service-killed.slow.ts.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Webhook } from 'standardwebhooks'
import { createPerson } from '../cli/cli-cast.ts'
import type { ApiCaller } from '../support/caller.ts'
import { missing } from '../support/needs.ts'
import { until } from '../support/until.ts'
import { type Notified, startWatched, type WatchedStint } from './watch-stint.ts'

const idOf = ({ headers }: Notified) => headers.get('webhook-id')

describe.skipIf(missing('chdb') !== undefined)('watches', () => {
  let watched: WatchedStint
  let ask: ApiCaller['call']
  beforeAll(async () => {
    watched = await startWatched((url) => ({ STINT_HEARTBEAT_URL: `${url}/beat` }))
    ask = watched.person.bySession.call
  })
  afterAll(() => watched[Symbol.asyncDispose]())

  test('a late process is notified, and its start resolves the alert', async () => {
    const { id } = await watched.watch('late one', { late: { every: '1s', grace: '1s' } })
    await watched.gets('firing', 'late one')
    const [{ headers, text, body }] = watched.got('firing', 'late one') as [Notified]
    expect(new Webhook(watched.secret).verify(text, Object.fromEntries(headers))).toEqual(body)
    expect(body.data).toMatchObject({ watch: { id, name: 'late one' }, condition: 'late', meta: null, uid: null })
    const firing = await ask('GET', '/api/alerts?state=firing')
    expect(firing.json.alerts).toMatchObject([{ id: body.data.id, state: 'firing', resolved_at: null }])
    // not all of it is equal: notified_at is set once the answer to the webhook is stored
    const ofProcess = await ask('GET', '/api/alerts?process=late%20one')
    expect(ofProcess.json.alerts).toMatchObject([{ id: body.data.id, state: 'firing', resolved_at: null }])
    expect((await ask('GET', '/api/alerts?process=late')).json.alerts).toEqual([])
    await ask('PATCH', `/api/watches/${id}`, { late: { every: '1h', grace: '1s' } })
    expect((await ask('GET', '/api/alerts?state=firing')).json.alerts).toEqual([])
    const { secret: manage } = (await ask('POST', '/api/keys', { name: 'cli', scopes: ['manage'] })).json.key
    const refused = await createPerson(watched.stint.url).run(`alerts ack ${body.data.id}`, {
      env: { STINT_API_KEY: manage },
    })
    expect([refused.exitCode, refused.stderr]).toEqual([
      1,
      expect.stringContaining('The alert has ended. Only an alert'),
    ])
    await ask('DELETE', `/api/watches/${id}`)
  })

  test('/metrics counts from the due time to the notification, and from an arrival until open pages know of it', async () => {
    await watched.watch('timed', { failed: {} })
    await ask('GET', '/api/overview')
    await watched.send('end', { process: 'timed', failed: true })
    await watched.gets('firing', 'timed')
    const count = async (name: string) => {
      const text = await (await fetch(`${watched.stint.url}/metrics`)).text()
      return Number(new RegExp(`^${name}_count (\\d+)$`, 'm').exec(text)?.[1])
    }
    await until('both were observed', async () => {
      const counts = [await count('stint_alert_seconds'), await count('stint_live_seconds')]
      return counts.every((n) => n > 0)
    })
  })

  test('a failed run and its recovery, a long run and its end', async () => {
    await watched.watch('job', { failed: { after: 1 }, long: '16s' })
    await watched.send('start', { process: 'job', uid: 'a' })
    await watched.send('end', { process: 'job', uid: 'a', failed: true })
    await watched.gets('firing', 'job')
    expect(watched.got('firing', 'job')[0]?.body.data).toMatchObject({ condition: 'failed', uid: 'a' })
    await watched.send('start', { process: 'job', uid: 'b' })
    await watched.gets('firing', 'job', 2)
    expect(watched.got('firing', 'job')[1]?.body.data).toMatchObject({ condition: 'long', uid: 'b' })
    await watched.send('end', { process: 'job', uid: 'b' })
    await watched.gets('resolved', 'job', 2)
    const { received } = watched
    expect(new Set(received.map(idOf)).size).toBe(received.length)
  })

  test('a metric below its number fires, and resolves when it is back', async () => {
    await watched.watch('workers', { metric: { name: 'alive', window: '20s', of: 'last', below: 2 } })
    await watched.send('metrics', { process: 'workers', items: { alive: 1, other: 5 } })
    await watched.gets('firing', 'workers')
    expect(watched.got('firing', 'workers')[0]!.body.data).toMatchObject({ condition: 'metric' })
    await watched.send('metrics', { process: 'workers', items: { alive: 3 } })
    await watched.gets('resolved', 'workers')
  })

  test('an exception fires, the run that raised it does not resolve it, the next one does', async () => {
    await watched.watch('importer', { failed: { exceptions: true }, long: '4s' })
    await watched.send('start', { process: 'importer', uid: 'a' })
    await watched.send('exception', { process: 'importer', uid: 'a', exception: 'ValueError: no rows' })
    await watched.send('end', { process: 'importer', uid: 'a' })
    await watched.gets('firing', 'importer')
    expect(watched.got('firing', 'importer')[0]!.body.data).toMatchObject({ condition: 'failed', uid: 'a' })
    expect(watched.got('resolved', 'importer')).toEqual([])
    await watched.send('start', { process: 'importer', uid: 'b' })
    await watched.send('end', { process: 'importer', uid: 'b' })
    await watched.gets('resolved', 'importer')
  })

  test('the heartbeat is requested', async () => {
    await until('a heartbeat', () => watched.requests.some(({ path }) => path === '/beat'))
  })
})
