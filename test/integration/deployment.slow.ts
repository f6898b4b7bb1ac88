// What docker-compose.yml and the pages describe, with what an operator has and other tests lack: both stores, two nodes on
// PostgreSQL, two accounts, and the shipped rules in a real Prometheus. Every rule is made true and false: it fires once, and
// only when it should.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { YAML } from 'bun'
import { type SignedUp, signUpAt } from '../support/caller.ts'
import { createClickHouse } from '../support/clickhouse-process.ts'
import { influxd, influxSettings } from '../support/influxd.ts'
import { type LossyProxy, startLossyProxy } from '../support/lossy-proxy.ts'
import { missing } from '../support/needs.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { type Caller, callerOf, createStintProcess, type StintProcess } from '../support/process.ts'
import { startPrometheus } from '../support/prometheus.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const DEPLOY = join(import.meta.dir, '../../src/deploy')
const NEEDS = ['chdb', 'influxd', 'postgresql', 'prometheus'] as const
const RUNS = 500
const HOUR_MS = 3_600_000

const read = (path: string) => readFileSync(join(DEPLOY, path), 'utf8')

interface Rule {
  readonly alert: string
  readonly expr: string
}

/** Without the times that a rule waits for, and with spans of seconds. */
const impatient = ({ alert, expr }: Rule): Rule => ({ alert, expr: expr.replace('[5m]', '[10s]') })

/** Grafana compares the last value of the query. */
function grafanaRules(): Rule[] {
  const [group] = JSON.parse(read('grafana/alerting/rules.json')).groups
  return group.rules.map(({ uid, data }: { uid: string; data: { model: Record<string, unknown> }[] }) => {
    const [query, , threshold] = data
    const [{ evaluator }] = threshold!.model.conditions as [{ evaluator: { params: [number] } }]
    const limit = uid === 'stint-spool-old' ? 1 : evaluator.params[0]
    return impatient({ alert: uid, expr: `(${query!.model.expr}) > ${limit}` })
  })
}

