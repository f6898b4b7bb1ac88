// What docker-compose.yml and the pages describe, with what an operator has and other tests lack: both stores, two nodes on
// PostgreSQL behind HAProxy and nginx, two accounts, and the shipped rules in a real Prometheus. Every rule is made true and
// false: it fires once, and only when it should. Every panel's query answers, and a rolling restart fails no call.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { YAML } from 'bun'
import { askPanel, type Panel, type View } from '../deploy/grafana.ts'
import { type Balancer, startBalancer } from '../support/balancers.ts'
import { type SignedUp, signUpAt } from '../support/caller.ts'
import { createClickHouse } from '../support/clickhouse-process.ts'
import { type InfluxBucket, influxd, influxSettings } from '../support/influxd.ts'
import { type LossyProxy, startLossyProxy } from '../support/lossy-proxy.ts'
import { missing } from '../support/needs.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { type Caller, callerOf, createStintProcess, type StintProcess } from '../support/process.ts'
import { startPrometheus } from '../support/prometheus.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const DEPLOY = join(import.meta.dir, '../../src/deploy')
const NEEDS = ['chdb', 'influxd', 'postgresql', 'prometheus', 'haproxy', 'nginx'] as const
const RUNS = 500
const CLIENTS = 8
const STOP_DELAY_MS = 5000
const SETUP_CODE = 'a setup code'
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

interface TitledPanel extends Panel {
  readonly id: number
  readonly title: string
}

