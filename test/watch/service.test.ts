// Watches from outside: the real process, a real receiver, kills.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Webhook } from 'standardwebhooks'
import { createPerson } from '../cli/cli-cast.ts'
import { type ApiCaller, signUpAt } from '../support/caller.ts'
import { missing } from '../support/needs.ts'
import { createQuickProcess } from '../support/quick-clock.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

const WITHIN_MS = 60_000

interface Received {
  readonly id: string
  readonly headers: Record<string, string>
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: whatever JSON came; the tests say what it must be
  readonly body: any
}

describe.skipIf(missing('chdb') !== undefined)('watches', () => {
  const received: Received[] = []
  let status = 200
  const receiver = startReceiver(({ headers: sent, text }) => {
    const headers = Object.fromEntries(sent)
    if (status === 200) received.push({ id: headers['webhook-id'] ?? '', headers, text, body: JSON.parse(text) })
    return new Response('taken', { status })
  })
  const stint = createQuickProcess({ NOTIFY_PRIVATE: 'true' })
  let ask: ApiCaller['call']
  let byKey: ApiCaller
  let channel = ''
  let secret = ''

  const send = (path: string, body: object) => byKey.post(`/v1/${path}`, body)
  const watch = async (process: string, conditions: object) => {
    const made = await ask('POST', '/api/watches', { name: process, process, channels: [channel], ...conditions })
    expect(made.status).toBe(201)
    return made.json.watch
  }
  const got = (type: string, process: string) =>
    received.filter(({ body }) => body.type === type && body.data.process === process)
  const gets = (type: string, process: string, count = 1) =>
    until(`${count} × ${type} of ${process}`, () => got(type, process).length >= count, WITHIN_MS)

  beforeAll(async () => {
    await stint.start()
    const person = await signUpAt(stint.url)
    byKey = person.byKey
    ask = person.bySession.call
    const made = await ask('POST', '/api/channels', { name: 'hook', kind: 'webhook', url: `${receiver.url}/` })
    expect(made.status).toBe(201)
    channel = made.json.channel.id
    secret = made.json.channel.secret
  })
  afterAll(async () => {
    await receiver.close()
    await stint.close()
  })

  test('a late process is notified, and its start resolves the alert', async () => {
    const { id } = await watch('late one', { late: { every: '1s', grace: '1s' } })
    await gets('alert.firing', 'late one')
    const [{ headers, text, body }] = got('alert.firing', 'late one') as [Received]
    expect(new Webhook(secret).verify(text, headers)).toEqual(body)
    expect(body.data).toMatchObject({ watch: { id, name: 'late one' }, condition: 'late', meta: null, uid: null })
    const firing = await ask('GET', '/api/alerts?state=firing')
    expect(firing.json.alerts).toMatchObject([{ id: body.data.id, state: 'firing', resolved_at: null }])
    await ask('PATCH', `/api/watches/${id}`, { late: { every: '1h', grace: '1s' } })
    expect((await ask('GET', '/api/alerts?state=firing')).json.alerts).toEqual([])
    const { secret: manage } = (await ask('POST', '/api/keys', { name: 'cli', scopes: ['manage'] })).json.key
    const refused = await createPerson(stint.url).run(`alerts ack ${body.data.id}`, { env: { STINT_API_KEY: manage } })
    expect([refused.exitCode, refused.stderr]).toEqual([
      1,
      expect.stringContaining('The alert has ended. Only an alert'),
    ])
    await ask('DELETE', `/api/watches/${id}`)
  })

  test('a failed run and its recovery, a long run and its end', async () => {
    await watch('job', { failed: { after: 1 }, long: '2s' })
    await send('start', { process: 'job', uid: 'a' })
    await send('end', { process: 'job', uid: 'a', failed: true })
    await gets('alert.firing', 'job')
    expect(got('alert.firing', 'job')[0]?.body.data).toMatchObject({ condition: 'failed', uid: 'a' })
    await send('start', { process: 'job', uid: 'b' })
    await gets('alert.firing', 'job', 2)
    expect(got('alert.firing', 'job')[1]?.body.data).toMatchObject({ condition: 'long', uid: 'b' })
    await send('end', { process: 'job', uid: 'b' })
    await gets('alert.resolved', 'job', 2)
    expect(new Set(received.map(({ id }) => id)).size).toBe(received.length)
  })

  test('a kill loses no notification and repeats none with another id', async () => {
    status = 503
    for (const i of [1, 2, 3]) {
      await watch(`killed ${i}`, { failed: {}, long: '5s' })
      await send('start', { process: `killed ${i}` })
      await send('end', { process: `killed ${i}`, failed: true })
    }
    await until('three alerts fire', async () => {
      const { alerts } = (await ask('GET', '/api/alerts?state=firing')).json
      return alerts.filter(({ process }: { process: string }) => process.startsWith('killed')).length === 3
    })
    await stint.kill()
    status = 200
    await stint.start()
    for (const i of [1, 2, 3]) await gets('alert.firing', `killed ${i}`)
    await stint.kill()
    await stint.start()
    await send('start', { process: 'killed 1' })
    await send('end', { process: 'killed 1' })
    await gets('alert.resolved', 'killed 1')
    for (const i of [1, 2, 3]) expect(new Set(got('alert.firing', `killed ${i}`).map(({ id }) => id)).size).toBe(1)
  })

  test('a restart causes no alert, and silence counts from the restart', async () => {
    await send('start', { process: 'steady' })
    await watch('steady', { late: { every: '4s', grace: '1s' } })
    await send('start', { process: 'steady' })
    await stint.terminate()
    const downUntilMs = stint.nowMs() + 6_000 // longer than the interval and its grace
    await until('it was down for longer than the interval', () => stint.nowMs() > downUntilMs)
    await stint.start()
    const backAt = stint.nowMs()
    await gets('alert.firing', 'steady')
    expect(Date.parse(got('alert.firing', 'steady')[0]!.body.data.since) - backAt).toBeGreaterThan(2_500)
  })
})
