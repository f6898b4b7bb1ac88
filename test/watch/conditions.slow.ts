// Watches of the real process over each kind of store, from the request to the webhook: what arrives late, and a kill meanwhile.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { influxd, influxdMissing, influxSettings } from '../support/influxd.ts'
import { missing } from '../support/needs.ts'
import type { Env } from '../support/process.ts'
import { startWatched, type WatchedStint } from './watch-stint.ts'

const DAY_MS = 86_400_000

const STORES = [
  { name: 'the embedded engine', env: async (): Promise<Env> => ({}), reason: missing('chdb') },
  {
    name: 'InfluxDB',
    env: async () => influxSettings(await (await influxd()).freshBucket()),
    reason: missing('chdb') ?? influxdMissing,
  },
]

for (const { name, env, reason } of STORES) {
  describe.skipIf(reason !== undefined)(`watches over ${name}`, () => {
    let watched: WatchedStint
    beforeAll(async () => {
      const own = await env()
      watched = await startWatched(() => own)
    })
    afterAll(() => watched?.[Symbol.asyncDispose]())

    test('a failure of last night that arrives now is notified once, also after a kill; one from before the watch is not', async () => {
      await watched.watch('nightly', { failed: {}, long: '5h' })
      await watched.watch('killed', { failed: {}, long: '5h' })
      await watched.watch('threw', { failed: { exceptions: true } })
      await watched.stint.terminate()
      const db = new Database(join(watched.stint.dataDir, 'watches.sqlite'))
      db.run('UPDATE watch SET since_us = since_us - ?', [DAY_MS * 1000]) // the watches are a day old
      db.close()
      await watched.stint.start()
      const at = (agoMs: number) => new Date(watched.stint.nowMs() - agoMs).toISOString()
      const backlog = async (process: string) => {
        await watched.send('start', { process, uid: 'old', at: at(3 * DAY_MS) })
        await watched.send('end', { process, uid: 'old', at: at(3 * DAY_MS - 60_000), failed: true })
        await watched.send('start', { process, uid: 'night', at: at(0.5 * DAY_MS) })
        await watched.send('end', { process, uid: 'night', at: at(0.5 * DAY_MS - 60_000), failed: true })
        await watched.send('start', { process, uid: 'morning', at: at(0.2 * DAY_MS) })
        await watched.send('end', { process, uid: 'morning', at: at(0.2 * DAY_MS - 60_000) })
      }
      await backlog('nightly')
      await watched.gets('firing', 'nightly')
      await backlog('killed')
      await watched.send('exception', { process: 'threw', exception: 'ValueError: no rows', at: at(0.5 * DAY_MS) })
      await watched.stint.kill()
      await watched.stint.start()
      await watched.gets('firing', 'killed')
      await watched.gets('firing', 'threw')
      await backlog('nightly') // sent again
      await watched.watch('last', { failed: {} })
      await watched.send('start', { process: 'last' })
      await watched.send('end', { process: 'last', failed: true })
      await watched.gets('firing', 'last')
      for (const process of ['nightly', 'killed']) {
        // one notification of an episode that was over when its events arrived
        expect(watched.got('firing', process).map(({ body }) => body.data.uid)).toEqual(['night'])
        expect(watched.got('firing', process)[0]!.body.data).toMatchObject({
          resolved_at: expect.any(String),
          ended_by: 'event',
        })
        expect(watched.got('resolved', process)).toEqual([])
      }
      expect(watched.got('firing', 'threw').length).toBe(1)
    })
  })
}
