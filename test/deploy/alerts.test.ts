// The alert rules' own questions are asked of the real stores, before and after the event that must resolve them.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ALERT_SERIES } from '../../src/deploy/grafana/point-queries.ts'
import type { Event } from '../../src/event/event.ts'
import { parseStampNs } from '../../src/event/stamp.ts'
import { createLog } from '../../src/log.ts'
import { openClickHouse } from '../../src/store/clickhouse/open.ts'
import { createInfluxSink } from '../../src/store/influx/sink.ts'
import { engineMissing, enginePath, freshDatabase } from '../support/engine.ts'
import { type InfluxBucket, influxd, influxdMissing } from '../support/influxd.ts'
import { askClickHouse, askInflux, type Frame, type View } from './grafana.ts'

const GRAFANA = join(import.meta.dir, '../../src/deploy/grafana')
const log = createLog({ level: 'silent', pretty: false })
const NOW_MS = Date.now()
const HOUR_S = 3600
const DAY_S = 24 * HOUR_S
const VIEW: View = { fromMs: NOW_MS - 600_000, toMs: NOW_MS, intervalMs: 60_000, variables: {} }

const event = (agoS: number, kind: Event['kind'], process: string, more: object = {}): Event =>
  ({
    kind,
    account: 'acc_ada',
    process,
    meta: '',
    uid: '',
    stamp: parseStampNs(BigInt(NOW_MS - agoS * 1000) * 1_000_000n),
    ...more,
  }) as Event
const run = (agoS: number, process: string, more: object = {}): Event[] => [
  event(agoS, 'start', process, more),
  event(agoS - 5, 'end', process, more),
]
const days = (count: number, from: number) => Array.from({ length: count }, (_, i) => from + i)

const POINTS: readonly Event[] = [
  // 25 hours old, beyond MAX_RUN; another run of the same process has ended since
  event(25 * HOUR_S, 'start', 'hangs', { uid: 'a' }),
  ...run(2 * HOUR_S, 'hangs', { uid: 'b' }),
  event(600, 'start', 'runs', { uid: 'a' }),
  // daily, late by six hours; and the same process with another meta on time
  ...days(8, 1).flatMap((day) => run(day * DAY_S + 6 * HOUR_S, 'daily', { meta: 'late' })),
  ...days(8, 0).flatMap((day) => run(day * DAY_S + 6 * HOUR_S, 'daily', { meta: 'on time' })),
  // one outage of three days among hourly runs does not make it slow
  ...[...days(20, 5), ...days(20, 97)].flatMap((hour) => run(hour * HOUR_S, 'hourly')),
  ...days(4, 0).flatMap((hour) => run(hour * HOUR_S + 60, 'punctual')),
  ...run(DAY_S, 'once'),
  ...days(3, 1).map((day) => event(day * 2 * HOUR_S + 5 * HOUR_S, 'metrics', 'metered', { items: [['rows', 1]] })),
  ...run(HOUR_S, 'failing'),
  event(1200, 'start', 'failing'),
  event(1190, 'end', 'failing', { failed: true }),
  event(300, 'start', 'flapping'),
  event(290, 'end', 'flapping', { failed: true }),
  ...run(200, 'flapping'),
  event(2 * HOUR_S, 'end', 'repaired', { failed: true }),
  ...run(HOUR_S, 'repaired'),
]
const LATER: readonly Event[] = [
  event(1, 'end', 'hangs', { uid: 'a' }),
  ...run(10, 'daily', { meta: 'late' }),
  ...run(10, 'hourly'),
  ...run(10, 'failing'),
]
const EXCEPTIONS: readonly Event[] = [
  event(60, 'exception', 'talker', { exception: 'oh' }),
  event(50, 'exception', 'talker', { exception: 'no' }),
  event(2 * HOUR_S, 'exception', 'calm', { exception: 'past' }),
  ...days(5, 6).map((hour) => event(hour * HOUR_S, 'exception', 'only exceptions', { exception: 'tick' })),
]
const CROWD: readonly Event[] = days(1_200, 0).flatMap((i) => [
  event(2 * HOUR_S + i, 'start', `crowd ${i}`, { account: 'acc_crowd' }),
  event(60, 'end', `crowd ${i}`, { account: 'acc_crowd', uid: 'x', failed: true }),
])

const store = {
  influx: undefined as unknown as InfluxBucket,
  clickhouse: { path: enginePath(), database: freshDatabase() },
}
const closing: (() => Promise<void>)[] = []
let write: (name: string, events: readonly Event[]) => Promise<void>

