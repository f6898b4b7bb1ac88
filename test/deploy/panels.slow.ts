// Every panel of every committed dashboard is asked of the real stores, with data in them, after Grafana's macros are replaced as Grafana replaces them.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeFailure } from '../../src/cli/exec/job-events.ts'
import type { Event } from '../../src/event/event.ts'
import { parseStampNs } from '../../src/event/stamp.ts'
import { createLog } from '../../src/log.ts'
import { openClickHouse } from '../../src/store/clickhouse/open.ts'
import { createInfluxSink } from '../../src/store/influx/sink.ts'
import type { Sink } from '../../src/store/sink.ts'
import { engineMissing, enginePath, freshDatabase } from '../support/engine.ts'
import { type InfluxBucket, influxd, influxdMissing } from '../support/influxd.ts'
import { type AllValue, askClickHouse, askInflux, askPanel, type Frame, type Panel, type View } from './grafana.ts'

const METRIC_PANEL = 'Process / $' + '{metric}'
const GRAFANA = join(import.meta.dir, '../../src/deploy/grafana')
const log = createLog({ level: 'silent', pretty: false })
const S = 1_000_000_000n
const MINUTE_MS = 60_000

const MS = Date.now()
/** An hour ago or a little more, at the beginning of ten minutes: all that follows lies within them. */
const T_MS = Math.floor(MS / (10 * MINUTE_MS) - 6) * 10 * MINUTE_MS
const T = BigInt(T_MS) * 1_000_000n

/** Full of what must be escaped, in Flux and SQL and regular expressions. */
const JOB = 'nightly/import (v1.0) \\d+ [a]|b $1 + 😀 \\x41'
const META = 'eu \\ west/1 & more'
const ALL: AllValue = { all: '[^%]*' }

/** Each must be one process, meta and metric name; those with a macro of Grafana as its lists of values offer them. */
const NAMES = [
  ...['a,b=c d', '$' + '{process}', '[[process]]', 'C:\\Export\\Q', '.*'],
  ...['$__interval', '$__timeInterval(at)', 'to $__interval|a'],
]
const offeredName = (name: string) => name.replaceAll('$__', '%24__')

const mark = (kind: 'start' | 'end', s: number, uid: string, more: Partial<Event> = {}): Event =>
  ({ kind, account: 'acc_ada', process: JOB, meta: META, uid, stamp: stampAt(s), ...more }) as Event
const metric = (s: number, items: [string, number][], meta = ''): Event => ({
  kind: 'metrics',
  account: 'acc_ada',
  process: JOB,
  meta,
  items,
  stamp: stampAt(s),
})
const exception = (s: number, text: string, process = JOB): Event => ({
  kind: 'exception',
  account: 'acc_ada',
  process,
  meta: META,
  exception: text,
  stamp: stampAt(s),
})
const run = (from: number, to: number, uid: string, more: Partial<Event> = {}) => [
  mark('start', from, uid, more),
  mark('end', to, uid, more),
]
const stampAt = (s: number) => parseStampNs(T + BigInt(s) * S)

const FAILED = describeFailure('/usr/bin/import', {
  exitCode: 3,
  endedUs: 0,
  stderrTail: 'no such region\n',
})
const KILLED = describeFailure('import', {
  exitCode: 137,
  endedUs: 0,
  signal: 'SIGKILL',

  stderrTail: '',
})

const HTML = 'expected List<String> &lt; <img src=//evil.example/x> & more'

/** A run of no length. */
const PING = { account: 'acc_pings', process: 'ping', meta: '' }

