// The upgrade of two nodes, one after the other, while clients send to both: version 2.0 on one PostgreSQL, InfluxDB and
// ClickHouse, with alerts that fire and events that wait in the spools. Every acknowledged event is there once and as it
// was sent, each failure is notified once, no alert fires again, and the session of an open page goes on.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type ApiCaller, createCaller, signUpAt } from '../support/caller.ts'
import { createClickHouse } from '../support/clickhouse-process.ts'
import { lacks, startLoad } from '../support/fault-trial.ts'
import { influxd, influxSettings } from '../support/influxd.ts'
import { createOracle, NOTHING_FOUND, readStored, untilShipped } from '../support/oracle.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { type Caller, callerOf, createStintProcess, type StintProcess } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { checkOut, readReleased } from '../support/released.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until, witnesses } from '../support/until.ts'

const old = checkOut(readReleased('2.0.0').commit)
const CLIENTS = 4
/** A node of 2.0 reads about a new watch every 2 s, and does not tell the judge of what it accepted before. */
const WATCH_KNOWN_MS = 5_000
const EVENTS = 1_000
const WITHIN_MS = 120_000
const TIMEOUT_MS = 600_000
const ALERTS = ['broken failed', 'hangs long', 'nightly late']

const needless = old === undefined || lacks('chdb', 'influxd', 'postgresql')
const receiver = startReceiver()
const clickhouse = createClickHouse('rolling')
let postgres: PostgresServer | undefined

beforeAll(async () => {
  if (needless) return
  postgres = await startPostgres()
  await clickhouse.start()
})

afterAll(async () => {
  await Promise.all([receiver.close(), clickhouse.kill(), postgres?.close()])
})

/** What the receiver was told, as `type process condition`, or of one process the meta of each. */
const told = (of?: string) =>
  receiver.requests.flatMap(({ text }) => {
    const { type, data } = JSON.parse(text)
    return of === undefined ? [`${type} ${data.process} ${data.condition}`] : data.process === of ? [data.meta] : []
  })

