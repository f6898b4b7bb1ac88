// The whole answer of the overview from both configurations of the stores: points in a real InfluxDB, and everything in
// ClickHouse. The same events give the same answer.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Event } from '../../src/event/event.ts'
import { parseStampNs } from '../../src/event/stamp.ts'
import { createLive } from '../../src/live/live.ts'
import { NO_OTHERS } from '../../src/live/other-nodes.ts'
import type { CoveringWatch } from '../../src/live/overview/covering.ts'
import { createMedians } from '../../src/live/overview/medians.ts'
import { createOverview } from '../../src/live/overview/overview.ts'
import { createLog } from '../../src/log.ts'
import { openClickHouse } from '../../src/store/clickhouse/open.ts'
import { createInfluxSink } from '../../src/store/influx/sink.ts'
import { createInfluxSource } from '../../src/store/influx/source.ts'
import type { ExceptionSource, PointSource } from '../../src/store/source.ts'
import { Alert } from '../../src/wire/alerts.ts'
import type { Overview } from '../../src/wire/overview.ts'
import { exampleOf } from '../../src/wire/route.ts'
import { Watch } from '../../src/wire/watches.ts'
import { engineMissing, freshEmbedded } from '../support/engine.ts'
import { influxd, influxdMissing } from '../support/influxd.ts'
import { createMemorySource } from '../support/memory-source.ts'
import { until } from '../support/until.ts'

const log = createLog({ level: 'silent', pretty: false })
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const ACCOUNT = 'acc_overview'
const NOW_MS = Math.floor(Date.now() / 1000) * 1000

const events: Event[] = []
const at = (agoMs: number) => parseStampNs(BigInt(NOW_MS - agoMs) * 1_000_000n)
/** `ms` undefined: it still runs. */
function run(process: string, agoMs: number, ms?: number, meta = '', failed = false): void {
  const common = { account: ACCOUNT, process, meta, uid: `u${agoMs}` }
  events.push({ ...common, kind: 'start', stamp: at(agoMs) })
  if (ms !== undefined)
    events.push({ ...common, kind: 'end', stamp: at(agoMs - ms), ...(failed && { failed: true as const }) })
}
for (let nights = 11; nights >= 4; nights--) run('backup', nights * DAY, 10 * MINUTE)
for (let hours = 12; hours >= 1; hours--) run('import', hours * HOUR, 3 * MINUTE, 'eu', hours === 1)
for (let hours = 9; hours >= 1; hours--) run('import', hours * HOUR + MINUTE, 2 * MINUTE, 'us')
for (let hours = 8; hours >= 1; hours--) run('report', hours * HOUR, 20 * MINUTE)
run('report', 4 * MINUTE)
for (let i = 30; i >= 1; i--) run('tidy', i * 40 * MINUTE, MINUTE + i * 1_000)
run('lost', 30 * HOUR)
events.push({ account: ACCOUNT, process: 'gauge', meta: '', kind: 'metrics', stamp: at(HOUR), items: [['n', 1]] })
events.push({
  account: ACCOUNT,
  process: 'import',
  meta: 'eu',
  kind: 'exception',
  stamp: at(58 * MINUTE),
  exception: 'Error: disk full\n  at x',
})

const shown = { ...exampleOf(Watch), name: 'reports', process: 'report', meta: null }
const watch: CoveringWatch = {
  ...{ shown, covers: (process) => process === 'report', meta: null },
  late: { isSchedule: false, graceMs: 5 * MINUTE, next: (ms) => ms + HOUR },
  hears: { late: ['mail'], failed: [], any: ['mail'] },
}
const alert = {
  ...exampleOf(Alert),
  ...{ process: 'tidy', meta: null, condition: 'slow' as const, since: new Date(NOW_MS - HOUR).toISOString() },
}