// Three overlapping runs, one of them still open; one without meta; one started twice; an end of nothing; a failed one; and the same uid in another account.
const POINTS: readonly Event[] = [
  ...run(0, 100, 'u1'),
  ...run(50, 250, 'u2'),
  mark('start', 70, 'u3'),
  ...run(300, 310, '', { meta: '' }),
  mark('start', 400, 'u4'),
  ...run(410, 415, 'u4'),
  mark('end', 500, 'u5'),
  mark('start', 510, 'u6'),
  mark('end', 540, 'u6', { failed: true }),
  ...run(20, 30, 'u1', { account: 'acc_bob' }),
  ...run(130, 131, '', { process: 'other', meta: '' }),
  // an hour before the range, for the tests of names
  ...NAMES.flatMap((process, i) => [
    ...run(-3600, -3590 + i, '', { process, meta: process, account: 'acc_names' }),
    { ...metric(-3600, [[process, i]], process), process, account: 'acc_names' } as Event,
  ]),
  mark('start', -3600, '', PING),
  mark('end', -3600, '', { ...PING, stamp: parseStampNs(T - 3600n * S + 2n) }),
  metric(10, [['rows', 10]]),
  metric(20, [['rows', 20]]),
  metric(70, [['rows', 5]], META),
]
const EXCEPTIONS: readonly Event[] = [
  exception(99, FAILED),
  exception(200, 'TypeError: order 17 is not a function'),
  exception(210, 'TypeError: order 4711 is not a function'),
  exception(260, KILLED, 'other'),
  exception(270, 'only exceptions', 'talker'),
  // an hour before the range, for the test of annotations
  { ...exception(-3600, HTML, HTML), account: 'acc_html' } as Event,
]

const VIEW: View = {
  fromMs: T_MS - 10 * MINUTE_MS,
  toMs: MS,
  intervalMs: MINUTE_MS,
  variables: {
    account: ALL,
    process: [JOB],
    meta: ALL,
    metric: 'rows',
    now: `${MS}000000`,
    max_run_ns: '86400000000000',
  },
}

interface JsonPanel extends Panel {
  readonly id: number
  readonly title: string
  readonly type: string
}

/** The panels of which others show a part, by id. */
const shared = new Map<number, JsonPanel>()
let bucket: InfluxBucket
/** What the data source `stint-clickhouse` leads to, for each set of dashboards. */
const engines = {
  influxdb: { path: enginePath(), database: freshDatabase() },
  clickhouse: { path: enginePath(), database: freshDatabase() },
}
let clickhouse = engines.influxdb
const closing: (() => Promise<void>)[] = []

async function fill(sink: Sink, events: readonly Event[]): Promise<void> {
  closing.push(() => sink.close())
  expect(await sink.prepare()).toEqual({ kind: 'stored', expired: 0 })
  expect(await sink.write(events)).toEqual({ kind: 'stored', expired: 0 })
}

const ask = (panel: Panel, view: View): Promise<Frame[]> =>
  askPanel(panel, (id) => shared.get(id)!, { bucket, clickhouse }, view)

type Points = [seconds: number, value: unknown][]

/** Maps name and labels to points; seconds are after T. A frame may hold several series. */
const pointsOf = (frames: readonly Frame[]): Record<string, Points> =>
  Object.fromEntries(
    frames.flatMap(([time, ...values]) =>
      values.map(({ name, labels, values }) => {
        const parts = [
          ...(name === 'Value' ? [] : [name]),
          ...Object.keys(labels)
            .sort()
            .map((label) => labels[label]),
        ]
        return [parts.join(' '), time!.values.map((ns, i) => [Number((ns as bigint) - T) / 1e9, values[i]])]
      }),
    ),
  )

/** Points as `seconds:value`. */
const textOf = (points: Points) => points.map((point) => point.join(':')).join(' ')
const series = (frames: readonly Frame[]): Record<string, string> =>
  Object.fromEntries(Object.entries(pointsOf(frames)).map(([name, points]) => [name, textOf(points)]))

/** An interval in which nothing came may be shown or not. */
const withoutZeros = (frames: readonly Frame[]) =>
  Object.fromEntries(
    Object.entries(pointsOf(frames)).map(([name, points]) => [name, textOf(points.filter(([, value]) => value !== 0))]),
  )

