// An upgrade under load: a released version, stopped or killed, and this one in its place on the same DATA_DIR, while clients send and send again what
// had no answer. Read back through the API, every acknowledged event is there once and as it was sent, and nothing else is; a run that failed just
// before is notified by one of the two, once.
import { expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import packageJson from '../../package.json' with { type: 'json' }
import { signUpAt } from '../support/caller.ts'
import { startClickHouseBridge } from '../support/clickhouse-bridge.ts'
import { lacks, manyOf, startLoad } from '../support/fault-trial.ts'
import { influxd, influxSettings } from '../support/influxd.ts'
import { createOracle, NOTHING_FOUND, readStored, untilShipped } from '../support/oracle.ts'
import { type Caller, callerOf, createStintProcess, type StintProcess } from '../support/process.ts'
import { ROOT } from '../support/readme.ts'
import { startReceiver } from '../support/receiver.ts'
import { checkOut, OPENED_VERSIONS, readReleased } from '../support/released.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const CLIENTS = 4
const EVENTS = 2_000
const FAILURES = 20
const WITHIN_MS = 120_000
/** More than there are steps. */
const STARTS_MAX = 20
const TIMEOUT_MS = 600_000

/** Where the history is missing, this version follows itself, and the name of the test says so. */
const olds = OPENED_VERSIONS.map((version) => {
  const dir = checkOut(readReleased(version).commit)
  return {
    dir: dir ?? ROOT,
    name: dir === undefined ? `${packageJson.version} (no history of ${version} here)` : version,
  }
})

async function upgrade(old: string, stop: 'terminate' | 'kill', env: Record<string, string>): Promise<void> {
  const dataDir = tempDir('upgrade')
  const settings = { SIGNUP: 'open', NOTIFY_PRIVATE: 'true', ...env }
  const before = createStintProcess(settings, { dataDir, entry: join(old, 'src/main.ts') })
  const after = createStintProcess(settings, { dataDir })
  using receiver = startReceiver()
  try {
    await before.start()
    const { account, keyId, secret } = await before.signUp('ada@example.com')
    let current = before
    const there = () => callerOf(current.url, { account, keyId, secret })
    const caller: Caller = {
      ...{ account, keyId, secret },
      post: (path, body) => there().post(path, body),
      get: (path) => there().get(path),
    }
    const watched = await signUpAt(before.url, 'bob@example.com')
    const channel = { name: 'on call', kind: 'webhook', url: receiver.url }
    const made = await watched.bySession.post('/api/channels', channel)
    const watch = { name: 'jobs', process: 'job', failed: {}, channels: [made.json.channel.id] }
    expect((await watched.bySession.post('/api/watches', watch)).status).toBe(201)
    const oracle = createOracle()
    const load = startLoad(oracle, manyOf(caller, CLIENTS))
    await until('the old version took its events', () => oracle.acknowledged() >= EVENTS, WITHIN_MS)
    for (let i = 0; i < FAILURES; i++)
      for (const [path, more] of Object.entries({ start: {}, end: { failed: true } }))
        expect((await watched.byKey.post(`/v1/${path}`, { process: 'job', meta: `m${i}`, ...more })).status).toBe(201)
    const ended = await before[stop]()
    if (stop === 'terminate') expect(ended).toBe(0)
    const byOld = oracle.acknowledged()
    if (stop === 'kill') await killWhileItMigrates(after)
    current = after
    await after.start()
    await until('this version took as many', () => oracle.acknowledged() >= byOld + EVENTS, WITHIN_MS)
    await load.stop()
    await oracle.retry(caller, (id) => id % 7 === 0) // what was in doubt, and some that were not
    await untilShipped(after.url, WITHIN_MS)
    expect(oracle.audit(await readStored(caller))).toEqual(NOTHING_FOUND)
    expect(oracle.sentAgain()).toBeGreaterThan(0)
    const notified = () => receiver.requests.map(({ text }) => JSON.parse(text).data.meta as string)
    await until('every failure is notified', () => new Set(notified()).size === FAILURES, WITHIN_MS)
    expect(await after.terminate()).toBe(0)
    // a kill between delivery and its record repeats the message, by the id that tells receivers so
    const ids = receiver.requests.map(({ headers }) => headers.get('webhook-id'))
    expect(new Set(ids).size).toBe(FAILURES)
    if (stop === 'terminate') expect(notified().length).toBe(FAILURES)
    expect([...oracle.refused.keys()].filter((status) => status !== 503)).toEqual([])
  } finally {
    await Promise.all([before.close(), after.close()])
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** Ended by kill -9 before it has done anything, and then after each step that it tells of, until it has nothing left to change. */
async function killWhileItMigrates(stint: StintProcess): Promise<void> {
  await stint.launch()
  await stint.kill()
  for (let starts = 1, isDone = false; !isDone; starts++) {
    expect(starts, 'a step is done once').toBeLessThan(STARTS_MAX)
    const from = stint.log().length
    const said = (what: string) => stint.log().includes(what, from)
    await stint.launch()
    await until('a step is done', () => said('tables created or changed') || said('stint is ready'), WITHIN_MS)
    await stint.kill()
    isDone = said('stint is ready')
  }
}

const ways = ['terminate', 'kill'] as const

test.skipIf(lacks('chdb')).each(olds.flatMap(({ name, dir }) => ways.map((way) => [name, way, dir] as const)))(
  'from %s to this version after %s: nothing is lost, nothing is there twice',
  (_, way, dir) => upgrade(dir, way, {}),
  TIMEOUT_MS,
)

test.skipIf(lacks('chdb', 'influxd')).each(olds.slice(0, 1).map(({ name, dir }) => [name, dir] as const))(
  'from %s with InfluxDB and ClickHouse, killed: nothing is lost, nothing is there twice',
  async (_, dir) => {
    const bucket = await (await influxd()).freshBucket()
    const clickhouse = await startClickHouseBridge()
    try {
      await upgrade(dir, 'kill', {
        ...influxSettings(bucket),
        ...{
          CLICKHOUSE_URL: clickhouse.url,
          CLICKHOUSE_USER: clickhouse.user,
          CLICKHOUSE_PASSWORD: clickhouse.password,
        },
        CLICKHOUSE_DATABASE: clickhouse.database,
      })
    } finally {
      await clickhouse.stop()
    }
  },
)