describe.skipIf(NEEDS.some((need) => missing(need) !== undefined))('a deployment of two nodes', () => {
  const clickhouse = createClickHouse('deployment')
  const dir = tempDir('deployment')
  const bobKey = join(dir, 'bob.key')
  const keys = { 'stint-processes': join(dir, 'ada.key'), 'stint-processes-bob': bobKey }
  const rules = [...grafanaRules(), ...shippedRules()]
  let postgres: PostgresServer
  let points: LossyProxy
  let exceptions: LossyProxy
  let bucket: InfluxBucket
  let nodes: readonly [StintProcess, StintProcess]
  let balancers: readonly [Balancer, Balancer]
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
      60_000,
      100,
    ).catch(async () => expect(await prometheus.firing(alert)).toEqual([...labels] as never))
  /** These alerts fire, and no other rule does: at one judgement, because a scrape of a busy machine may take too long. */
  const firesAlone = async (alerts: readonly (readonly [alert: string, labels: readonly object[]])[]) => {
    const expected = new Map(alerts)
    const differ = async () => {
      await prometheus.judged()
      const found = await Promise.all(rules.map(({ alert }) => prometheus.firing(alert)))
      return rules.flatMap(({ alert }, i) => {
        const [fires, should] = [sorted(found[i]!), sorted(expected.get(alert) ?? [])]
        return Bun.deepEquals(fires, should) ? [] : [{ alert, fires, should }]
      })
    }
    await until('these alerts fire alone', async () => (await differ()).length === 0, 60_000).catch(async () =>
      expect(await differ()).toEqual([]),
    )
  }
  const sorted = (labels: readonly object[]) => labels.map((each) => JSON.stringify(Object.entries(each).sort())).sort()

  beforeAll(async () => {
    postgres = await startPostgres()
    const influx = await influxd()
    bucket = { ...influx, bucket: influx.freshName() }
    await clickhouse.start()
    points = await startLossyProxy({ to: influx.url, lose: 0, random: () => 1 })
    exceptions = await startLossyProxy({ to: clickhouse.settings.CLICKHOUSE_URL, lose: 0, random: () => 1 })
    const settings = {
      ...influxSettings({ ...bucket, url: points.url }),
      ...clickhouse.settings,
      CLICKHOUSE_URL: exceptions.url,
      DATABASE_URL: await postgres.createDatabase(),
      ...{ SIGNUP: 'open', SETUP_CODE, SPOOL_MAX_BYTES: '16MiB' },
      ...{ TRUST_PROXY: '1', STOP_DELAY: `${STOP_DELAY_MS / 1000}s` },
    }
    nodes = [createStintProcess({ ...settings, NODE_ID: '0' }), createStintProcess({ ...settings, NODE_ID: '1' })]
    await nodes[0].start()
    await nodes[1].start()
    balancers = [await startBalancer('haproxy', nodes), await startBalancer('nginx', nodes)]
    ada = await signUpAt(nodes[0].url, 'ada@example.com', { setup_code: SETUP_CODE })
    const known = (who: SignedUp) =>
      until('each node knows the key', async () => {
        const answers = await Promise.all([at(0, who).get('/api/health'), at(1, who).get('/api/health')])
        return answers.every(({ ok }) => ok)
      })
    await known(ada)
    bob = await signUpAt(nodes[1].url, 'bob@example.com')
    await known(bob)

    const [startMs, endMs] = [Date.now() - 27 * HOUR_MS, Date.now() - 26.5 * HOUR_MS]
    await send(at(0, ada), 'start', { process: 'nightly import', at: new Date(startMs).toISOString() })
    await send(at(1, ada), 'end', { process: 'nightly import', at: new Date(endMs).toISOString() })
    writeFileSync(join(dir, 'ada.key'), ada.secret)
    writeFileSync(bobKey, bob.secret)
    await until('the nightly import is stored', async () =>
      (await (await at(0, ada).get('/api/prometheus')).text()).includes('nightly import'),
    )
    prometheus = startPrometheus(prometheusConfig(nodes.map(hostOf), keys), [
      { name: 'grafana', rules: grafanaRules() },
      { name: 'stint', rules: shippedRules() },
    ])
  })

  afterAll(async () => {
    await Promise.all([prometheus?.close(), ...(balancers ?? []).map((balancer) => balancer.close())])
    await Promise.all((nodes ?? []).map((node) => node.close()))
    await Promise.all([points?.stop(), exceptions?.stop(), clickhouse.kill(), postgres?.close()])
  })

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

  test('a late import, a failed run, a watch in each account and runs that never end', async () => {
    const late = ['StintNightlyImportIsLate', [{ job: 'stint-processes', process: 'nightly import' }]] as const
    await firesAlone([late])

    const watch = { name: 'the job', process: 'job', failed: { after: 1 }, channels: [] }
    for (const [node, who] of [ada, bob].entries()) {
      expect((await who.bySession.post('/api/watches', watch)).status).toBe(201)
      expect((await who.bySession.post('/api/watches', { ...watch, process: 'another job' })).status).toBe(201)
      // at the node where the watch was made: another one learns of it within two seconds
      await runOnce(at(node as 0 | 1, who), 'job', { failed: true })
      await runOnce(at(node as 0 | 1, who), 'another job')
    }
    for (let n = 0; n < 3; n++) await send(at(0, ada), 'start', { process: 'twice killed' })
    for (let n = 0; n < 4; n++) await send(at((n % 2) as 0 | 1, ada), 'start', { process: 'killed three times' })
    const inBoth = (labels: object) => Object.keys(keys).map((job) => ({ job, ...labels }))
    await firesAlone([
      late,
      ['StintRunFailed', inBoth({ process: 'job' })],
      ['stint-watch-firing', inBoth({ watch: 'the job', condition: 'failed', process: 'job' })],
      ['stint-runs-never-end', [{ job: 'stint-processes', process: 'killed three times' }]],
    ])

    for (const who of [ada, bob]) await runOnce(at(0, who), 'job')
    await runOnce(at(0, ada), 'nightly import')
    await send(at(1, ada), 'end', { process: 'killed three times' })
    await firesAlone([])
  }, 180_000)

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
    await firesAlone([['stint-away', [{ instance: hostOf(nodes[1]) }]]])
    await nodes[1].start()
    await fires('stint-away', [])
  }, 90_000)

  test('a rolling restart behind HAProxy and nginx fails no call, and every run is one', async () => {
    const [haproxy, nginx] = balancers.map(({ url }) => callerOf(url, ada)) as [Caller, Caller]
    const answers = new Map<string, number>()
    const [process, fromMs] = ['through balancers', Date.now() - 1000]
    let [runs, isOver] = [0, false]
    const call = async (caller: Caller, path: string, body: object) => {
      const answer = await caller.post(`/v1/${path}`, { process, ...body }).then(
        ({ status }) => String(status),
        (error: Error) => error.message,
      )
      answers.set(answer, (answers.get(answer) ?? 0) + 1)
    }
    const clients = Array.from({ length: CLIENTS }, async (_, i) => {
      const [first, second] = i % 2 ? [nginx, haproxy] : [haproxy, nginx]
      for (let n = 0; !isOver; n++, runs++) {
        const uid = `${i}-${n}`
        await call(first, 'start', { uid })
        if (n % 10 === 0) await call(second, 'exception', { uid, exception: `run ${n}` })
        await call(second, 'end', { uid })
      }
    })
    const moreRuns = async () => {
      const before = runs
      await until('runs through the balancers', () => runs > before + 50)
    }
    try {
      await moreRuns()
      for (const [i, node] of nodes.entries()) {
        const sinceMs = performance.now()
        const stopped = node.terminate()
        await until('it is unready', async () => (await fetch(`${node.url}/readyz`)).status === 503)
        expect(await (await fetch(`${node.url}/readyz`)).json()).toMatchObject({ code: 'stopping' })
        await runOnce(at(i as 0 | 1, ada), 'at a node that stops')
        expect(await stopped).toBe(0)
        expect(performance.now() - sinceMs).toBeGreaterThan(STOP_DELAY_MS - 100)
        await moreRuns()
        await node.start()
        await moreRuns()
      }
    } finally {
      isOver = true
    }
    await Promise.all(clients)
    expect(Object.fromEntries(answers)).toEqual({ '201': expect.any(Number) })
    const range = new URLSearchParams({
      // a stamp may be a moment ahead of this clock
      ...{ process, from: new Date(fromMs).toISOString(), to: new Date(Date.now() + 1000).toISOString() },
    })
    const summary = async () => (await ada.byKey.get(`/api/timings/summary?${range}`)).json.rows[0]
    const isStored = async () => (await summary())?.count === runs
    await until('all are stored', isStored).catch(() => {}) // what differs is said below
    expect(await summary()).toMatchObject({ count: runs, failed: 0, running: 0, orphan: 0 })
    await firesAlone([])
  }, 180_000)

  const panels = ['overview', 'process', 'stint'].flatMap((name) => {
    const { panels } = JSON.parse(read(`grafana/dashboards/influxdb/${name}.json`)) as { panels: TitledPanel[] }
    const panelOf = (id: number) => panels.find((panel) => panel.id === id)!
    return panels.filter(({ targets }) => targets).map((panel) => ({ name: `${name}: ${panel.title}`, panel, panelOf }))
  })
  test.each(panels)('$name answers', async ({ panel, panelOf }) => {
    const all = { all: '[^%]*' }
    // not the thousands of runs through the balancers, which take a busy machine long to pair
    const process = ['job', 'killed three times', 'twice killed', 'moving', 'p']
    const nowMs = Date.now()
    const view: View = {
      ...{ fromMs: nowMs - HOUR_MS, toMs: nowMs, intervalMs: 60_000 },
      variables: {
        ...{ account: all, process, meta: all, metric: 'rows' },
        ...{ now: `${nowMs}000000`, max_run_ns: '86400000000000' },
      },
    }
    const exprs = panel.targets.flatMap(({ expr }) => (expr === undefined ? [] : [expr]))
    for (const expr of exprs) expect(await prometheus.ask(expr.replaceAll('$__rate_interval', '1h'))).not.toEqual([])
    if (exprs.length === 0)
      expect(await askPanel(panel, panelOf, { bucket, clickhouse: clickhouse.address }, view)).not.toEqual([])
  })
})
