// Pages that hold fewer rows than there are, over series with and without meta: where InfluxDB's `sort |> limit` meets empty
// strings it gives rows the values of others.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Event } from '../../../src/event/event.ts'
import type { SourceTrial } from '../../contract/source.ts'
import { influxdMissing } from '../../support/influxd.ts'
import { sourceSubject } from './subjects.ts'

const ACCOUNT = 'acc'
const RUNS = 600
const FIRST_US = Date.UTC(2026, 10, 20) * 1000
const metaOf = (i: number) => (i % 2 === 0 ? `meta ${i % 4}` : '')
const processOf = (i: number) => `p${i % 3}`
const common = (i: number, us: number) => ({
  account: ACCOUNT,
  process: processOf(i),
  meta: metaOf(i),
  stamp: { us, sub: 0 },
})
const events: Event[] = Array.from({ length: RUNS }, (_, i): Event[] => [
  { kind: 'start', ...common(i, FIRST_US + i * 10), uid: i % 5 === 0 ? '' : `u${i}` },
  { kind: 'metrics', ...common(i, FIRST_US + i * 10 + 1), items: [['value', i]] },
  ...(i % 7 === 0
    ? []
    : [{ kind: 'end', ...common(i, FIRST_US + i * 10 + 2), uid: i % 5 === 0 ? '' : `u${i}` } as const]),
]).flat()
const range = {
  account: ACCOUNT,
  fromNs: BigInt(FIRST_US) * 1000n,
  toNs: BigInt(FIRST_US + RUNS * 10) * 1000n,
}

describe.skipIf(influxdMissing !== undefined)('a page of InfluxDB', () => {
  let trial: SourceTrial
  beforeAll(async () => {
    trial = await sourceSubject.open()
    expect(await trial.sink.write(events)).toEqual({ kind: 'stored', expired: 0 })
  })
  afterAll(() => trial?.close())

  test('of metrics has each value with its own process and meta', async () => {
    for (const limit of [1, 10, 300]) {
      const points = await trial.source.findMetrics(range, { limit })
      expect(points.map(({ value, process, meta }) => [value, process, meta])).toEqual(
        Array.from({ length: limit }, (_, k) => RUNS - 1 - k).map((i) => [i, processOf(i), metaOf(i)]),
      )
    }
  })

  test('of timings has each run with its own process, meta and uid', async () => {
    for (const limit of [1, 10, 300]) {
      const found = await trial.source.findTimings(
        { ...range, maxRunNs: 3_600_000_000_000n, nowNs: range.toNs },
        { limit },
      )
      const of = (ns: bigint) => Number((ns - range.fromNs) / 10_000n)
      expect(found).toHaveLength(limit)
      expect(
        found.map((t) => {
          const i = of(t.startedNs ?? t.endedNs!)
          return [i, t.process, t.meta, t.uid]
        }),
      ).toEqual(
        found.map((t) => {
          const i = of(t.startedNs ?? t.endedNs!)
          return [i, processOf(i), metaOf(i), i % 5 === 0 ? '' : `u${i}`]
        }),
      )
    }
  })
  test('of timings holds a run that ends long after the range as completed', async () => {
    const run = (uid: string, startUs: number, endUs: number) =>
      (['start', 'end'] as const).map((kind, i) => ({
        ...{ kind, uid, account: 'other', process: 'import', meta: '' },
        stamp: { us: FIRST_US + [startUs, endUs][i]!, sub: 0 },
      }))
    const long = run('long', 50, 1_800_000_000)
    const short = [10, 20, 30, 40, 60].flatMap((us) => run(`at ${us}`, us, us + 5))
    await trial.sink.write([...short, ...long])
    const nowNs = range.fromNs + 3_600_000_000_000n
    const found = await trial.source.findTimings(
      { ...range, account: 'other', maxRunNs: 3_600_000_000_000n, nowNs },
      { limit: 3 },
    )
    expect(found.map(({ uid, state }) => `${uid} ${state}`)).toEqual([
      'at 60 completed',
      'long completed',
      'at 40 completed',
    ])
  })
})