test.skipIf(needless)(
  'from 2.0 to this version, node by node: nothing is lost or twice, and every alert fires once',
  async () => {
    const settings = {
      DATABASE_URL: await postgres!.createDatabase(),
      ...influxSettings(await (await influxd()).freshBucket()),
      ...clickhouse.settings,
      ...{ SIGNUP: 'open', NOTIFY_PRIVATE: 'true' },
    }
    const dirs = [tempDir('rolling'), tempDir('rolling')]
    const node = (i: number, code?: string) =>
      createStintProcess(
        { ...settings, NODE_ID: `${i + 1}` },
        { dataDir: dirs[i]!, ...(code !== undefined && { entry: join(code, 'src/main.ts') }) },
      )
    const olds = [node(0, old), node(1, old)]
    const news = [node(0), node(1)]
    /** Those that a load balancer would send to. */
    let up: StintProcess[] = []
    try {
      await olds[0]!.start()
      await olds[1]!.start()
      up = [...olds]
      const { account, keyId, secret } = await olds[0]!.signUp('load@example.com')
      const watched = await signUpAt(olds[0]!.url, 'ada@example.com')
      let turn = 0
      const next = () => up[turn++ % up.length]!
      const balanced: Caller = {
        ...{ account, keyId, secret },
        post: (path, body) => callerOf(next().url, { account, keyId, secret }).post(path, body),
        get: (path) => callerOf(next().url, { account, keyId, secret }).get(path),
      }
      const page = (of: StintProcess): ApiCaller => createCaller(of.url, { cookie: watched.cookie })
      const send = async (path: string, body: object) => {
        const answer = await createCaller(next().url, { key: watched.secret }).post(`/v1/${path}`, body)
        expect(answer.status, answer.text).toBe(201)
      }
      const fail = async (process: string, meta: string) => {
        const uid = crypto.randomUUID()
        await send('start', { process, meta, uid })
        await send('end', { process, meta, uid, failed: true })
      }
      const isKnown = async (of: StintProcess, key: string) =>
        (await createCaller(of.url, { key }).get('/api/processes')).status === 200

      const hook = { name: 'on call', kind: 'webhook', url: receiver.url }
      const channels = [(await page(olds[0]!).post('/api/channels', hook)).json.channel.id]
      const watch = async (process: string, conditions: object) =>
        expect(
          (await page(olds[0]!).post('/api/watches', { name: process, process, channels, ...conditions })).status,
        ).toBe(201)
      await until('both nodes know the keys', async () =>
        (await Promise.all(olds.map((of) => isKnown(of, watched.secret)))).every(Boolean),
      )
      await watch('broken', { failed: {} })
      await watch('hangs', { long: '2s' })
      await watch('job', { failed: {} })
      await Bun.sleep(WATCH_KNOWN_MS)
      await fail('broken', 'm')
      await send('start', { process: 'hangs', uid: 'one' })
      await watch('nightly', { late: { every: '2s', grace: '1s' } })
      const firing = () => told().sort()
      const expected = ALERTS.map((it) => `alert.firing ${it}`)
      witnesses.set(told, async () => `\ntold: ${firing().join(', ')}`)
      await until('2.0 has fired each alert', () => Bun.deepEquals(firing(), expected), WITHIN_MS)
      witnesses.delete(told)

      const oracle = createOracle()
      const load = startLoad(
        oracle,
        Array.from({ length: CLIENTS }, () => balanced),
      )
      const more = async () => {
        const before = oracle.acknowledged()
        await until('more was taken', () => oracle.acknowledged() >= before + EVENTS, WITHIN_MS)
      }
      const failures: string[] = []
      const failSome = async (when: string) => {
        for (let i = 0; i < 4; i++) {
          failures.push(`${when} ${i}`)
          await fail('job', `${when} ${i}`)
        }
      }
      await more()
      await failSome('before')

      // the first is stopped, the second is killed with what its spool holds
      for (const [i, stop] of (['terminate', 'kill'] as const).entries()) {
        up = up.filter((of) => of !== olds[i])
        await failSome(`${stop} 1`)
        const ended = await olds[i]![stop]()
        if (stop === 'terminate') expect(ended).toBe(0)
        await news[i]!.start()
        up.push(news[i]!)
        await more()
        await failSome(`${stop} 2`)
        const { json } = await page(up[0]!).post('/api/keys', { name: `made during ${stop}`, scopes: ['read'] })
        const made = json.key as { id: string; secret: string }
        for (const of of up) await until('each node knows the key', () => isKnown(of, made.secret), WITHIN_MS)
        expect((await page(up[1]!).delete(`/api/keys/${made.id}`)).status).toBe(204)
        for (const of of up) await until('no node knows it', async () => !(await isKnown(of, made.secret)), WITHIN_MS)
      }

      await load.stop()
      await oracle.retry(balanced, (id) => id % 7 === 0)
      for (const { url } of news) await untilShipped(url, WITHIN_MS)
      expect(oracle.audit(await readStored(balanced))).toEqual(NOTHING_FOUND)
      expect([...oracle.refused.keys()].filter((status) => status !== 503)).toEqual([])

      const isTold = () => failures.every((meta) => told('job').includes(meta))
      await until('every failure is notified', isTold, WITHIN_MS)
      await send('end', { process: 'hangs', uid: 'one' })
      const isOver = () => told().includes('alert.resolved hangs long')
      await until('the run that hung is over', isOver, WITHIN_MS)
      for (const of of news) {
        for (const path of ['/api/session', '/api/overview', '/api/alerts', '/api/watches', '/api/processes'])
          expect((await page(of).get(path)).status, path).toBe(200)
        expect((await fetch(of.url)).status).toBe(200)
      }
      // a client of 2.0 as it is installed on a job's machine
      const job = Bun.spawnSync(
        ['bun', join(old!, 'src/cli/main.ts'), 'exec', '--process', 'old client', '--', 'sh', '-c', 'exit 3'],
        {
          env: {
            PATH: process.env.PATH!,
            HOME: tempDir('home'),
            STINT_URL: news[0]!.url,
            STINT_API_KEY: watched.secret,
          },
        },
      )
      expect(job.exitCode, job.stderr.toString()).toBe(3)
      const states = async () =>
        (await page(news[1]!).get('/api/timings?process=old%20client')).json.timings.map(
          (it: { state: string }) => it.state,
        )
      await until('its run is stored', async () => Bun.deepEquals(await states(), ['failed']), WITHIN_MS)

      for (const of of news) expect(await of.terminate()).toBe(0)
      const ids = receiver.requests.map(({ headers }) => headers.get('webhook-id'))
      const once = new Map(ids.map((id, i) => [id, told()[i]!]))
      expect(
        [...once.values()].filter((it) => !it.includes(' job ')).sort(),
        'a message that was cut off by a kill comes again, by its id',
      ).toEqual([...expected, 'alert.resolved hangs long'].sort())
      expect(new Set(told('job'))).toEqual(new Set(failures))
      const ofJobs = [...once.values()].filter((it) => it === 'alert.firing job failed')
      expect(ofJobs).toHaveLength(failures.length)
    } finally {
      await Promise.all([...olds, ...news].map((of) => of.close()))
    }
  },
  TIMEOUT_MS,
)