function openOverview(points: PointSource, exceptions: ExceptionSource) {
  const inTurn = <T>(_: string, work: (signal: AbortSignal) => Promise<T>) => work(new AbortController().signal)
  const nowUs = () => NOW_MS * 1000
  const common = { inTurn, log, nowUs, maxRunUs: DAY * 1000 }
  const end = { segment: 0, offset: 64, seq: 1 }
  const tail = () => ({
    ...{ position: end, skipped: () => false, keep: async () => {}, close: async () => {} },
    read: async () => ({ records: [], arrivedUs: [], nexts: [], next: end, damaged: 0 }),
    waitForRecords: () => new Promise<void>(() => {}),
  })
  const stats = () => ({ records: 0, bytes: 0, oldestUs: undefined, damaged: 0, unreadable: undefined })
  const spool = { tail, stats, position: end, mark: () => 1, writingUs: () => undefined }
  const live = createLive({
    ...{ ...common, maxMarks: 1e9, maxBytes: 2 ** 26, sources: { points, exceptions }, others: NO_OTHERS },
    receivingUs: () => undefined,
    observe: () => {},
    onForget: () => {},
    spools: { points: spool, exceptions: spool },
  })
  const ask = createOverview({
    ...{ ...common, live, medians: createMedians({ ...common, points }), decisions: async () => [] },
    watched: async () => ({ alerts: [alert], watches: [watch], unjudged: 0, failingChannels: 0 }),
    note: async () => ({ note: null, note_by: null, note_at: null }),
    held: async () => () => undefined,
  })
  return (search = '') => ask(ACCOUNT, new URLSearchParams(search))
}
type Ask = ReturnType<typeof openOverview>

/** The figures of days may come after the first answer. */
async function answerOf(ask: Ask | undefined, expected: Overview, search = ''): Promise<Overview> {
  await until('all figures came', async () => Bun.deepEquals(await ask!(search), expected)).catch(() => {})
  return ask!(search)
}

describe.skipIf(engineMissing !== undefined || influxdMissing !== undefined)('the overview', () => {
  const closers: { close(): Promise<void> }[] = []
  let [influx, clickhouse] = [] as unknown as Ask[]
  const memory = createMemorySource(events)
  const byReference = openOverview(memory.points, memory.exceptions)

  beforeAll(async () => {
    const whole = await openClickHouse({
      ...{ address: freshEmbedded(), holds: ['points', 'exceptions'], retentionDays: 0, log },
    })
    const bucket = await (await influxd()).freshBucket()
    const points = createInfluxSink({ ...bucket, retentionDays: 0, log })
    const source = createInfluxSource(bucket)
    const sink = whole.createSink()
    closers.push(points, source, whole)
    for (const one of [sink, points]) expect((await one.prepare()).kind).toBe('stored')
    expect((await sink.write(events)).kind).toBe('stored')
    expect((await points.write(events.filter(({ kind }) => kind !== 'exception'))).kind).toBe('stored')
    influx = openOverview(source, whole.source)
    clickhouse = openOverview(whole.source, whole.source)
  })
  afterAll(async () => {
    for (const one of closers) await one.close()
  })

  test('says the same of all processes, whichever store holds the points', async () => {
    const expected = await byReference()
    expect(expected.processes.map(({ process, state }) => [process, state])).toEqual([
      ['import', 'failed'],
      ['lost', 'never_finished'],
      ['backup', 'silent'],
      ['tidy', 'firing'],
      ['report', 'running'],
      ['gauge', 'no_runs'],
    ])
    expect(expected.processes[0]).toMatchObject({ exception: 'Error: disk full', last_24h: { failed: 1 } })
    expect(await answerOf(clickhouse, expected)).toEqual(expected)
    expect(await answerOf(influx, expected)).toEqual(expected)
  })

  test.each(['import', 'report', 'unknown'])('says the same of the process %s', async (process) => {
    const expected = await byReference(`process=${process}`)
    expect(expected.processes).toHaveLength(process === 'unknown' ? 0 : 1)
    expect(await answerOf(clickhouse, expected, `process=${process}`)).toEqual(expected)
    expect(await answerOf(influx, expected, `process=${process}`)).toEqual(expected)
  })
})
