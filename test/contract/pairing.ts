// One rule, three writings: the pure reference (also as InfluxDB's source streams marks through it), Flux and SQL give
// the same timings, with the same states and nanoseconds, and the same figures.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Mark } from '../../src/event/event.ts'
import { parseStampNs } from '../../src/event/stamp.ts'
import { createLog } from '../../src/log.ts'
import { openClickHouse } from '../../src/store/clickhouse/open.ts'
import { createInfluxClient } from '../../src/store/influx/client.ts'
import { createInfluxSink } from '../../src/store/influx/sink.ts'
import { createInfluxSource } from '../../src/store/influx/source.ts'
import { compare } from '../../src/store/order.ts'
import type {
  PlainTiming,
  PointSource,
  TimingQuestion,
  TimingRow,
  TimingSelection,
  TimingState,
  TimingSummaryRow,
} from '../../src/store/source.ts'
import { findTimings, summarizeTimings as summarizeTimingsInFlux } from '../store/influx/flux-timings.ts'
import { engineMissing, freshEmbedded } from '../support/engine.ts'
import { type InfluxBucket, influxd, influxdMissing } from '../support/influxd.ts'
import { pairMarks, type StampedMark } from '../support/pair-marks.ts'
import { summarizeTimings } from '../support/summarize-timings.ts'
import { arrivals, histories, MAX_RUN_NS, question, S, until } from './histories.ts'
import { EXAMPLES, marksOf, WIDE } from './pairing-examples.ts'
import type { SourceSubject, SourceTrial } from './source.ts'

/** How much a run draws. Fewer questions take less time, but that of Flux grows faster than its marks. */
export interface Rounds {
  /** Each asked twice. */
  readonly batches: number
  /** Per batch, each a process of its own. */
  readonly histories: number
  /** Series of marks that arrive while they are asked about. */
  readonly arrivals: number
  /** The figures of each example, and not only its timings. */
  readonly figures: boolean
}

const log = createLog({ level: 'silent', pretty: false })

async function openInflux(inPlaceOf: (address: InfluxBucket) => Partial<PointSource>): Promise<SourceTrial> {
  const address = await (await influxd()).freshBucket()
  const sink = createInfluxSink({ ...address, retentionDays: 0, log })
  const source = { ...createInfluxSource({ ...address, sliceMarks: 20, openLagS: 50 }), ...inPlaceOf(address) }
  return {
    sink,
    source,
    async close() {
      await Promise.all([sink.close(), source.close()])
    },
  }
}

function fluxTimings(address: InfluxBucket): Pick<PointSource, 'findTimings' | 'summarizeTimings'> {
  const client = createInfluxClient(address, 30_000)
  return {
    findTimings: async (q, page) => (q.fromNs < q.toNs ? findTimings(client, address.bucket, q, page) : []),
    summarizeTimings: async (q) => (q.fromNs < q.toNs ? summarizeTimingsInFlux(client, address.bucket, q) : []),
  }
}

export const CLICKHOUSE: SourceSubject = {
  name: 'ClickHouse',
  skip: engineMissing,
  async open() {
    const store = await openClickHouse({ address: freshEmbedded(), holds: ['points'], retentionDays: 0, log })
    return { sink: store.createSink(), source: store.source, close: () => store.close() }
  },
}
export const INFLUX: SourceSubject = {
  name: 'InfluxDB, paired by Stint',
  skip: influxdMissing,
  open: () => openInflux(() => ({})),
}
export const FLUX: SourceSubject = {
  name: 'InfluxDB, paired by the Flux of the panels',
  skip: influxdMissing,
  open: () => openInflux(fluxTimings),
}

