// `bun run bench timings [--marks N] [--rounds N] [--json]`: what is asked about timings, and every panel of the dashboards, over N marks (1M) of fifty processes
// in the last day in the real InfluxDB, and ten times as many in the ClickHouse engine. Each question is asked once to warm up; then the median counts, and on a busy machine the store's CPU.
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Event } from '../../src/event/event.ts'
import { createLog } from '../../src/log.ts'
import { openClickHouseClient } from '../../src/store/clickhouse/client.ts'
import { openClickHouse } from '../../src/store/clickhouse/open.ts'
import { createInfluxClient, flux, fluxDateTime } from '../../src/store/influx/client.ts'
import { createInfluxSink } from '../../src/store/influx/sink.ts'
import { createInfluxSource } from '../../src/store/influx/source.ts'
import type { PointSource, TimingSelection } from '../../src/store/source.ts'
import { askClickHouse, askInflux, type View } from '../deploy/grafana.ts'
import { influxd } from '../support/influxd.ts'
import { cpuMs } from '../support/process-figures.ts'
import { tempDir } from '../support/temp-dir.ts'
import { inWords, surroundings } from './machine.ts'

const { values } = parseArgs({
  options: {
    marks: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '3' },
    json: { type: 'boolean', default: false },
  },
})
const MARKS = Number(values.marks)
const ROUNDS = Number(values.rounds)

const DAY_MS = 86_400_000
const PROCESSES = 50
const ACCOUNT = 'acc_bench'
const ONE_OF_THEM = 'process 7'
/** How long the runs take: from 1 to this many seconds. */
const LONGEST_S = 600
const RUNNING = 50
/** A page of the newest runs holds its end and not its start. */
const LONG_S = 72_000
const BATCH = 10_000
/** A busy machine is no failure. */
const TIMEOUT_MS = 600_000
/** How Grafana divides a day, by the panel's `maxDataPoints`; a panel without it is as wide as the screen. */
const INTERVALS_MS: Readonly<Record<number, number>> = {
  60: 1_800_000,
  100: 900_000,
  150: 600_000,
  300: 300_000,
  1000: 60_000,
}

interface Row {
  readonly store: string
  readonly marks: number
  readonly question: string
  /** Of the store: what others do hardly touches it. */
  readonly cpuMs: number
  readonly bestMs: number
  readonly medianMs: number
  readonly limitMs?: number
}

const log = createLog({ level: 'silent', pretty: false })
const dir = tempDir('bench')
const rows: Row[] = []
const before = surroundings()
const untilMs = Math.floor(Date.now() / 1000) * 1000
const fromMs = untilMs - DAY_MS

const nsOf = (ms: number) => BigInt(ms) * 1_000_000n
const everything: TimingSelection = {
  account: ACCOUNT,
  fromNs: nsOf(fromMs),
  toNs: nsOf(untilMs),
  nowNs: nsOf(untilMs),
  maxRunNs: nsOf(DAY_MS),
}
const view: View = {
  fromMs,
  toMs: untilMs,
  intervalMs: INTERVALS_MS[1000]!,
  variables: {
    metric: 'rows', // of repeated panels
    account: { all: '[^%]*' },
    process: ONE_OF_THEM,
    meta: { all: '[^%]*' },
    now: `${untilMs}000000`,
    max_run_ns: '86400000000000',
  },
}

type Measured = 'bestMs' | 'medianMs' | 'cpuMs'

async function measure(pid: number, row: Omit<Row, Measured>, ask: () => Promise<unknown>): Promise<void> {
  const times: number[] = []
  const costs: number[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const [since, spent] = [performance.now(), cpuMs(pid)]
    await ask()
    if (round === 0) continue
    times.push(performance.now() - since)
    costs.push(cpuMs(pid) - spent)
  }
  times.sort((a, b) => a - b)
  rows.push({
    ...row,
    cpuMs: Math.min(...costs),
    bestMs: times[0]!,
    medianMs: times[Math.floor(times.length / 2)]!,
  })
  process.stderr.write('.')
}

