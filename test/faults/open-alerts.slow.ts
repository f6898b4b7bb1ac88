// A DATA_DIR of version 1.1, killed while an alert of each condition fired, one of them acknowledged and one of a paused watch: this version fires
// nothing of it again, and ends each alert by its event. Written by write-open-alerts.ts.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCaller } from '../support/caller.ts'
import { lacks, WITHIN_MS } from '../support/fault-trial.ts'
import { createClockedProcess } from '../support/quick-clock.ts'
import { startReceiver } from '../support/receiver.ts'
import { RELEASED } from '../support/released.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const MINUTE_US = 60_000_000

interface Facts {
  readonly wallUs: number
  readonly cookie: string
  readonly secret: string
  /** By process. */
  readonly alerts: Readonly<Record<string, string>>
}

interface Shown {
  readonly id: string
  readonly process: string
  readonly state: string
  readonly acknowledged: object | null
  readonly ended_by: string | null
}

test.skipIf(lacks('chdb'))('open alerts of 1.1 are not fired again, and end by their events', async () => {
  const facts: Facts = JSON.parse(readFileSync(join(RELEASED, 'open-alerts.json'), 'utf8'))
  const dataDir = tempDir('open-alerts')
  const tar = Bun.spawnSync(['tar', '-xJf', join(RELEASED, 'open-alerts.tar.xz'), '-C', dataDir])
  expect(tar.success).toBe(true)
  using receiver = startReceiver()
  const path = join(dataDir, 'watches.sqlite')
  const before = new Database(path)
  before.run('UPDATE channel SET target = ?', [receiver.url]) // the receiver of then is gone
  before.close()
  const stepUs = facts.wallUs + MINUTE_US - Date.now() * 1_000
  const settings = { SIGNUP: 'open', NOTIFY_PRIVATE: 'true' }
  await using stint = createClockedProcess({ stepUs, passUs: 0 }, settings, { dataDir })
  await stint.start()

  const bySession = createCaller(stint.url, { cookie: facts.cookie })
  const byKey = createCaller(stint.url, { key: facts.secret })
  const send = async (kind: string, body: object) => expect((await byKey.post(`/v1/${kind}`, body)).status).toBe(201)
  const shown = async (): Promise<Shown[]> => (await bySession.get('/api/alerts')).json.alerts
  const bodies = () => receiver.requests.map(({ text }) => JSON.parse(text))
  const notified = () => bodies().map(({ type, data }) => `${type} ${data.process}`)

  const channel = (await bySession.get('/api/channels')).json.channels[0].id
  const probe = { name: 'probe', process: 'probe', failed: {}, channels: [channel] }
  expect((await bySession.post('/api/watches', probe)).status).toBe(201)
  await send('end', { process: 'probe', failed: true })
  await until('a new failure is notified', () => notified().includes('alert.firing probe'), WITHIN_MS)
  expect(notified()).toEqual(['alert.firing probe'])
  const old = (await shown()).filter(({ process }) => process !== 'probe')
  expect(Object.fromEntries(old.map(({ process, id }) => [process, id]))).toEqual(facts.alerts)
  expect(old.filter(({ state }) => state !== 'firing')).toEqual([])
  expect(old.filter(({ acknowledged }) => acknowledged !== null).map(({ process }) => process)).toEqual([
    'acknowledged',
  ])
  const { watches } = (await bySession.get('/api/watches?process=paused')).json
  expect(watches).toMatchObject([{ state: 'paused' }])

  await send('end', { process: 'long', uid: 'hangs' })
  await send('metrics', { process: 'metric', items: { rows: 9 } })
  for (const process of ['late', 'failed', 'acknowledged', 'paused', 'slow']) {
    await send('start', { process, uid: 'good' })
    await send('end', { process, uid: 'good' })
  }
  await until(
    'each alert ends',
    async () => (await shown()).filter((it) => it.state === 'firing').length === 1,
    WITHIN_MS,
  )
  const ended = (await shown()).filter(({ process }) => process !== 'probe')
  expect(ended.map(({ ended_by }) => ended_by)).toEqual(ended.map(() => 'event'))
  const others = Object.keys(facts.alerts).filter((process) => process !== 'paused' && process !== 'acknowledged')
  const ends = () => notified().filter((it) => it.startsWith('alert.resolved'))
  await until('the ends are notified', () => others.every((it) => ends().includes(`alert.resolved ${it}`)), WITHIN_MS)
  expect(notified().filter((it) => it.startsWith('alert.firing'))).toEqual(['alert.firing probe'])
  expect(ends().length).toBe(new Set(ends()).size)
  await stint.terminate()
  using file = new Database(path)
  const count = (table: string) => file.query<{ n: number }, []>(`SELECT count(*) n FROM ${table}`).get()!.n
  expect([count('alert'), count('alive WHERE seed_us IS NOT NULL')]).toEqual([8, 0])
})