/** The rows of a table; '' and null are one: InfluxDB has no empty text, ClickHouse no null. */
const rows = (frames: readonly Frame[]): Record<string, unknown>[] =>
  frames.flatMap((frame) =>
    (frame[0]?.values ?? []).map((_, i) =>
      Object.fromEntries(
        frame.map(({ name, values }) => {
          const value = values[i] === '' ? null : values[i]
          return [name, typeof value === 'bigint' ? Number(value - T) / 1e9 : value]
        }),
      ),
    ),
  )

/** What each panel must show, by its title. */
const SHOWS: Readonly<Record<string, (frames: readonly Frame[]) => void>> = {
  'Overview / Marks': (frames) =>
    expect(withoutZeros(frames)).toEqual({
      starts: '0:3 60:1 120:1 300:1 360:2 480:1',
      failed: '540:1',
      ends: '0:1 60:1 120:1 240:1 300:1 360:1 480:1',
    }),
  'Overview / Metrics': (frames) =>
    expect(series(frames)).toEqual({
      metrics: '0:2 60:1',
    }),
  'Overview / Exceptions': (frames) =>
    expect(series(frames)).toEqual({
      [`exceptions ${JOB}`]: '60:1 180:2',
      'exceptions other': '240:1',
      'exceptions talker': '240:1',
    }),
  'Overview / Failed runs': (frames) => expect(Object.values(series(frames))).toEqual(['540:1']),
  'Overview / Runs started': (frames) =>
    expect(Object.values(series(frames))).toEqual(expect.arrayContaining(['0:3 60:1 300:1 360:2 480:1', '120:1'])),
  'Overview / Processes': (frames) => {
    const seconds = (ms: unknown) => (typeof ms === 'number' ? Math.round(ms - T_MS) / 1000 : ms)
    const shown = rows(frames).map(({ last_run, last_seen, last_exception, ...row }) => [
      `${row.account} ${row.process}`,
      Object.fromEntries(
        Object.entries({
          ...row,
          last_run: seconds(last_run),
          last_seen: seconds(last_seen),
          last_exception: seconds(last_exception),
        }).filter(([name, value]) => !['account', 'process'].includes(name) && value !== null && value !== undefined),
      ),
    ])
    const exceptions = shown.filter(([, row]) => 'exceptions' in (row as object))
    expect(exceptions).toEqual([
      [`acc_ada ${JOB}`, { exceptions: 3, last_exception: 210 }],
      ['acc_ada other', { exceptions: 1, last_exception: 260 }],
      ['acc_ada talker', { exceptions: 1, last_exception: 270 }],
    ])
    const failed = (row: object) => ({ failed: 0, abandoned: 0, ...row }) // InfluxDB has nothing to count
    const runs = shown.filter(([, row]) => !('exceptions' in (row as object)))
    const by = Object.fromEntries(runs.map(([name, row]) => [name, failed(row as object)]))
    const once = (at: number, ms: number) => ({
      ...{ state: 1, failed: 0, abandoned: 0, last_run: at, last_seen: at + ms / 1000 },
      ...{ last_ms: ms, median_ms: ms, p95_ms: ms },
    })
    expect(by).toEqual({
      [`acc_ada ${JOB}`]: {
        state: 5,
        last_run: 510,
        last_ms: 30_000,
        median_ms: 55_000,
        p95_ms: expect.closeTo(185_000, 3),
        failed: 1,
        abandoned: 1,
        last_seen: 540,
      },
      'acc_ada other': once(130, 1000),
      [`acc_bob ${JOB}`]: once(20, 10_000),
    })
  },
  'Overview / Running now': (frames) => {
    const [row, ...others] = rows(frames)
    expect(others).toEqual([])
    expect(row).toMatchObject({ account: 'acc_ada', process: JOB, meta: META, uid: 'u3', started: 70 })
    const reallyMs = Date.now() - T_MS - 70_000
    expect(row!.running_ms).toBeGreaterThan(MS - T_MS - 70_000)
    expect(row!.running_ms).toBeLessThanOrEqual(reallyMs + 1)
  },
  'Overview / Exceptions by fingerprint': (frames) =>
    expect(rows(frames).map(({ fingerprint, ...row }) => row)).toEqual([
      { process: 'talker', occurrences: 1, first: 270, last: 270, example: 'only exceptions' },
      { process: 'other', occurrences: 1, first: 260, last: 260, example: KILLED },
      { process: JOB, occurrences: 2, first: 200, last: 210, example: 'TypeError: order 4711 is not a function' },
      { process: JOB, occurrences: 1, first: 99, last: 99, example: FAILED },
    ]),
  'Overview / Newest exceptions': (frames) =>
    expect(rows(frames).map(({ at, process, meta, exception }) => [at, process, meta, exception])).toEqual([
      [270, 'talker', META, 'only exceptions'],
      [260, 'other', META, KILLED],
      [210, JOB, META, 'TypeError: order 4711 is not a function'],
      [200, JOB, META, 'TypeError: order 17 is not a function'],
      [99, JOB, META, FAILED],
    ]),
  'Process / Runs': (frames) =>
    expect(Object.fromEntries(rows(frames).map(({ state, runs }) => [state, runs]))).toEqual({
      completed: 5,
      failed: 1,
      running: 1,
      abandoned: 1,
      orphan: 1,
    }),
  'Process / Durations': (frames) => {
    const each = '0:10000 60:100000 240:200000 300:10000 360:5000'
    expect(series(frames)).toEqual({ p50: each, p95: each, p99: each, max: each })
  },
  'Process / Timeline': (frames) => {
    // a row is named by its number, process, and uid or meta: no time, which would be one of UTC
    const labels = Object.keys(series(frames)).map((name) => name.split(' ').find((part) => /^\d\d$/.test(part)))
    expect(labels.sort()).toEqual(['01', '02', '03', '04', '05', '06', '07', '08', '09'])
    expect(Object.keys(series(frames)).join()).not.toMatch(/\d:\d/)
    const named = Object.fromEntries(
      Object.entries(pointsOf(frames)).map(([name, changes]) => {
        const uid = /u\d$/.exec(name)?.[0] ?? 'no uid'
        return [`${uid} ${changes[0]![0]}`, changes]
      }),
    )
    const { 'u3 70': open, ...others } = named
    expect(open).toEqual([
      [70, 2],
      [expect.any(Number), 0],
    ])
    expect(open![1]![0]).toBeGreaterThan((MS - T_MS) / 1000 - 1)
    expect(Object.fromEntries(Object.entries(others).map(([name, points]) => [name, textOf(points)]))).toEqual({
      'u1 0': '0:1 100:0',
      'u1 20': '20:1 30:0',
      'u2 50': '50:1 250:0',
      'no uid 300': '300:1 310:0',
      'u4 400': '400:3 460:0',
      'u4 410': '410:1 415:0',
      'u5 500': '500:4 560:0',
      'u6 510': '510:5 540:0',
    })
  },
  'Process / Distribution of durations': (frames) => {
    const shown = rows(frames)
    expect(shown.map(({ le }) => Number(le))).toEqual(Array.from({ length: 28 }, (_, i) => 2 ** i))
    expect(
      shown.filter(({ completed }) => completed !== 0).map(({ le, completed }) => [Number(le), completed]),
    ).toEqual([
      [8192, 1],
      [16_384, 2],
      [131_072, 1],
      [262_144, 1],
    ])
  },
  'Process / Durations over time': (frames) => {
    const counts = pointsOf(frames)
    expect(Object.keys(counts).length).toBe(28)
    const some = Object.entries(counts).flatMap(([name, points]) =>
      points.filter(([, runs]) => runs !== 0).map(([s, runs]) => [s, Number(name.split(' ').at(-1)), runs]),
    )
    // Grafana takes a cell's width from the first two times: every interval of the range must be there.
    const lowest = Object.entries(counts)
      .find(([name]) => name.split(' ').at(-1) === '1')![1]
      .map(([s]) => s)
    expect(lowest).toEqual(Array.from({ length: lowest.length }, (_, i) => -600 + i * 60))
    expect(lowest.length).toBe(Math.ceil((VIEW.toMs - VIEW.fromMs) / MINUTE_MS))
    expect(some.sort((a, b) => Number(a[0]) - Number(b[0]))).toEqual([
      [0, 16_384, 1],
      [60, 131_072, 1],
      [240, 262_144, 1],
      [300, 16_384, 1],
      [360, 8192, 1],
    ])
  },
  'Process / The 20 slowest runs': (frames) =>
    expect(rows(frames)).toEqual([
      { account: 'acc_ada', process: JOB, meta: META, uid: 'u2', started: 50, ended: 250, took_ms: 200_000 },
      { account: 'acc_ada', process: JOB, meta: META, uid: 'u1', started: 0, ended: 100, took_ms: 100_000 },
      expect.objectContaining({ took_ms: 10_000 }),
      expect.objectContaining({ took_ms: 10_000 }),
      { account: 'acc_ada', process: JOB, meta: META, uid: 'u4', started: 410, ended: 415, took_ms: 5000 },
    ]),
  'Process / Failed and unfinished runs': (frames) =>
    expect(rows(frames)).toEqual([
      { account: 'acc_ada', process: JOB, meta: META, uid: 'u6', state: 'failed', at: 510 },
      { account: 'acc_ada', process: JOB, meta: META, uid: 'u5', state: 'orphan', at: 500 },
      { account: 'acc_ada', process: JOB, meta: META, uid: 'u4', state: 'abandoned', at: 400 },
    ]),
  [METRIC_PANEL]: (frames) => {
    const byMeta = frames.map(([time, value]) => [
      value!.labels.name,
      value!.labels.meta ?? '',
      time!.values.map((ns) => Number((ns as bigint) - T) / 1e9),
      value!.values,
    ])
    expect(byMeta.sort()).toEqual([
      ['rows', '', [0], [15]],
      ['rows', META, [60], [5]],
    ])
  },
  'Process / Failed runs': (frames) => expect(Object.values(series(frames))).toEqual(['540:1']),
  'Process / Exceptions': (frames) =>
    expect(series(frames)).toEqual({
      [`exceptions ${JOB}`]: '60:1 180:2',
    }),
  'Process / Exceptions by fingerprint': (frames) =>
    expect(rows(frames).map(({ occurrences, last }) => textOf([[Number(occurrences), last]]))).toEqual([
      '2:210',
      '1:99',
    ]),
  'Process / Newest exceptions': (frames) => expect(rows(frames).map(({ at }) => at)).toEqual([210, 200, 99]),
}

