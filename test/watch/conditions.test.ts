// Watches of the real process over each kind of store, from the request to the webhook: metrics, exceptions and what arrives late.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type SignedUp, signUpAt } from '../support/caller.ts'
import { influxd, influxdMissing } from '../support/influxd.ts'
import { missing } from '../support/needs.ts'
import type { Env } from '../support/process.ts'
import { createQuickProcess, type QuickProcess } from '../support/quick-clock.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

const DAY_MS = 86_400_000
const WITHIN_MS = 60_000

interface Body {
  readonly type: string
  readonly data: { readonly condition: string; readonly process: string; readonly uid: string | null }
}

function createReceiver() {
  const bodies: Body[] = []
  const beats: number[] = []
  const { url, close } = startReceiver(({ path, text }) => {
    if (path === '/beat') beats.push(Date.now())
    else bodies.push(JSON.parse(text))
    return new Response('ok')
  })
  return { url, bodies, beats, close }
}

const influxEnv = async (): Promise<Env> => {
  const { url, token, org, bucket } = await (await influxd()).freshBucket()
  return { INFLUX_URL: url, INFLUX_TOKEN: token, INFLUX_ORG: org, INFLUX_BUCKET: bucket }
}

const STORES = [
  { name: 'the embedded engine', env: async (): Promise<Env> => ({}), reason: missing('chdb') },
  { name: 'InfluxDB', env: influxEnv, reason: missing('chdb') ?? influxdMissing },
]

for (const { name, env, reason } of STORES) {
  describe.skipIf(reason !== undefined)(`watches over ${name}`, () => {
    const receiver = createReceiver()
    let stint: QuickProcess
    let caller: SignedUp
    let channel = ''

    const watch = async (process: string, conditions: object) => {
      const made = await caller.bySession.post('/api/watches', {
        name: process,
        process,
        channels: [channel],
        ...conditions,
      })
      expect(made.status).toBe(201)
    }
    const send = async (kind: string, body: object) => {
      expect((await caller.byKey.post(`/v1/${kind}`, body)).status).toBe(201)
    }
    const got = (type: string, process: string) =>
      receiver.bodies.filter((body) => body.type === `alert.${type}` && body.data.process === process)
    const gets = (type: string, process: string) =>
      until(`${type} of ${process}`, () => got(type, process).length > 0, WITHIN_MS)

    beforeAll(async () => {
      stint = createQuickProcess({
        NOTIFY_PRIVATE: 'true',
        STINT_HEARTBEAT_URL: `${receiver.url}/beat`,
        ...(await env()),
      })
      await stint.start()
      caller = await signUpAt(stint.url)
      const hook = { name: 'hook', kind: 'webhook', url: receiver.url }
      channel = (await caller.bySession.post('/api/channels', hook)).json.channel.id
    })
    afterAll(async () => {
      await stint?.close()
      await receiver.close()
    })

    test('a metric below its number fires, and resolves when it is back', async () => {
      await watch('workers', { metric: { name: 'alive', window: '20s', of: 'last', below: 2 } })
      await send('metrics', { process: 'workers', items: { alive: 1, other: 5 } })
      await gets('firing', 'workers')
      expect(got('firing', 'workers')[0]!.data).toMatchObject({ condition: 'metric' })
      await send('metrics', { process: 'workers', items: { alive: 3 } })
      await gets('resolved', 'workers')
    })

    test('an exception fires, the run that raised it does not resolve it, the next one does', async () => {
      await watch('importer', { failed: { exceptions: true }, long: '4s' })
      await send('start', { process: 'importer', uid: 'a' })
      await send('exception', { process: 'importer', uid: 'a', exception: 'ValueError: no rows' })
      await send('end', { process: 'importer', uid: 'a' })
      await gets('firing', 'importer')
      expect(got('firing', 'importer')[0]!.data).toMatchObject({ condition: 'failed', uid: 'a' })
      expect(got('resolved', 'importer')).toEqual([])
      await send('start', { process: 'importer', uid: 'b' })
      await send('end', { process: 'importer', uid: 'b' })
      await gets('resolved', 'importer')
    })

    test('the heartbeat is requested', async () => {
      await until('a heartbeat', () => receiver.beats.length > 0, WITHIN_MS)
    })

    test('a failure of last night that arrives now is notified once, also after a kill; one from before the watch is not', async () => {
      await watch('nightly', { failed: {}, long: '5h' })
      await watch('killed', { failed: {}, long: '5h' })
      await watch('threw', { failed: { exceptions: true } })
      await stint.terminate()
      const db = new Database(join(stint.dataDir, 'watches.sqlite'))
      db.run('UPDATE watch SET since_us = since_us - ?', [DAY_MS * 1000]) // the watches are a day old
      db.close()
      await stint.start()
      await gets('firing', 'importer') // evaluation works again
      const at = (agoMs: number) => new Date(stint.nowMs() - agoMs).toISOString()
      const backlog = async (process: string) => {
        await send('start', { process, uid: 'old', at: at(3 * DAY_MS) })
        await send('end', { process, uid: 'old', at: at(3 * DAY_MS - 60_000), failed: true })
        await send('start', { process, uid: 'night', at: at(0.5 * DAY_MS) })
        await send('end', { process, uid: 'night', at: at(0.5 * DAY_MS - 60_000), failed: true })
        await send('start', { process, uid: 'morning', at: at(0.2 * DAY_MS) })
        await send('end', { process, uid: 'morning', at: at(0.2 * DAY_MS - 60_000) })
      }
      await backlog('nightly')
      await gets('firing', 'nightly')
      await backlog('killed')
      await send('exception', { process: 'threw', exception: 'ValueError: no rows', at: at(0.5 * DAY_MS) })
      await stint.kill()
      await stint.start()
      await gets('firing', 'killed')
      await gets('firing', 'threw')
      await backlog('nightly') // sent again
      await watch('last', { failed: {} })
      await send('start', { process: 'last' })
      await send('end', { process: 'last', failed: true })
      await gets('firing', 'last')
      for (const process of ['nightly', 'killed']) {
        // one notification of an episode that was over when its events arrived
        expect(got('firing', process).map(({ data }) => data.uid)).toEqual(['night'])
        expect(got('firing', process)[0]!.data).toMatchObject({ resolved_at: expect.any(String), ended_by: 'event' })
        expect(got('resolved', process)).toEqual([])
      }
      expect(got('firing', 'threw').length).toBe(1)
    })
  })
}
