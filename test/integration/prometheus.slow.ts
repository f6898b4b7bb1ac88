// A real Prometheus scrapes the real process with the configuration of docker-compose.yml: its own figures, and an account's
// processes with a read key; and the example rules and Grafana's hold.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { YAML } from 'bun'
import { type SignedUp, signUpAt } from '../support/caller.ts'
import { missing } from '../support/needs.ts'
import { takePort } from '../support/ports.ts'
import { createStintProcess } from '../support/process.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const DEPLOY = join(import.meta.dir, '../../src/deploy')
const RULES = join(DEPLOY, 'prometheus-rules.yml')

/** The query of one of Grafana's rules. */
function grafanaRule(uid: string): string {
  const [group] = JSON.parse(readFileSync(join(DEPLOY, 'grafana/alerting/rules.json'), 'utf8')).groups
  return group.rules.find((rule: { uid: string }) => rule.uid === uid).data[0].model.expr
}

describe.skipIf(missing('prometheus') !== undefined || missing('chdb') !== undefined)('Prometheus', () => {
  const stint = createStintProcess()
  const address = `127.0.0.1:${takePort()}`
  let caller: SignedUp
  let child: Bun.Subprocess | undefined

  beforeAll(async () => {
    await stint.start()
    caller = await signUpAt(stint.url)
    const dir = tempDir('prometheus')
    writeFileSync(join(dir, 'stint.key'), `${caller.secret}\n`)
    const text = readFileSync(join(DEPLOY, 'prometheus.yml'), 'utf8')
      .replaceAll('stint:7070', new URL(stint.url).host)
      .replace('/etc/prometheus/stint.key', join(dir, 'stint.key'))
    const config = YAML.parse(text) as object
    const global = { scrape_interval: '1s', evaluation_interval: '1s' }
    writeFileSync(join(dir, 'prometheus.yml'), JSON.stringify({ ...config, global, rule_files: [RULES] }))
    child = Bun.spawn(
      [
        'prometheus',
        `--config.file=${dir}/prometheus.yml`,
        `--storage.tsdb.path=${dir}/data`,
        `--web.listen-address=${address}`,
      ],
      { stdout: 'ignore', stderr: 'ignore' },
    )
  })

  afterAll(async () => {
    child?.kill()
    await child?.exited
    await stint.close()
  })

  /** The value of an instant query; undefined without a series. */
  async function ask(query: string): Promise<number | undefined> {
    const response = await fetch(`http://${address}/api/v1/query?query=${encodeURIComponent(query)}`)
    const { data } = (await response.json()) as { data: { result: { value: [number, string] }[] } }
    const value = data.result[0]?.value[1]
    return value === undefined ? undefined : Number(value)
  }

  const becomes = (query: string, value: number) =>
    until(`${query} = ${value}`, async () => (await ask(query).catch(() => undefined)) === value)

  test('shows a failed run, a metric and both targets as up', async () => {
    const { byKey } = caller
    await byKey.post('/v1/start', { process: 'import', uid: 'a' })
    await byKey.post('/v1/metrics', { process: 'import', items: { rows: 12.5 } })
    const ended = await byKey.post('/v1/end', { process: 'import', uid: 'a', failed: true })
    const { at } = ended.json as { at: string }
    await becomes('up{job="stint-processes"}', 1)
    await becomes('up{job="stint"}', 1)
    await becomes('stint_runs_24h{process="import",state="failed"}', 1)
    await becomes('stint_metric{process="import",name="rows"}', 12.5)
    const failedAt = await ask('stint_run_last_failure_timestamp_seconds{process="import"}')
    expect(failedAt).toBeCloseTo(Date.parse(at) / 1000, 2)
    await becomes('ALERTS{alertname="StintRunFailed",process="import"}', 1)
  })

  test("Grafana's rule about watches fires and resolves with Stint's alert", async () => {
    const { byKey, bySession } = caller
    const watch = { name: 'the import', process: 'import', failed: { after: 1 }, channels: [] }
    expect((await bySession.post('/api/watches', watch)).status).toBe(201)
    const rule = grafanaRule('stint-watch-firing')
    const labels = '{watch="the import",condition="failed",process="import"}'
    await byKey.post('/v1/start', { process: 'import', uid: 'b' })
    await byKey.post('/v1/end', { process: 'import', uid: 'b', failed: true })
    await becomes(`(${rule}) and on (watch, condition, process) stint_alert_firing${labels}`, 1)
    await byKey.post('/v1/start', { process: 'import', uid: 'c' })
    await byKey.post('/v1/end', { process: 'import', uid: 'c' })
    await until('the rule resolves', async () => (await ask(rule)) === undefined)
  })

  test("Grafana's rule about runs that never end counts a process without uid that is killed and restarted", async () => {
    for (let n = 0; n < 4; n++) await caller.byKey.post('/v1/start', { process: 'worker' })
    const rule = grafanaRule('stint-runs-never-end')
    await becomes(rule, 3)
    await caller.byKey.post('/v1/end', { process: 'worker' })
    await until('the rule resolves with an end', async () => (await ask(rule)) === undefined)
  })

  test("Grafana's rule about a key reports one that is no longer valid", async () => {
    const rule = grafanaRule('stint-watches-unread')
    await becomes(rule, 0)
    expect((await caller.bySession.delete(`/api/keys/${caller.keyId}`)).status).toBe(204)
    await becomes(rule, 1)
  })

  test.each(['/metrics', '/api/prometheus'])('promtool finds no fault in %s', async (path) => {
    const { text: input } = await caller.bySession.get(path)
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' })
    expect([status, stdout, stderr]).toEqual([0, '', ''])
  })

  test('promtool finds no fault in the example rules', () => {
    expect(spawnSync('promtool', ['check', 'rules', RULES]).status).toBe(0)
  })
})