const readJson = (path: string) => JSON.parse(readFileSync(join(GRAFANA, path), 'utf8'))

describe.skipIf(engineMissing !== undefined || influxdMissing !== undefined)('with points in', () => {
  beforeAll(async () => {
    const server = await influxd()
    bucket = { url: server.url, token: server.token, org: server.org, bucket: server.freshName() }
    await fill(createInfluxSink({ ...bucket, retentionDays: 0, log }), POINTS)
    // as openStores() of src/store: beside InfluxDB, ClickHouse has no tables of marks and metrics
    const options = { retentionDays: 0, log }
    const beside = await openClickHouse({ address: engines.influxdb, holds: ['exceptions'], ...options })
    await fill(beside.createSink(), EXCEPTIONS)
    const alone = await openClickHouse({ address: engines.clickhouse, holds: ['points', 'exceptions'], ...options })
    await fill(alone.createSink(), [...POINTS, ...EXCEPTIONS])
    closing.push(
      () => beside.close(),
      () => alone.close(),
    )
  })
  afterAll(async () => {
    for (const close of closing) await close()
  })

  describe.each(['influxdb', 'clickhouse'] as const)('%s', (store) => {
    const dashboards = ['overview', 'process'].map((name) => readJson(`dashboards/${store}/${name}.json`))
    const panels = new Map<string, JsonPanel>(
      dashboards.flatMap(({ title, panels }) => panels.map((panel: JsonPanel) => [`${title} / ${panel.title}`, panel])),
    )

    beforeAll(() => {
      clickhouse = engines[store]
      shared.clear()
      for (const { panels } of dashboards)
        for (const panel of panels as JsonPanel[])
          for (const { panelId } of panel.targets)
            if (panelId !== undefined)
              shared.set(
                panelId,
                panels.find(({ id }: JsonPanel) => id === panelId),
              )
    })

    test('every panel is covered', () => {
      expect([...panels.keys()].sort()).toEqual(Object.keys(SHOWS).sort())
    })

    test.each([...panels.keys()])('%s', async (name) => {
      const process = name.startsWith('Overview') ? ALL : [JOB]
      SHOWS[name]!(await ask(panels.get(name)!, { ...VIEW, variables: { ...VIEW.variables, process } }))
    })

    test('percentiles lie between the runs', async () => {
      const all = await ask(panels.get('Process / Durations')!, { ...VIEW, intervalMs: 10 * MINUTE_MS })
      const figures = Object.entries(pointsOf(all)).map(([name, [point]]) => [name, Math.round(Number(point![1]))])
      expect(Object.fromEntries(figures)).toEqual({ p50: 10_000, p95: 180_000, p99: 196_000, max: 200_000 })
    })

    test('a run of no length is among the shortest', async () => {
      const shown = await ask(panels.get('Process / Distribution of durations')!, {
        ...{ ...VIEW, fromMs: T_MS - 70 * MINUTE_MS, toMs: T_MS - 50 * MINUTE_MS },
        variables: { ...VIEW.variables, account: 'acc_pings', process: ['ping'] },
      })
      const found = rows(shown).filter(({ completed }) => completed !== 0)
      expect(found.map(({ le, completed }) => [Number(le), completed])).toEqual([[1, 1]])
    })

    const runs = async (variables: View['variables']) => {
      const frames = await ask(panels.get('Process / Runs')!, {
        ...VIEW,
        variables: { ...VIEW.variables, ...variables },
      })
      return Object.fromEntries(rows(frames).map(({ state, runs }) => [state, runs]))
    }
    test('one account', async () => {
      expect(await runs({ account: 'acc_bob' })).toEqual({ completed: 1 })
    })
    test('one meta', async () => {
      expect(await runs({ meta: META })).toEqual({ completed: 4, failed: 1, running: 1, abandoned: 1, orphan: 1 })
    })
    test('without meta', async () => {
      expect(await runs({ meta: '%without%' })).toEqual({ completed: 1 })
    })
    test('hostile text stays text', async () => {
      for (const text of ["') OR 1=1 --", 'x)$/ or true or /^(?:', "\\' OR 1=1 --", '"'])
        for (const process of [text, [text, 'nobody']]) expect(await runs({ process })).toEqual({})
    })
    test('several processes, and all', async () => {
      expect(await runs({ process: ['other'] })).toEqual({ completed: 1 })
      expect(await runs({ process: ['other', JOB] })).toMatchObject({ completed: 6, failed: 1 })
      expect(await runs({ process: ALL })).toMatchObject({ completed: 6, failed: 1 })
    })
    test('any name is one process, meta and metric, as each list of values offers it', async () => {
      const view = { ...VIEW, fromMs: T_MS - 70 * MINUTE_MS, toMs: T_MS - 50 * MINUTE_MS }
      const variables = { ...VIEW.variables, account: 'acc_names' }
      const shown = async (title: string, more: View['variables']) =>
        rows(await ask(panels.get(title)!, { ...view, variables: { ...variables, ...more } }))
      for (const [i, name] of NAMES.entries()) {
        const value = offeredName(name)
        const slowest = await shown('Process / The 20 slowest runs', { process: [value], meta: value })
        expect(slowest.map(({ process, took_ms }) => [process, took_ms])).toEqual([[name, 10_000 + i * 1000]])
        const frames = await ask(panels.get(METRIC_PANEL)!, {
          ...view,
          variables: { ...variables, process: [value], metric: value },
        })
        expect(frames.map(([, of]) => [of!.labels.process, of!.labels.name, of!.values])).toEqual([[name, name, [i]]])
      }
      const two = await shown('Process / The 20 slowest runs', { process: ['$__interval', '.*'].map(offeredName) })
      expect(two.map(({ process }) => process)).toEqual(['$__interval', '.*'])
      const typed = shown('Process / The 20 slowest runs', { process: ['$__interval'] }) // into the address
      if (store === 'influxdb') await expect(typed).rejects.toThrow('regex parse error')
      else expect((await typed).map(({ process }) => process)).toEqual(['$__interval'])
      const overview = await shown('Overview / Processes', { process: ALL })
      expect(overview.map(({ process }) => process).sort()).toEqual(NAMES.map(offeredName).sort())
    })

    test('annotations are the newest exceptions, by their first line', async () => {
      const [, { target, datasource }] = dashboards[0].annotations.list
      const shown = rows(
        await ask(
          { targets: [{ ...target, datasource }] },
          { ...VIEW, variables: { ...VIEW.variables, process: ALL } },
        ),
      )
      expect(shown.map(({ time, title, text }) => [time, title, text])).toEqual([
        [270, 'talker', 'only exceptions'],
        [260, 'other', KILLED],
        [210, JOB, 'TypeError: order 4711 is not a function'],
        [200, JOB, 'TypeError: order 17 is not a function'],
        [99, JOB, FAILED.split('\n')[0]],
      ])
    })

    test.each([0, 1])('annotations of dashboard %i show HTML as text', async (i) => {
      const [, { target, datasource }] = dashboards[i].annotations.list
      const view = { ...VIEW, fromMs: T_MS - 70 * MINUTE_MS, toMs: T_MS - 50 * MINUTE_MS }
      const variables = { ...VIEW.variables, account: 'acc_html', process: ALL }
      const [shown] = rows(await ask({ targets: [{ ...target, datasource }] }, { ...view, variables }))
      const escaped = 'expected List&lt;String> &amp;lt; &lt;img src=//evil.example/x> &amp; more'
      expect([shown!.title, shown!.text]).toEqual([escaped, escaped])
    })

    test('variables offer the existing values', async () => {
      const offered: Record<string, unknown[]> = {}
      for (const { name, type, datasource, query } of dashboards[1].templating.list) {
        if (type === 'constant') continue
        const frames =
          datasource.uid === 'stint-influxdb'
            ? await askInflux(query.query, bucket, VIEW)
            : await askClickHouse(query, 'table', clickhouse, VIEW)
        // InfluxDB offers the tags of whole shards
        const earlier = ['acc_names', 'acc_pings', 'ping', ...NAMES.map(offeredName)]
        const values = frames.flatMap(([field]) => field!.values as string[])
        offered[name] = values.filter((value) => store !== 'influxdb' || !earlier.includes(value)).sort()
      }
      const { now, ...chosen } = offered
      expect(chosen).toEqual({
        account: ['acc_ada', 'acc_bob'],
        process: [JOB, 'other', ...(store === 'influxdb' ? [] : ['talker'])],
        meta: ['%without%', META],
        metric: ['rows'],
      })
      if (store === 'influxdb') expect(Math.abs(Number(now![0]) / 1e6 - Date.now())).toBeLessThan(60_000)
    })
  })
})