export function provePairing({ name, skip, open }: SourceSubject, rounds: Rounds): void {
  describe.skipIf(skip !== undefined)(`${name} pairs as the reference does:`, () => {
    let trial: SourceTrial
    let accounts = 0
    beforeAll(async () => {
      trial = await open()
      expect(await trial.sink.prepare()).toEqual({ kind: 'stored', expired: 0 })
    })
    afterAll(() => trial?.close())

    /** Stores the marks under an account of their own; some of them twice, as after a crash. */
    async function store(marks: readonly StampedMark[]): Promise<string> {
      const account = `account-${++accounts}`
      await write(account, marks)
      return account
    }

    async function write(account: string, marks: readonly StampedMark[]): Promise<void> {
      const events = marks.map(
        ({ process, meta, uid, mark, stamp }): Mark => ({
          ...{ account, process, meta, uid },
          kind: mark === 'start' ? 'start' : 'end',
          ...(mark === 'failed' && { failed: true as const }),
          stamp: parseStampNs(stamp),
        }),
      )
      for (const batch of [events, events.filter((_, i) => i % 3 === 0)])
        if (batch.length > 0) expect(await trial.sink.write(batch)).toEqual({ kind: 'stored', expired: 0 })
    }

    test('over any history', async () => {
      const batch = fc.tuple(histories(rounds.histories), question, question)
      await fc.assert(
        fc.asyncProperty(batch, async ([history, first, second]) => {
          const marks = until(until(history, first), second)
          const account = await store(marks)
          for (const q of [first, second]) await compareAnswers(trial.source, marks, { account, ...q })
          await compareParts(trial.source, marks, { account, ...first })
          if (name !== FLUX.name) await compareSlowest(trial.source, marks, { account, ...first })
        }),
        { numRuns: rounds.batches },
      )
    })

    // InfluxDB's source remembers what was open (open-starts.ts): that must stay right whatever is stored later.
    if (rounds.arrivals > 0)
      test('over marks that arrive in any order, asked while they do', async () => {
        await fc.assert(
          fc.asyncProperty(arrivals(5), async (waves) => {
            const account = `account-${++accounts}`
            const marks: StampedMark[] = []
            for (const { nowNs, arrived } of waves) {
              marks.push(...arrived)
              await write(account, arrived)
              const q = { nowNs, toNs: nowNs + 1n, maxRunNs: MAX_RUN_NS, account }
              await compareAnswers(trial.source, marks, { ...q, fromNs: nowNs - 49n * S })
              const running = { ...q, fromNs: nowNs - MAX_RUN_NS, asOfNs: nowNs }
              const expected = pairMarks(marks, running).filter(({ state }) => state === 'running')
              const found = await trial.source.findTimings({ ...running, states: ['running'] }, { limit: 10_000 })
              expect(plain(inOrder(found))).toEqual(plain(inOrder(expected)))
              const middle = Math.floor(found.length / 2)
              const after = found[middle]?.place
              if (after === undefined) continue
              const rest = await trial.source.findTimings({ ...running, states: ['running'] }, { limit: 10_000, after })
              expect(plain(rest)).toEqual(plain(found.slice(middle + 1)))
            }
          }),
          { numRuns: rounds.arrivals, endOnFailure: true },
        )
      })

    if (name !== FLUX.name)
      test('as it was at the end of any range', async () => {
        await fc.assert(
          fc.asyncProperty(histories(rounds.histories), question, async (history, drawn) => {
            const [nowNs = 0n] = [drawn.nowNs, drawn.toNs].toSorted(compare)
            const { asOfNs: _, ...q } = { ...drawn, nowNs, knownToNs: drawn.toNs }
            const account = await store(history)
            await compareAnswers(trial.source, history, { account, ...q })
            const form = {
              ...q,
              account,
              byMeta: true,
              bounds: [q.fromNs / S, q.fromNs / S + 7n, q.toNs / S + 1n].map((s) => s * S),
            }
            compareRows(await trial.source.summarizeTimings(form), summarizeTimings(history, form))
            const counted = summarizeTimings(history, { ...q, byMeta: false })
            const all = counted.reduce(
              (sum, row) => sum + row.count + row.failed + row.running + row.abandoned + row.orphan,
              0,
            )
            expect(all).toBe(pairMarks(history, q).length)
          }),
          { numRuns: rounds.batches },
        )
      })

    test('over the examples', async () => {
      const marks = EXAMPLES.flatMap(([name, text]) =>
        marksOf(text).map((mark) => ({ ...mark, process: `${mark.process}: ${name}` })),
      )
      const account = await store(marks)
      for (const alike of Map.groupBy(EXAMPLES, ([, , , changes]) => Bun.inspect(changes)).values()) {
        const q = { account, ...WIDE, ...alike[0]![3] }
        const own = marks.filter((mark) => alike.some(([name]) => mark.process.endsWith(`: ${name}`)))
        const process = [...new Set(own.map((mark) => mark.process))]
        await (rounds.figures ? compareAnswers : compareTimings)(trial.source, own, { ...q, process })
      }
    })
  })
}