describe.skipIf(engineMissing !== undefined || influxdMissing !== undefined)('alerts with points in', () => {
  beforeAll(async () => {
    const server = await influxd()
    store.influx = { url: server.url, token: server.token, org: server.org, bucket: server.freshName() }
    const opened = await openClickHouse({
      address: store.clickhouse,
      holds: ['points', 'exceptions'],
      retentionDays: 0,
      log,
    })
    const sinks = {
      influxdb: createInfluxSink({ ...store.influx, retentionDays: 0, log }),
      clickhouse: opened.createSink(),
    }
    closing.push(
      () => sinks.influxdb.close(),
      () => sinks.clickhouse.close(),
      () => opened.close(),
    )
    for (const sink of Object.values(sinks)) expect(await sink.prepare()).toEqual({ kind: 'stored', expired: 0 })
    write = async (name, events) => {
      expect(await sinks[name as keyof typeof sinks].write(events)).toEqual({ kind: 'stored', expired: 0 })
    }
    await write('influxdb', POINTS)
    await write('clickhouse', [...POINTS, ...EXCEPTIONS])
  })
  afterAll(async () => {
    for (const close of closing) await close()
  })

  describe.each(['influxdb', 'clickhouse'])('%s', (name) => {
    const { groups } = JSON.parse(readFileSync(join(GRAFANA, `alerting/${name}/rules.json`), 'utf8'))
    const models = groups.flatMap(({ rules }: { rules: { uid: string; data: { model: object }[] }[] }) => rules)

    /** The values above the rule's threshold, by their labels. */
    async function firing(uid: string): Promise<Record<string, number>> {
      const [{ model }, , threshold] = models.find((rule: { uid: string }) => rule.uid === uid).data
      const [above] = threshold.model.conditions[0].evaluator.params
      const frames: Frame[] =
        model.datasource.uid === 'stint-influxdb'
          ? await askInflux(model.query, store.influx, VIEW)
          : await askClickHouse(model.rawSql, 'time series', store.clickhouse, VIEW)
      expect(frames.length).toBeLessThanOrEqual(ALERT_SERIES)
      return Object.fromEntries(
        frames
          .map(([, value]): [string, number] => [
            ['account', 'process', 'meta'].flatMap((label) => value!.labels[label] || []).join(' '),
            Number(value!.values.at(-1)),
          ])
          .filter(([, value]) => value > above),
      )
    }

    test('a hanging run fires from MAX_RUN until its end', async () => {
      const found = await firing('stint-run-too-long')
      expect(found).toEqual({ 'acc_ada hangs': expect.any(Number) })
      expect(Math.abs(found['acc_ada hangs']! - 25 * HOUR_S)).toBeLessThan(120)
    })

    test('silence is judged per process and meta by the usual gap', async () => {
      const found = await firing('stint-process-silent')
      expect(Object.keys(found).sort()).toEqual([
        'acc_ada daily late',
        'acc_ada hourly',
        'acc_ada metered',
        ...(name === 'clickhouse' ? ['acc_ada only exceptions'] : []),
      ])
      // 30 hours of silence, of which 1.1 times 24 are usual; the hour in which it was last heard of counts as a whole
      const overdueS = found['acc_ada daily late']! - (30 - 1.1 * 24) * HOUR_S
      expect(overdueS).toBeGreaterThan(-120)
      expect(overdueS).toBeLessThan(HOUR_S + 120)
    })

    test('a failed run fires while it is the newest, and for a quarter of an hour', async () => {
      expect(await firing('stint-run-failed')).toEqual({ 'acc_ada failing': 1, 'acc_ada flapping': 1 })
    })

    test('exceptions fire, also for a process that sends nothing else', async () => {
      expect(await firing('stint-exceptions')).toEqual({ 'acc_ada talker': 2 })
    })

    test('each alert resolves with the expected end, event or run', async () => {
      await write(name, LATER)
      expect(await firing('stint-run-too-long')).toEqual({})
      expect(Object.keys(await firing('stint-process-silent'))).not.toContain('acc_ada daily late')
      expect(Object.keys(await firing('stint-process-silent'))).not.toContain('acc_ada hourly')
      expect(await firing('stint-run-failed')).toEqual({ 'acc_ada flapping': 1 })
    })

    test('with 1,200 failing processes the 100 worst are reported', async () => {
      await write(name, CROWD)
      expect(Object.keys(await firing('stint-run-too-long'))).toHaveLength(ALERT_SERIES)
      expect(Object.keys(await firing('stint-run-failed'))).toHaveLength(ALERT_SERIES)
    })
  })
})
