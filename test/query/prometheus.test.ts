import { expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import type { Event } from '../../src/event/event.ts'
import { parseStampNs } from '../../src/event/stamp.ts'
import { createPrometheus, type FiringAlert, MAX_SERIES } from '../../src/query/prometheus.ts'
import { keptAt } from '../support/memory-questions.ts'
import { createMemorySource } from '../support/memory-source.ts'
import { missing } from '../support/needs.ts'

const S = 1_000_000_000n
const HOUR_S = 3_600
const DAY_S = 24 * HOUR_S
const NOW = 1_763_673_600n * S

const at = (agoS: number, process = 'import', meta = '') => ({
  account: 'ada',
  process,
  meta,
  stamp: parseStampNs(NOW - BigInt(agoS) * S),
})
const run = (agoS: number, lengthS: number, of: { process?: string; meta?: string; failed?: true } = {}): Event[] => [
  { ...at(agoS, of.process, of.meta), kind: 'start', uid: `u${agoS}` },
  { ...at(agoS - lengthS, of.process, of.meta), kind: 'end', uid: `u${agoS}`, ...(of.failed && { failed: true }) },
]

function open(events: Event[], firing: readonly FiringAlert[] = []) {
  let nowNs = NOW
  const source = createMemorySource(events)
  const reads: bigint[] = []
  const render = createPrometheus({
    ...source,
    points: {
      ...source.points,
      summarizeTimings(q) {
        reads.push((q.toNs - q.fromNs) / S)
        return source.points.summarizeTimings(q)
      },
    },
    nowNs: () => nowNs,
    kept: keptAt(() => nowNs),
    maxRunNs: BigInt(DAY_S) * S,
    firing: async (account) => (account === 'ada' ? firing : []),
  })
  return {
    reads,
    pass: (seconds: number) => (nowNs += BigInt(seconds) * S),
    text: (account = 'ada') => render({ account }),
    lines: async () => (await render({ account: 'ada' })).split('\n').filter((line) => !line.startsWith('#')),
  }
}

test('shows the newest runs and the counts of a day', async () => {
  const { lines } = open([
    ...run(3 * DAY_S, 60),
    ...run(7_200, 90, { failed: true }),
    ...run(3_600, 30),
    { ...at(60), kind: 'start', uid: 'open' },
    { ...at(50), kind: 'exception', exception: 'Error: x' },
  ])
  expect(await lines()).toEqual([
    'stint_run_last_start_timestamp_seconds{process="import"} 1763673540',
    'stint_run_last_success_timestamp_seconds{process="import"} 1763670030',
    'stint_run_last_failure_timestamp_seconds{process="import"} 1763666490',
    'stint_run_last_duration_seconds{process="import"} 30',
    'stint_runs_running{process="import"} 1',
    'stint_runs_24h{process="import",state="completed"} 1',
    'stint_runs_24h{process="import",state="failed"} 1',
    'stint_runs_24h{process="import",state="abandoned"} 0',
    'stint_runs_24h{process="import",state="orphan"} 0',
    'stint_exceptions_24h{process="import"} 1',
    'stint_series_omitted 0',
    '',
  ])
})

test('a weekly job keeps its last success for 31 days', async () => {
  const { text } = open(run(6 * DAY_S, 60, { process: 'weekly', meta: 'eu' }))
  const labels = '{process="weekly",meta="eu"}'
  expect(await text()).toContain(`stint_run_last_success_timestamp_seconds${labels} 1763155260\n`)
  expect(await text()).toContain(`stint_run_last_duration_seconds${labels} 60\n`)
  expect(await text()).toContain('stint_runs_24h{process="weekly",meta="eu",state="completed"} 0\n')
})

test('shows the newest value of each metric, and escapes names', async () => {
  const process = 'a\\b {x="1"}'
  const { text } = open([
    { ...at(2 * DAY_S, process), kind: 'metrics', items: [['old', 1]] },
    { ...at(20, process), kind: 'metrics', items: [['rows', 1]] },
    { ...at(10, process), kind: 'metrics', items: [['rows', -2.5]] },
  ])
  expect(await text()).toContain(
    'stint_metric{process="a\\\\b {x=\\"1\\"}",name="old"} 1\nstint_metric{process="a\\\\b {x=\\"1\\"}",name="rows"} -2.5\n',
  )
})

test('counts firing alerts, of the own account only', async () => {
  const alert = { watch: { name: 'night' }, condition: 'late', process: 'import' }
  const { text } = open([], [alert, alert])
  const firing = (await text()).split('\n').filter((line) => line.startsWith('stint_alert_firing'))
  expect(firing).toEqual(['stint_alert_firing{watch="night",condition="late",process="import"} 2'])
  expect(await text('eve')).not.toContain('night')
})

test('holds at most 10,000 series and counts the others', async () => {
  const names = Array.from({ length: 50 }, (_, i) => [`m${i}`, i] as [string, number])
  const events = Array.from({ length: 201 }, (_, i): Event => ({ ...at(5, `p${i}`), kind: 'metrics', items: names }))
  const { lines } = open(events)
  const found = await lines()
  expect(found).toHaveLength(MAX_SERIES + 2)
  expect(found.at(-2)).toBe('stint_series_omitted 50')
})

test('reads a day for each answer and what is older once an hour', async () => {
  const events = run(HOUR_S, 60)
  const { reads, text, pass } = open(events)
  await text()
  expect(reads.toSorted()).toEqual([BigInt(31 * DAY_S), BigInt(DAY_S)].toSorted())
  pass(5)
  events.push(...run(HOUR_S / 2, 60))
  expect(await text()).toContain('state="completed"} 2')
  pass(HOUR_S)
  await text()
  expect(reads.filter((s) => s === BigInt(31 * DAY_S))).toHaveLength(2)
})

test('a question that failed is asked again', async () => {
  const source = createMemorySource([])
  let isAway = true
  const render = createPrometheus({
    ...source,
    nowNs: () => NOW,
    kept: keptAt(() => NOW),
    maxRunNs: S,
    async firing() {
      if (isAway) throw new Error('away')
      return []
    },
  })
  await expect(render({ account: 'ada' })).rejects.toThrow('away')
  isAway = false
  expect(await render({ account: 'ada' })).toContain('stint_series_omitted 0')
})

test.skipIf(missing('prometheus') !== undefined)('promtool finds no fault in it', async () => {
  const { text } = open(
    [...run(3_600, 30, { failed: true }), ...run(60, 30), { ...at(5), kind: 'metrics', items: [['rows', 1]] }],
    [{ watch: { name: 'w' }, condition: 'late', process: 'p' }],
  )
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
    input: await text(),
    encoding: 'utf8',
  })
  expect([status, stdout, stderr]).toEqual([0, '', ''])
})