async function measureQuestions(
  pid: number,
  store: string,
  marks: number,
  source: PointSource,
  limits: { one: number; all: number },
): Promise<void> {
  const one = { ...everything, process: ONE_OF_THEM }
  const summary = { byMeta: false }
  const base = { store, marks }
  await measure(pid, { ...base, question: 'summary, one process', limitMs: limits.one }, () =>
    source.summarizeTimings({ ...one, ...summary }),
  )
  await measure(pid, { ...base, question: 'summary, all processes', limitMs: limits.all }, () =>
    source.summarizeTimings({ ...everything, ...summary }),
  )
  await measure(pid, { ...base, question: 'series of 5 min, one process' }, () =>
    source.summarizeTimings({
      ...one,
      ...summary,
      everyNs: 300_000_000_000n,
    }),
  )
  await measure(pid, { ...base, question: '100 newest timings, one process' }, () =>
    source.findTimings(one, { limit: 100 }),
  )
  await measure(pid, { ...base, question: '100 newest timings, all processes' }, () =>
    source.findTimings(everything, { limit: 100 }),
  )
  const first = await source.findTimings(everything, { limit: 101 })
  const after = first.at(-1)!.place
  await measure(pid, { ...base, question: 'page 2 of 100, all processes' }, () =>
    source.findTimings({ ...everything, asOfNs: everything.nowNs }, { limit: 101, after }),
  )
  await measure(pid, { ...base, question: '100 newest of the last 30 minutes, all processes' }, () =>
    source.findTimings({ ...everything, fromNs: nsOf(untilMs - 1_800_000) }, { limit: 101 }),
  )
  await measure(pid, { ...base, question: "the console's poll of 10 s, all processes" }, () =>
    source.findTimings({ ...everything, fromNs: nsOf(untilMs - 10_000) }, { limit: 1001 }),
  )
  for (const state of ['running', 'failed'] as const)
    await measure(pid, { ...base, question: `100 newest ${state}, all processes` }, () =>
      source.findTimings({ ...everything, states: [state] }, { limit: 101 }),
    )
  await measure(pid, { ...base, question: 'count of marks' }, () => source.countMarks(everything))
}

/** One of a thousand runs has no end, 50 of the last minute run, and one of 20 hours ends in it. */
async function expectMarks(source: PointSource, marks: number): Promise<void> {
  const [found, expected] = [await source.countMarks(everything), marks - Math.floor(marks / 2000) + RUNNING + 2]
  if (found !== expected) throw new Error(`there are ${found} marks, not ${expected}`)
}

interface Panel {
  readonly title: string
  readonly maxDataPoints?: number
  readonly targets: readonly {
    readonly datasource: { readonly uid: string }
    readonly query: string
    readonly rawSql: string
    readonly format: number
  }[]
}

/** Of the dashboards for points in this store; those about exceptions are ClickHouse's in both and are asked once. */
async function measurePanels(
  pid: number,
  store: string,
  marks: number,
  ask: (target: Panel['targets'][number], view: View) => Promise<unknown>,
): Promise<void> {
  for (const name of ['overview', 'process']) {
    const path = join(import.meta.dir, `../../src/deploy/grafana/dashboards/${store}/${name}.json`)
    const dashboard = JSON.parse(readFileSync(path, 'utf8')) as {
      title: string
      panels: Panel[]
    }
    for (const { title, maxDataPoints = 1000, targets } of dashboard.panels) {
      if (targets.some(({ datasource }) => datasource.uid !== `stint-${store}`)) continue
      const intervalMs = INTERVALS_MS[maxDataPoints]
      if (intervalMs === undefined) throw new Error(`INTERVALS_MS lacks ${maxDataPoints}, of the panel ${title}`)
      const shown = { ...view, intervalMs }
      await measure(pid, { store, marks, question: `panel ${dashboard.title} / ${title}` }, async () => {
        for (const target of targets) await ask(target, shown)
      })
    }
  }
}

/** One of a thousand never ends; the rest end while the day lasts. */
function* marksOf(marks: number): Generator<Event> {
  const runs = marks / 2
  const stepUs = ((DAY_MS - LONGEST_S * 1000) * 1000) / runs
  for (let run = 0; run < runs; run++) {
    const common = {
      account: ACCOUNT,
      process: `process ${run % PROCESSES}`,
      meta: run % 3 === 0 ? '' : `region ${run % 3}`,
      uid: `run-${run}`,
    }
    const startUs = fromMs * 1000 + Math.floor(run * stepUs)
    yield { kind: 'start', ...common, stamp: { us: startUs, sub: 0 } }
    if (run % 1000 !== 999)
      yield {
        kind: 'end',
        ...common,
        stamp: {
          us: startUs + (1 + (run % LONGEST_S)) * 1_000_000 + 1,
          sub: 0,
        },
      }
  }
  const mark = (kind: 'start' | 'end', run: number, uid: string, agoMs: number): Event => ({
    ...{
      kind,
      account: ACCOUNT,
      process: `process ${run % PROCESSES}`,
      meta: '',
      uid,
    },
    stamp: { us: (untilMs - agoMs) * 1000 + 3, sub: 0 },
  })
  for (let run = 0; run < RUNNING; run++) yield mark('start', run, `open-${run}`, 1_000 * (run + 1))
  yield mark('start', 0, 'long', LONG_S * 1000 + 30_000)
  yield mark('end', 0, 'long', 30_000)
}

