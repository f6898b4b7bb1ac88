// The queries of the page, asked of the real stores: a run with times of its own has its exact length.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Event } from '../../src/event/event.ts'
import { ownStamp } from '../../src/event/identity.ts'
import { parseStampNs } from '../../src/event/stamp.ts'
import { createLog } from '../../src/log.ts'
import { openClickHouse } from '../../src/store/clickhouse/open.ts'
import { createInfluxSink } from '../../src/store/influx/sink.ts'
import type { Sink } from '../../src/store/sink.ts'
import { engineMissing, enginePath, freshDatabase } from '../support/engine.ts'
import { type InfluxBucket, influxd, influxdMissing } from '../support/influxd.ts'
import { readRepo, sectionUnder } from '../support/readme.ts'
import { askClickHouse, askInflux, type Frame, type View } from './grafana.ts'

const PAGE = 'src/deploy/queries.md'
const log = createLog({ level: 'silent', pretty: false })
const T_S = Math.floor(Date.now() / 1000) - 3600
const VIEW: View = { fromMs: T_S * 1000, toMs: Date.now(), intervalMs: 60_000, variables: {} }

const queryOf = (heading: string, bucket = '') =>
  /^```\w+\n(.*?)^```/ms
    .exec(sectionUnder(PAGE, heading))![1]!
    .replaceAll('ACCOUNT', 'acc_ada')
    .replace('"stint"', `"${bucket}"`)

/** Stamped by its own time, a whole second: its stamp lies behind it. */
const mark = (kind: 'start' | 'end', s: number, content: bigint, failed?: true): Event =>
  ({
    ...{ kind, account: 'acc_ada', process: 'nightly', meta: '', uid: 'u', stamp: ownStamp((T_S + s) * 1e6, content) },
    ...(failed && { failed }),
  }) as Event
const POINTS: readonly Event[] = [
  ...[
    mark('start', 0, 12_345_678n),
    mark('end', 10, 87_654_321n),
    mark('start', 20, 5n),
    mark('end', 25, 99_999_998n, true),
  ],
  ...[5, 7].map(
    (value, i): Event => ({
      ...{ kind: 'metrics', account: 'acc_ada', process: 'nightly', meta: '', items: [['rows', value]] },
      stamp: parseStampNs(BigInt(T_S + i) * 1_000_000_000n),
    }),
  ),
]
const EXCEPTION: Event = {
  ...{ kind: 'exception', account: 'acc_ada', process: 'nightly', meta: '', exception: 'Error: no rows' },
  stamp: parseStampNs(BigInt(T_S) * 1_000_000_000n),
}

const closing: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of closing) await close()
})
async function fill(sink: Sink, events: readonly Event[]): Promise<void> {
  closing.push(() => sink.close())
  expect((await sink.prepare()).kind).toBe('stored')
  expect((await sink.write(events)).kind).toBe('stored')
}
/** Each column's values. */
const columnsOf = (frames: readonly Frame[]) =>
  Object.fromEntries(
    frames.flatMap((frame) =>
      frame.map(({ name, values }) => [name, values.map((each) => (typeof each === 'bigint' ? Number(each) : each))]),
    ),
  )

test('the page says in each heading which language it is', () => {
  const headings = [...readRepo(PAGE).matchAll(/^## .*$/gm)].map(([line]) => line)
  expect(headings.filter((line) => !/, (Flux|SQL)$/.test(line))).toEqual([])
})

describe.skipIf(influxdMissing !== undefined)('Flux', () => {
  let bucket: InfluxBucket
  beforeAll(async () => {
    const server = await influxd()
    bucket = { url: server.url, token: server.token, org: server.org, bucket: server.freshName() }
    await fill(createInfluxSink({ ...bucket, retentionDays: 0, log }), POINTS)
  })
  const ask = async (heading: string) => columnsOf(await askInflux(queryOf(heading, bucket.bucket), bucket, VIEW))

  test('durations are exact', async () => {
    const { seconds, failed } = await ask('Durations, Flux')
    expect([seconds, failed]).toEqual([
      [10, 5],
      ['false', 'true'],
    ])
  })
  test('failed runs are counted, and the newest value of a metric is found', async () => {
    expect(Object.values(await ask('Failed runs per day, Flux')).flat()).toContain(1)
    expect(Object.values(await ask("A metric's newest value, Flux")).flat()).toContain(7)
  })
})

describe.skipIf(engineMissing !== undefined)('SQL', () => {
  const address = { path: enginePath(), database: freshDatabase() }
  beforeAll(async () => {
    const options = { retentionDays: 0, log }
    const engine = await openClickHouse({ address, holds: ['points', 'exceptions'], ...options })
    await fill(engine.createSink(), [...POINTS, EXCEPTION])
    closing.push(() => engine.close())
  })
  const ask = async (heading: string) => columnsOf(await askClickHouse(queryOf(heading), 'table', address, VIEW))

  test('durations are exact', async () => {
    const { seconds, failed } = await ask('Durations, SQL')
    expect([seconds, failed]).toEqual([
      [10, 5],
      [0, 1],
    ])
  })
  test('the others find what is there', async () => {
    expect((await ask('Failed runs per day, SQL')).failed).toEqual([1])
    expect((await ask("A metric's newest value, SQL")).newest).toEqual([7])
    expect((await ask('The commonest exceptions, SQL')).times).toEqual([1])
  })
})