async function compareTimings(source: PointSource, marks: readonly StampedMark[], q: TimingSelection): Promise<void> {
  expect(plain(inOrder(await source.findTimings(q, { limit: 10_000 })))).toEqual(plain(inOrder(pairMarks(marks, q))))
}

/** The whole answer, and its figures. */
async function compareAnswers(source: PointSource, marks: readonly StampedMark[], q: TimingSelection): Promise<void> {
  await compareTimings(source, marks, q)
  for (const form of [
    { byMeta: false },
    { byMeta: true, everyNs: 10_000_000_000n, newest: true },
    { byMeta: true, newest: true },
  ])
    compareRows(await source.summarizeTimings({ ...q, ...form }), summarizeTimings(marks, { ...q, ...form }))
}

/** The panels ask for neither the slowest nor quantiles of one's choice. */
async function compareSlowest(source: PointSource, marks: readonly StampedMark[], q: TimingSelection): Promise<void> {
  const ended = pairMarks(marks, q).filter((timing) => timing.startedNs !== undefined && timing.endedNs !== undefined)
  const lengths = (timings: readonly TimingRow[]) => timings.map(({ startedNs, endedNs }) => endedNs! - startedNs!)
  const slowest = await source.findTimings({ ...q, slowest: true }, { limit: 10_000 })
  expect(plain(inOrder(slowest))).toEqual(plain(inOrder(ended)))
  expect(lengths(slowest)).toEqual(lengths(ended).toSorted((a, b) => compare(b, a)))
  const after = slowest[Math.floor(slowest.length / 2)]?.place
  if (after !== undefined) {
    const rest = await source.findTimings({ ...q, slowest: true }, { limit: 10_000, after })
    expect(plain(rest)).toEqual(plain(slowest.slice(Math.floor(slowest.length / 2) + 1)))
  }
  const form = { ...q, byMeta: true, quantiles: [1, 0.333, 0] }
  const figures = (rows: readonly TimingSummaryRow[]) =>
    rows
      .map(({ process, meta, quantilesMs }) => [process, meta, ...quantilesMs!.map((ms) => ms?.toPrecision(9))])
      .toSorted((a, b) => compare(JSON.stringify(a), JSON.stringify(b)))
  expect(figures(await source.summarizeTimings(form))).toEqual(figures(summarizeTimings(marks, form)))
}

