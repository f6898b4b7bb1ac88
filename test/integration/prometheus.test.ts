// A real Prometheus scrapes the real process: its own figures, and an account's processes with a read key; and the example rules hold.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { missing } from '../support/needs.ts'
import { takePort } from '../support/ports.ts'
import { type Caller, createStintProcess } from '../support/process.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const RULES = join(import.meta.dir, '../../src/deploy/prometheus-rules.yml')

describe.skipIf(missing('prometheus') !== undefined || missing('chdb') !== undefined)('Prometheus', () => {
  const stint = createStintProcess()
  const address = `127.0.0.1:${takePort()}`
  let caller: Caller
  let child: Bun.Subprocess | undefined

  beforeAll(async () => {
    await stint.start()
    caller = await stint.signUp('ada@example.com')
    const dir = tempDir('prometheus')
    const host = new URL(stint.url).host
    writeFileSync(
      join(dir, 'prometheus.yml'),
      JSON.stringify({
        global: { scrape_interval: '1s', evaluation_interval: '1s' },
        rule_files: [RULES],
        scrape_configs: [
          { job_name: 'stint', static_configs: [{ targets: [host] }] },
          {
            job_name: 'processes',
            metrics_path: '/api/prometheus',
            authorization: { credentials: caller.secret },
            static_configs: [{ targets: [host] }],
          },
        ],
      }),
    )
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
    await caller.post('/v1/start', { process: 'import', uid: 'a' })
    await caller.post('/v1/metrics', { process: 'import', items: { rows: 12.5 } })
    const ended = await caller.post('/v1/end', { process: 'import', uid: 'a', failed: true })
    const { at } = (await ended.json()) as { at: string }
    await becomes('up{job="processes"}', 1)
    await becomes('up{job="stint"}', 1)
    await becomes('stint_runs_24h{process="import",state="failed"}', 1)
    await becomes('stint_metric{process="import",name="rows"}', 12.5)
    const failedAt = await ask('stint_run_last_failure_timestamp_seconds{process="import"}')
    expect(failedAt).toBeCloseTo(Date.parse(at) / 1000, 2)
    await becomes('ALERTS{alertname="StintRunFailed",process="import"}', 1)
  })

  test.each(['/metrics', '/api/prometheus'])('promtool finds no fault in %s', async (path) => {
    const input = await (await caller.get(path)).text()
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' })
    expect([status, stdout, stderr]).toEqual([0, '', ''])
  })

  test('promtool finds no fault in the example rules', () => {
    expect(spawnSync('promtool', ['check', 'rules', RULES]).status).toBe(0)
  })
})