async function benchInflux(): Promise<void> {
  const bucket = await (await influxd()).freshBucket()
  const sink = createInfluxSink({ ...bucket, retentionDays: 0, log })
  let batch: Event[] = []
  const write = async () => {
    const { kind } = await sink.write(batch)
    if (kind !== 'stored') throw new Error(kind)
    batch = []
  }
  for (const event of marksOf(MARKS)) if (batch.push(event) === BATCH) await write()
  if (batch.length > 0) await write()
  const source = createInfluxSource({ ...bucket, timeoutMs: TIMEOUT_MS })
  await expectMarks(source, MARKS)
  const pid = (await influxd()).server.pid()
  const client = createInfluxClient(bucket, TIMEOUT_MS)
  const raw = flux`from(bucket: ${bucket.bucket})
  |> range(start: ${fluxDateTime(new Date(fromMs).toISOString())}, stop: ${fluxDateTime(new Date(untilMs).toISOString())})
  |> filter(fn: (r) => r._measurement == "mark" and r._field == "pair")`
  await measure(
    pid,
    {
      store: 'influxdb',
      marks: MARKS,
      question: 'a raw read of the field pair',
    },
    () => client.readCsv(raw, () => undefined),
  )
  client.close()
  await measureQuestions(pid, 'influxdb', MARKS, source, {
    one: 500,
    all: 7000,
  })
  await measurePanels(pid, 'influxdb', MARKS, (target, shown) => askInflux(target.query, bucket, shown))
  await source.close()
}

/** Written by the engine itself: the same runs as `marksOf`. */
const insertMarks = (marks: number): string => `INSERT INTO stint.marks_raw (account, process, meta, uid, mark, at)
SELECT '${ACCOUNT}', concat('process ', toString(run % ${PROCESSES})), if(run % 3 = 0, '', concat('region ', toString(run % 3))), concat('run-', toString(run)),
  if(number % 2 = 0, 'start', 'end'),
  fromUnixTimestamp64Nano(toInt64(${fromMs}000000 + intDiv(run * ${(DAY_MS - LONGEST_S * 1000) * 1000}, ${marks / 2}) * 1000 + if(number % 2 = 0, 0, (1 + run % ${LONGEST_S}) * 1000000000 + 1000)), 'UTC')
FROM (SELECT number, intDiv(number, 2) AS run FROM numbers(${marks})) WHERE run % 1000 != 999 OR number % 2 = 0
UNION ALL SELECT '${ACCOUNT}', concat('process ', toString(number % ${PROCESSES})), '', if(number < ${RUNNING}, concat('open-', toString(number)), 'long'),
  if(number > ${RUNNING}, 'end', 'start'),
  fromUnixTimestamp64Nano(toInt64(${untilMs}000000 + 3000) - toInt64(multiIf(number < ${RUNNING}, number + 1, number = ${RUNNING}, ${LONG_S + 30}, 30)) * 1000000000, 'UTC')
FROM numbers(${RUNNING + 2})`

async function benchClickHouse(): Promise<void> {
  const address = { path: join(dir, 'clickhouse'), database: 'stint' }
  const store = await openClickHouse({
    address,
    holds: ['points', 'exceptions'],
    retentionDays: 0,
    log,
  })
  const { kind } = await store.createSink().prepare()
  if (kind !== 'stored') throw new Error(kind)
  const client = await openClickHouseClient(address, 600_000)
  await client.run(insertMarks(MARKS))
  await measurePanels(process.pid, 'clickhouse', MARKS, (target, shown) =>
    askClickHouse(target.rawSql, target.format === 0 ? 'time series' : 'table', address, shown),
  )
  await client.run('TRUNCATE TABLE stint.marks_raw')
  await client.run(insertMarks(10 * MARKS))
  await expectMarks(store.source, 10 * MARKS)
  await measureQuestions(process.pid, 'clickhouse', 10 * MARKS, store.source, {
    one: 50,
    all: 1000,
  })
  await client.close()
  await store.close()
}

try {
  await benchInflux()
  await benchClickHouse()
} finally {
  rmSync(dir, { recursive: true, force: true })
}
process.stderr.write('\n')

const where = inWords(before, surroundings())
if (values.json) console.log(JSON.stringify({ where, rows }, null, 2))
else {
  console.log(where)
  for (const { store, marks, question, cpuMs, bestMs, medianMs, limitMs } of rows) {
    const verdict = limitMs === undefined ? '' : medianMs <= limitMs ? `≤ ${limitMs} ms` : `over its ${limitMs} ms`
    console.log(
      `${store.padEnd(11)}${String(marks).padStart(9)}  ${question.padEnd(56)}${medianMs.toFixed(1).padStart(9)} ms  best ${bestMs.toFixed(1).padStart(8)} ms  cpu ${String(cpuMs).padStart(6)} ms  ${verdict}`,
    )
  }
}
process.exit(0) // influxd is a child that ends with this process