/** Pages and filters hold parts of the whole answer. */
async function compareParts(source: PointSource, marks: readonly StampedMark[], q: TimingSelection): Promise<void> {
  const whole = pairMarks(marks, q)
  const all = await source.findTimings(q, { limit: 10_000 })
  const limit = Math.ceil(whole.length / 3) + 1
  for (const size of [1, limit]) {
    if (size === 1 && whole.length > 8) continue // a question each
    expect(plain(await readPages(source, q, size))).toEqual(plain(all))
  }

  const { process, meta, uid, state } = whole[0] ?? { process: 'p', meta: '', uid: '', state: 'running' as const }
  const likeFirst = whole.filter((t) => t.process === process && t.meta === meta && t.uid === uid)
  expect(plain(inOrder(await source.findTimings({ ...q, process, meta, uid }, { limit: 10_000 })))).toEqual(
    plain(inOrder(likeFirst)),
  )
  for (const states of [[state], ['running'], ['failed', 'abandoned']] as const) {
    const expected = all.filter((timing) => (states as readonly TimingState[]).includes(timing.state))
    const size = Math.ceil(expected.length / 2) + 1
    expect(plain(await readPages(source, { ...q, states }, size))).toEqual(plain(expected))
  }
  const matches = (t: PlainTiming) => t.state === state || t.uid === uid
  const matching = await source.findMatching?.(q, { limit: 10_000 }, matches)
  if (matching !== undefined) {
    expect(plain(inOrder(matching))).toEqual(plain(inOrder(whole.filter(matches))))
    const after = matching[0]?.place
    const rest = await source.findMatching!(q, { limit, ...(after && { after }) }, matches)
    expect(plain(rest)).toEqual(plain(matching.slice(1, 1 + limit)))
  }
  compareRows(
    await source.summarizeTimings({ ...q, uid, byMeta: true }),
    summarizeTimings(
      marks.filter((m) => m.uid === uid),
      { ...q, byMeta: true },
    ),
  )

  // InfluxDB counts by stamp, ClickHouse by time, and either may count a mark that was sent twice as two.
  const isIn = (ns: bigint) => ns >= q.fromNs && ns < q.toNs
  const counted = await source.countMarks(q)
  expect(counted).toBeGreaterThanOrEqual(marks.filter(({ ns, stamp }) => isIn(ns) && isIn(stamp)).length)
  expect(counted).toBeLessThanOrEqual(2 * marks.filter(({ ns, stamp }) => isIn(ns) || isIn(stamp)).length)
}

async function readPages(source: PointSource, q: TimingQuestion, size: number): Promise<TimingRow[]> {
  const paged: TimingRow[] = []
  for (let found: TimingRow[] | undefined; found === undefined || found.length === size; ) {
    const last = paged.at(-1)
    found = await source.findTimings(q, { limit: size, ...(last && { after: last.place }) })
    paged.push(...found)
  }
  return paged
}

/** Rows of one time have an order of the store's own: here they are in one. */
const inOrder = <T extends PlainTiming>(timings: readonly T[]) => {
  const key = ({ process, meta, uid, state }: PlainTiming) => JSON.stringify([process, meta, uid, state])
  const first = ({ startedNs, endedNs }: PlainTiming) => (startedNs ?? endedNs)!
  return timings.toSorted((a, b) => compare(first(b), first(a)) || compare(key(a), key(b)))
}

/** Nanoseconds as text: a difference of bigints is hard to read. */
const plain = (timings: readonly PlainTiming[]) =>
  timings.map(({ process, meta, uid, state, startedNs, endedNs }) => ({
    ...{ process, meta, uid, state },
    started: `${startedNs ?? ''}`,
    ended: `${endedNs ?? ''}`,
  }))

const FIGURES = ['meanMs', 'p50Ms', 'p95Ms', 'p99Ms', 'maxMs'] as const

function compareRows(found: readonly TimingSummaryRow[], expected: readonly TimingSummaryRow[]): void {
  const keyOf = ({ atNs, process, meta }: TimingSummaryRow) =>
    JSON.stringify([String(atNs ?? ''), process, meta ?? null])
  const counts = (rows: readonly TimingSummaryRow[]) =>
    rows
      .map((row) => [keyOf(row), row.count, row.failed, row.running, row.abandoned, row.orphan, row.atOnce ?? 0])
      .toSorted((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1))
  expect(counts(found)).toEqual(counts(expected))
  const byKey = new Map(found.map((row) => [keyOf(row), row]))
  for (const row of expected)
    for (const figure of FIGURES) {
      const [is, should] = [byKey.get(keyOf(row))![figure], row[figure]]
      if (is === null || should === null) expect(is).toBe(should)
      else expect(Math.abs(is - should)).toBeLessThanOrEqual(1e-9 * Math.abs(should))
    }
}