const shippedRules = (): Rule[] =>
  (YAML.parse(read('prometheus-rules.yml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(({ rules }) =>
    rules.map(impatient),
  )

/** As prometheus.yml, with two nodes; and as the page says, another job for another account. */
function prometheusConfig(hosts: readonly string[], keys: Readonly<Record<string, string>>) {
  const [own, processes] = (YAML.parse(read('prometheus.yml')) as { scrape_configs: object[] }).scrape_configs
  const static_configs = [{ targets: hosts }]
  const ofAccounts = Object.entries(keys).map(([job_name, credentials_file]) => ({
    ...{ ...processes, job_name, authorization: { credentials_file }, static_configs },
  }))
  return { scrape_configs: [{ ...own, static_configs }, ...ofAccounts] }
}

describe.skipIf(NEEDS.some((need) => missing(need) !== undefined))('a deployment of two nodes', () => {
  const clickhouse = createClickHouse('deployment')
  const dir = tempDir('deployment')
  const bobKey = join(dir, 'bob.key')
  let postgres: PostgresServer
  let points: LossyProxy
  let exceptions: LossyProxy
  let nodes: readonly [StintProcess, StintProcess]
  let ada: SignedUp
  let bob: SignedUp
  let prometheus: ReturnType<typeof startPrometheus>

  const hostOf = ({ url }: StintProcess) => new URL(url).host
  const at = (node: 0 | 1, who: SignedUp): Caller => callerOf(nodes[node].url, who)
  const send = async (caller: Caller, path: string, body: object) =>
    expect((await caller.post(`/v1/${path}`, body)).status).toBe(201)
  const runOnce = async (caller: Caller, process: string, end: object = {}) => {
    await send(caller, 'start', { process })
    await send(caller, 'end', { process, ...end })
  }
  const fires = (alert: string, labels: readonly object[]) =>
    until(
      `${alert} fires ${labels.length} times`,
      async () => Bun.deepEquals(sorted(await prometheus.firing(alert)), sorted(labels)),
      30_000,
      100,
    ).catch(async () => expect(await prometheus.firing(alert)).toEqual([...labels] as never))
  const restsNow = async (alert: string) => {
    await prometheus.judged()
    expect(await prometheus.firing(alert)).toEqual([])
  }
  const sorted = (labels: readonly object[]) => labels.map((each) => JSON.stringify(Object.entries(each).sort())).sort()

  beforeAll(async () => {
    postgres = await startPostgres()
    const influx = await influxd()
    await clickhouse.start()
    points = await startLossyProxy({ to: influx.url, lose: 0, random: () => 1 })
    exceptions = await startLossyProxy({ to: clickhouse.settings.CLICKHOUSE_URL, lose: 0, random: () => 1 })
    const settings = {
      ...influxSettings({ ...influx, bucket: influx.freshName(), url: points.url }),
      ...clickhouse.settings,
      CLICKHOUSE_URL: exceptions.url,
      DATABASE_URL: await postgres.createDatabase(),
      SIGNUP: 'open',
      SPOOL_MAX_BYTES: '1MiB',
    }
    nodes = [createStintProcess({ ...settings, NODE_ID: '0' }), createStintProcess({ ...settings, NODE_ID: '1' })]
    await nodes[0].start()
    await nodes[1].start()
    ada = await signUpAt(nodes[0].url, 'ada@example.com')
    bob = await signUpAt(nodes[1].url, 'bob@example.com')
    for (const node of [0, 1] as const)
      for (const who of [ada, bob])
        await until('each node knows each key', async () => (await at(node, who).get('/api/health')).ok)

    const [startMs, endMs] = [Date.now() - 27 * HOUR_MS, Date.now() - 26.5 * HOUR_MS]
    await send(at(0, ada), 'start', { process: 'nightly import', at: new Date(startMs).toISOString() })
    await send(at(1, ada), 'end', { process: 'nightly import', at: new Date(endMs).toISOString() })
    writeFileSync(join(dir, 'ada.key'), ada.secret)
    writeFileSync(bobKey, bob.secret)
    const keys = { 'stint-processes': join(dir, 'ada.key'), 'stint-processes-bob': bobKey }
    await until('the nightly import is stored', async () =>
      (await (await at(0, ada).get('/api/prometheus')).text()).includes('nightly import'),
    )
    prometheus = startPrometheus(prometheusConfig(nodes.map(hostOf), keys), [
      { name: 'grafana', rules: grafanaRules() },
      { name: 'stint', rules: shippedRules() },
    ])
  })

  afterAll(async () => {
    await Promise.all([prometheus?.close(), ...(nodes ?? []).map((node) => node.close())])
    await Promise.all([points?.stop(), exceptions?.stop(), clickhouse.kill(), postgres?.close()])
  })

  test('the nightly import is late, and nothing else fires', async () => {
    await fires('StintNightlyImportIsLate', [{ job: 'stint-processes', process: 'nightly import' }])
    await prometheus.judged()
    for (const { alert } of [...grafanaRules(), ...shippedRules()])
      if (alert !== 'StintNightlyImportIsLate') expect([alert, await prometheus.firing(alert)]).toEqual([alert, []])
    await runOnce(at(0, ada), 'nightly import')
    await fires('StintNightlyImportIsLate', [])
  }, 60_000)

  test('a run that starts at one node and ends at the other is one run', async () => {
    const fromMs = Date.now() - 1000
    for (let n = 0; n < RUNS; n++) {
      await send(at((n % 2) as 0 | 1, bob), 'start', { process: 'moving' })
      await send(at(((n + 1) % 2) as 0 | 1, bob), 'end', { process: 'moving' })
    }
    const counted = async () => {
      const range = `from=${encodeURIComponent(new Date(fromMs).toISOString())}&to=${encodeURIComponent(new Date().toISOString())}`
      return (await bob.byKey.get(`/api/timings/summary?process=moving&${range}`)).json.rows[0]
    }
    await until('all are stored', async () => (await counted())?.count === RUNS)
    expect(await counted()).toMatchObject({ count: RUNS, failed: 0, running: 0, orphan: 0 })
  }, 120_000)

  test('a run that failed, until one succeeds', async () => {
    await runOnce(at(1, ada), 'import', { failed: true })
    await fires('StintRunFailed', [{ job: 'stint-processes', process: 'import' }])
    await runOnce(at(0, ada), 'import')
    await fires('StintRunFailed', [])
  }, 60_000)

  test('a watch of the same name fires in each of two accounts', async () => {
    for (const who of [ada, bob]) {
      const watch = { name: 'the job', process: 'job', failed: { after: 1 }, channels: [] }
      expect((await who.bySession.post('/api/watches', watch)).status).toBe(201)
    }
    const labels = { watch: 'the job', condition: 'failed', process: 'job' }
    await runOnce(at(1, bob), 'job', { failed: true })
    await fires('stint-watch-firing', [{ job: 'stint-processes-bob', ...labels }])
    await runOnce(at(0, ada), 'job', { failed: true })
    await fires('stint-watch-firing', [
      { job: 'stint-processes', ...labels },
      { job: 'stint-processes-bob', ...labels },
    ])
    for (const who of [ada, bob]) await runOnce(at(0, who), 'job')
    await fires('stint-watch-firing', [])
  }, 60_000)

  test('more than two runs that never end, however many nodes report them', async () => {
    for (let n = 0; n < 3; n++) await send(at(0, ada), 'start', { process: 'worker' })
    await until('two are abandoned', async () =>
      (await prometheus.ask('stint_runs_24h{process="worker",state="abandoned"}')).some(({ value }) => value === 2),
    )
    await restsNow('stint-runs-never-end')
    await send(at(1, ada), 'start', { process: 'worker' })
    await fires('stint-runs-never-end', [{ job: 'stint-processes', process: 'worker' }])
    await send(at(0, ada), 'end', { process: 'worker' })
    await fires('stint-runs-never-end', [])
  }, 60_000)

  test('a dead letter, at its node', async () => {
    points.refuse('poison')
    await send(at(1, bob), 'metrics', { process: 'poison', items: { rows: 1 } })
    await fires('stint-dead-letters', [{ instance: hostOf(nodes[1]), destination: 'points' }])
    points.refuse(undefined)
    const caller = at(1, bob)
    const { dead } = (await (await caller.get('/api/dead')).json()) as { dead: { id: string }[] }
    for (const { id } of dead)
      await fetch(`${nodes[1].url}/api/dead/${id}`, { method: 'DELETE', headers: { cookie: bob.cookie } })
    await fires('stint-dead-letters', [])
  }, 60_000)

  test('a destination that is parked, at its node', async () => {
    exceptions.refuse('')
    await send(at(0, ada), 'exception', { process: 'p', exception: 'e' })
    await fires('stint-destination-parked', [{ instance: hostOf(nodes[0]), destination: 'exceptions' }])
    exceptions.refuse(undefined)
    await fires('stint-destination-parked', [])
  }, 90_000)

  test('an event that waits for its store, at its node', async () => {
    points.setDown(true)
    await send(at(1, ada), 'metrics', { process: 'p', items: { rows: 1 } })
    await fires('stint-spool-old', [{ instance: hostOf(nodes[1]), destination: 'points' }])
    points.setDown(false)
    await fires('stint-spool-old', [])
  }, 60_000)

  test('events that are refused, at their node', async () => {
    exceptions.setDown(true)
    const fill = async () =>
      (await at(0, ada).post('/v1/exception', { process: 'p', exception: 'x'.repeat(15_000) })).status
    await until('a full spool', async () => (await fill()) === 503)
    await until('a scrape between', async () => {
      await fill()
      return (await prometheus.firing('stint-refuses')).length > 0
    })
    await fires('stint-refuses', [{ instance: hostOf(nodes[0]), reason: 'spool_full' }])
    exceptions.setDown(false)
    await fires('stint-refuses', [])
  }, 90_000)

  test('the alerts of one of two accounts are not read', async () => {
    const { json } = await bob.bySession.post('/api/keys', { name: 'another', scopes: ['read'] })
    expect((await bob.bySession.delete(`/api/keys/${bob.keyId}`)).status).toBe(204)
    await fires('stint-watches-unread', [{ job: 'stint-processes-bob' }])
    await fires('StintNotScraped', [{ job: 'stint-processes-bob' }])
    writeFileSync(bobKey, json.key.secret)
    await fires('stint-watches-unread', [])
    await fires('StintNotScraped', [])
  }, 60_000)

  test('a node that does not answer', async () => {
    await nodes[1].kill()
    await fires('stint-away', [{ instance: hostOf(nodes[1]) }])
    await restsNow('stint-watches-unread')
    await restsNow('StintNotScraped')
    await nodes[1].start()
    await fires('stint-away', [])
  }, 90_000)
})
