// Prometheus' text over live and stores in memory.
import { expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import type { Event } from '../../src/event/event.ts'
import { parseStampNs } from '../../src/event/stamp.ts'
import { MAX_SERIES } from '../../src/query/prometheus.ts'
import { StoreError } from '../../src/store/source.ts'
import { Alert } from '../../src/wire/alerts.ts'
import { exampleOf } from '../../src/wire/route.ts'
import { openCast } from '../live/live-cast.ts'
import { deskOf, memoryQuestions } from '../support/memory-questions.ts'
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

async function open(events: Event[], alerts: readonly Alert[] = []) {
  const cast = await openCast()
  cast.nowMs = Number(NOW / 1_000_000n)
  cast.events.push(...events)
  cast.watched = { ...cast.watched, alerts }
  const { points } = createMemorySource(cast.events)
  const reads: string[] = []
  let hanging: readonly string[] = []
  const ask = async <T>(what: string, q: { fromNs: bigint; toNs: bigint }, find: () => Promise<T>): Promise<T> => {
    reads.push(`${what} of ${(q.toNs - q.fromNs) / (BigInt(HOUR_S) * S)} h`)
    if (hanging.includes(what)) await new Promise(() => {})
    if (cast.isAway) throw new StoreError('away')
    return find()
  }
  const questions = memoryQuestions([], {
    points: {
      ...points,
      summarizeTimings: (q) => ask('runs', q, () => points.summarizeTimings(q)),
      findNewestMetrics: (q) => ask('metrics', q, () => points.findNewestMetrics(q)),
    },
    desk: deskOf({ deadlineMs: 200, maxAtOnce: 9, maxRunning: 9 }),
    nowNs: () => BigInt(cast.nowMs) * 1_000_000n,
    known: cast.overview.known,
  })
  const text = async (account = 'ada') => (await questions.prometheus(account, new URLSearchParams())).text
  return {
    ...{ cast, text },
    pass: (seconds: number) => (cast.nowMs += seconds * 1000),
    hang: (...what: readonly ('runs' | 'metrics')[]) => (hanging = what),
    /** What the store was asked about runs. */
    readRuns: () => reads.filter((what) => what.startsWith('runs')),
    lines: async () => (await text()).split('\n').filter((line) => !line.startsWith('#')),
  }
}

test('shows the newest runs and the counts of a day', async () => {
  const { lines } = await open([
    ...run(3 * DAY_S, 60),
    ...run(7_200, 90, { failed: true }),
    ...run(3_600, 30),
    { ...at(3_000), kind: 'end', uid: 'an end alone' },
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
    'stint_runs_24h{process="import",state="orphan"} 1',
    'stint_exceptions_24h{process="import"} 1',
    'stint_process_state{process="import",state="exceptions"} 1',
    'stint_series_omitted 0',
    '',
  ])
})

test('a weekly job keeps its last success for 31 days', async () => {
  const { text, pass } = await open(run(6 * DAY_S, 60, { process: 'weekly', meta: 'eu' }))
  const labels = '{process="weekly",meta="eu"}'
  expect(await text()).toContain(`stint_run_last_success_timestamp_seconds${labels} 1763155260\n`)
  expect(await text()).toContain(`stint_run_last_duration_seconds${labels} 60\n`)
  expect(await text()).toContain('stint_runs_24h{process="weekly",meta="eu",state="completed"} 0\n')
  pass(24 * DAY_S)
  expect(await text()).toContain('stint_run_last_success')
  pass(DAY_S + 120)
  expect(await text()).not.toContain('stint_run')
})

test('counts are those of the overview', async () => {
  const { text, cast } = await open([
    ...Array.from({ length: 30 }, (_, i) => run(i * HOUR_S + 60, 30, i % 3 ? {} : { failed: true })).flat(),
    ...run(HOUR_S, 60, { process: 'other', meta: 'eu' }),
  ])
  const [body, { last_24h: day }] = [await text(), await cast.ask()]
  const sum = (state: string) =>
    [...body.matchAll(new RegExp(`^stint_runs_24h.*state="${state}"} (.*)$`, 'gm'))].reduce((n, [, of]) => n + +of!, 0)
  expect(sum('failed')).toBe(day.failed)
  expect(sum('failed') + sum('completed')).toBe(day.runs)
  expect(day.failed).toBeGreaterThan(7)
})

test('shows the newest value of each metric, and escapes names', async () => {
  const process = 'a\\b {x="1"}'
  const { text } = await open([
    { ...at(2 * DAY_S, process), kind: 'metrics', items: [['old', 1]] },
    { ...at(20, process), kind: 'metrics', items: [['rows', 1]] },
    { ...at(10, process), kind: 'metrics', items: [['rows', -2.5]] },
  ])
  expect(await text()).toContain(
    'stint_metric{process="a\\\\b {x=\\"1\\"}",name="old"} 1\nstint_metric{process="a\\\\b {x=\\"1\\"}",name="rows"} -2.5\n',
  )
})

test('counts firing alerts, of the own account only', async () => {
  const example = exampleOf(Alert)
  const alert: Alert = { ...example, watch: { ...example.watch, name: 'night' }, condition: 'late', process: 'import' }
  const { text } = await open([], [alert, alert])
  const firing = (await text()).split('\n').filter((line) => line.startsWith('stint_alert_firing'))
  expect(firing).toEqual(['stint_alert_firing{watch="night",condition="late",process="import"} 2'])
  expect(await text('eve')).not.toContain('night')
})

test('holds at most 10,000 series and counts the others', async () => {
  const names = Array.from({ length: 50 }, (_, i) => [`m${i}`, i] as [string, number])
  const events = Array.from({ length: 201 }, (_, i): Event => ({ ...at(5, `p${i}`), kind: 'metrics', items: names }))
  const { lines } = await open(events)
  const found = await lines()
  expect(found).toHaveLength(MAX_SERIES + 2)
  expect(found.at(-2)).toBe('stint_series_omitted 251') // 50 metrics and 201 states
})

/** More than live remembers, in half a day. */
const many = Array.from({ length: 150 }, (_, i) => run(60 + i * 300, 30)).flat()

test('runs are no question of the store: only a success or failure that is older than a day, once an hour', async () => {
  const { cast, text, pass, readRuns } = await open([...many, ...run(3 * DAY_S, 60, { failed: true })])
  const failedAt = 'stint_run_last_failure_timestamp_seconds{process="import"}'
  expect(await text()).toContain(`${failedAt} 1763414460\n`)
  pass(5)
  await cast.send(...run(-2, 1))
  expect(await text()).toContain('stint_run_last_start_timestamp_seconds{process="import"} 1763673602\n')
  expect(readRuns()).toEqual(['runs of 744 h'])
  pass(HOUR_S)
  await text()
  expect(readRuns()).toHaveLength(2)
  await cast.send(...run(-HOUR_S - 3, 1, { failed: true }))
  expect(await text()).toContain(`${failedAt} 1763677204\n`)
  pass(HOUR_S)
  await text()
  expect(readRuns()).toHaveLength(2)
})

test('a failure of the last day behind many runs is known without the store', async () => {
  const { text, readRuns } = await open([
    ...[...many, ...run(20 * HOUR_S, 60, { failed: true })],
    { ...at(20 * HOUR_S), kind: 'end', uid: 'an end alone' },
  ])
  expect(await text()).toContain('stint_run_last_failure_timestamp_seconds{process="import"} 1763601660\n')
  expect(await text()).toContain('stint_runs_24h{process="import",state="orphan"} 1\n')
  expect(readRuns()).toEqual([])
})

test('while the store does not answer what live knows is shown, without metrics', async () => {
  const metric: Event = { ...at(5), kind: 'metrics', items: [['rows', 1]] }
  const { cast, text } = await open([...many, ...run(3 * DAY_S, 60, { failed: true }), metric])
  cast.isAway = true
  await expect(text()).rejects.toMatchObject({ code: 'store_unavailable' }) // nothing is known yet
  cast.isAway = false
  cast.nowMs += 3_000
  await cast.ask()
  cast.isAway = true
  const away = await text()
  expect(away).toContain('stint_run_last_success_timestamp_seconds{process="import"}')
  expect(away).not.toMatch(/stint_metric|stint_run_last_failure/)
  cast.isAway = false
  expect(await text()).toMatch(/stint_run_last_failure.*stint_metric/s)
})

test('a store that hangs is not waited for', async () => {
  const { cast, text, hang } = await open([...run(60, 30), { ...at(5), kind: 'metrics', items: [['rows', 1]] }])
  await cast.ask()
  hang('runs', 'metrics')
  const found = await text()
  expect(found).toContain('stint_run_last_success')
  expect(found).not.toContain('stint_metric')
})

test('runs of a month that take too long leave out no metric', async () => {
  const metric: Event = { ...at(5), kind: 'metrics', items: [['rows', 1]] }
  const { cast, text, hang, readRuns } = await open([...many, ...run(3 * DAY_S, 60, { failed: true }), metric])
  await cast.ask()
  hang('runs')
  const found = await text()
  expect(readRuns()).toEqual(['runs of 744 h'])
  expect(found).toContain('stint_metric{process="import",name="rows"} 1\n')
  expect(found).not.toContain('stint_run_last_failure')
})

test('an unknown parameter is refused', async () => {
  const questions = memoryQuestions()
  const asked = questions.prometheus('ada', new URLSearchParams('process=import'))
  await expect(asked).rejects.toMatchObject({ code: 'question_invalid' })
})

test.skipIf(missing('prometheus') !== undefined)('promtool finds no fault in it', async () => {
  const alert = { ...exampleOf(Alert), process: 'p' }
  const { text } = await open(
    [...run(3_600, 30, { failed: true }), ...run(60, 30), { ...at(5), kind: 'metrics', items: [['rows', 1]] }],
    [alert],
  )
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
    input: await text(),
    encoding: 'utf8',
  })
  expect([status, stdout, stderr]).toEqual([0, '', ''])
})
