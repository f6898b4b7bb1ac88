// /metrics as Prometheus reads it: from the first scrape on, by the naming rules of promtool.
import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import v8 from 'node:v8'
import { createMetrics } from '../src/metrics.ts'
import { problemTable } from '../src/problem.ts'
import { readVersion } from '../src/version.ts'
import { startApp } from './support/app.ts'
import { missing } from './support/needs.ts'

let app: Awaited<ReturnType<typeof startApp>>
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

interface Family {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly samples: {
    readonly name: string
    readonly labels: Readonly<Record<string, string>>
    readonly value: number
  }[]
}

async function scrape(): Promise<Map<string, Family>> {
  const families = new Map<string, Family>()
  let current: Family | undefined
  for (const line of (await (await fetch(`${app.url}/metrics`)).text()).split('\n')) {
    const [, name, help] = /^# HELP (\S+) (.*)$/.exec(line) ?? []
    if (name !== undefined) {
      current = { name, help: help!, type: '', samples: [] }
      families.set(name, current)
      continue
    }
    const [, , type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? []
    if (type !== undefined) {
      current = { ...current!, type }
      families.set(current.name, current)
      continue
    }
    const [, sample, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    if (sample === undefined) continue
    const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, text]) => [label!, text!])
    current!.samples.push({ name: sample, labels: Object.fromEntries(pairs), value: Number(value) })
  }
  return families
}

test.skipIf(missing('prometheus') !== undefined)('promtool finds no fault in the names', async () => {
  const input = (await app.fetch('/metrics')).text
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' })
  expect([status, stdout + stderr]).toEqual([0, ''])
})

describe('from the first scrape on', () => {
  test('every counter exists at zero, so that a first burst is visible', async () => {
    const counters = [...(await scrape()).values()].filter(
      ({ name, type }) => name.startsWith('stint_') && type === 'counter',
    )
    for (const { name, samples } of counters) expect([name, samples.length > 0]).toEqual([name, true])
    const values = counters.flatMap(({ name, samples }) =>
      name === 'stint_account_actions_total' ? [] : samples.map(({ value }) => value),
    )
    expect(new Set(values)).toEqual(new Set([0]))
    const refused = counters.find(({ name }) => name === 'stint_events_refused_total')!
    for (const { labels } of refused.samples) expect(Object.keys(problemTable)).toContain(labels.reason!)
  })

  test('has build info, free space and spool limits', async () => {
    const families = await scrape()
    const { version, commit = '' } = readVersion()
    expect(families.get('stint_build_info')!.samples).toEqual([
      { name: 'stint_build_info', labels: { version, commit, runtime: `bun ${Bun.version}` }, value: 1 },
    ])
    expect(families.get('stint_disk_free_bytes')!.samples[0]!.value).toBeGreaterThan(2 ** 20)
    const limits = families.get('stint_spool_limit_bytes')!.samples
    expect(limits.map(({ labels }) => labels.destination)).toEqual(['points', 'exceptions'])
    for (const { value } of limits) expect(value).toBeGreaterThan(0)
  })
})

test('a scrape has the process metrics, and does not make Bun collect all garbage', async () => {
  const heapSpaces = spyOn(v8, 'getHeapSpaceStatistics')
  const text = await createMetrics().registry.metrics()
  for (const name of [
    'process_cpu_seconds_total',
    'process_resident_memory_bytes',
    'process_open_fds',
    'process_start_time_seconds',
    'nodejs_eventloop_lag_p99_seconds',
    'nodejs_heap_size_used_bytes',
  ])
    expect(text).toContain(`\n${name}`)
  expect(heapSpaces).not.toHaveBeenCalled()
  heapSpaces.mockRestore()
})

test('measures requests and questions in consistent histograms', async () => {
  const headers = { 'x-stint-api-key': app.keys.owner, 'content-type': 'application/json' }
  for (let i = 0; i < 5; i++) {
    const answer = await fetch(`${app.url}/v1/start`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ process: 'p' }),
    })
    expect(answer.status).toBe(201)
  }
  await fetch(`${app.url}/v1/start`, { method: 'POST', headers, body: '{}' })
  expect((await fetch(`${app.url}/api/processes`, { headers })).status).toBe(200)
  const families = await scrape()
  for (const [name, expected] of [
    ['stint_request_seconds', 5],
    ['stint_question_seconds', 1],
  ] as const) {
    const samples = families
      .get(name)!
      .samples.filter(({ labels }) => labels.question === undefined || labels.question === 'processes')
    const counts = samples.filter((sample) => sample.name.endsWith('_bucket')).map(({ value }) => value)
    expect(counts).toEqual([...counts].sort((a, b) => a - b))
    expect(counts.at(-1)).toBe(expected)
    expect(samples.find((sample) => sample.name.endsWith('_count'))!.value).toBe(expected)
    const sum = samples.find((sample) => sample.name.endsWith('_sum'))!.value
    expect(sum).toBeGreaterThanOrEqual(0)
    expect(sum).toBeLessThan(60)
  }
  const accepted = families.get('stint_events_accepted_total')!.samples
  expect(accepted.find(({ labels }) => labels.kind === 'start')!.value).toBe(5)
})
