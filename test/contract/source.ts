// What every source of points must answer, whatever stands behind it: marks and metrics go in through the store's own
// sink, questions come out through its source, and the answers must be equal to the last digit. That pairing follows its
// rule over any history is proved by pairing.ts; here each test proves one sentence.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Mark, MarkName, Metrics } from '../../src/event/event.ts'
import { contentOf, ownStamp } from '../../src/event/identity.ts'
import { parseStampNs } from '../../src/event/stamp.ts'
import { compareMetricRows, comparePlaces } from '../../src/store/order.ts'
import { PROCESS_METAS } from '../../src/store/process-row.ts'
import type { Sink } from '../../src/store/sink.ts'
import type {
  MetricPointRow,
  Page,
  Place,
  PointSource,
  TimingQuestion,
  TimingRow,
  TimingSelection,
  TimingSummaryRow,
} from '../../src/store/source.ts'
import { createMemorySource } from '../support/memory-source.ts'

/** A sink and a source on one store (bucket, database, …) of their own, prepared and empty. */
export interface SourceTrial {
  readonly sink: Sink
  readonly source: PointSource
  close(): Promise<void>
}

export interface SourceSubject {
  readonly name: string
  /** Why the suite cannot run here, when it cannot. */
  readonly skip?: string | undefined
  /** Called once for the suite: its tests keep apart by account. */
  open(): Promise<SourceTrial>
}

/** All times of these tests are µs: `inMicroseconds` translates. Events of one lane are not closer than that. */
const MS = 1000n
const S = 1000n * MS
const MINUTE = 60n * S
const HOUR = 60n * MINUTE
const DAY = 24n * HOUR

/** 2026-11-20T12:00:00Z; times of the tests are this much plus something. */
const T = 1_795_176_000n * S

const HOSTILE = 'a, b=c\\d $' + '{x} 😀 “é”; DROP'

export function pointSourceContract(subject: SourceSubject): void {
  describe.skipIf(subject.skip !== undefined)(`${subject.name} fulfils the contract of a source of points:`, () => {
    let trial: SourceTrial
    let source: PointSource
    let accounts = 0
    beforeAll(async () => {
      trial = await subject.open()
      source = inMicroseconds(trial.source)
      expect(await trial.sink.prepare()).toEqual({ kind: 'stored', expired: 0 })
    })
    afterAll(() => trial?.close())

    type Fields = Partial<Pick<Mark, 'account' | 'process' | 'meta' | 'uid'>>

    /** An account of its own, what a test stores in it, and what it asks. Offsets are µs from T. */
    function cast() {
      const account = `account-${++accounts}`
      const mark =
        (name: MarkName) =>
        (offsetUs: bigint, fields: Fields = {}): Mark => ({
          ...{ kind: name === 'start' ? 'start' : 'end', account, process: 'import', meta: '', uid: '' },
          ...(name === 'failed' && { failed: true }),
          ...fields,
          stamp: parseStampNs(1000n * (T + offsetUs)),
        })
      /** With a time of its own. */
      const own =
        (name: MarkName) =>
        (offsetUs: bigint, fields: Fields = {}): Mark =>
          withOwnTime(mark(name)(offsetUs, fields))
      const metric = (offsetUs: bigint, items: Readonly<Record<string, number>>, fields: Fields = {}): Metrics => ({
        ...{ kind: 'metrics', account, process: 'import', meta: '', items: Object.entries(items) },
        ...fields,
        stamp: parseStampNs(1000n * (T + offsetUs)),
      })
      const range = { account, fromNs: T - HOUR, toNs: T + HOUR }
      const question: TimingSelection = { ...range, maxRunNs: DAY, nowNs: T + HOUR }
      return {
        account,
        start: mark('start'),
        end: mark('end'),
        failed: mark('failed'),
        ownStart: own('start'),
        ownEnd: own('end'),
        ownFailed: own('failed'),
        metric,
        range,
        question,
        async store(events: readonly (Mark | Metrics)[]) {
          expect(await trial.sink.write(events)).toEqual({ kind: 'stored', expired: 0 })
        },
        async timings(q: Partial<TimingQuestion> = {}, page: Page = { limit: 100 }) {
          return (await source.findTimings({ ...question, ...q }, page)).map(line)
        },
        summary: async (q: Partial<Parameters<PointSource['summarizeTimings']>[0]> = {}) =>
          (await source.summarizeTimings({ ...question, byMeta: false, ...q })).toSorted(byKey),
        points: (q: Partial<Parameters<PointSource['findMetrics']>[0]> = {}, page: Page = { limit: 100 }) =>
          source.findMetrics({ ...range, ...q }, page),
        rows: (q: Partial<Parameters<PointSource['aggregateMetrics']>[0]> = {}) =>
          source.aggregateMetrics({ ...range, everyNs: MINUTE, ...q }),
        processes: (q: Partial<TimingSelection & { byMeta: boolean }> = {}) =>
          source.findPointProcesses({ ...range, ...q }),
      }
    }

    describe('marks as they are stored', () => {
      const text = (rows: Awaited<ReturnType<PointSource['findMarks']>>) =>
        rows.map(({ process, meta, uid, mark, ns }) => `${process}|${meta}|${uid}| ${mark} ${ns - T}`)

      test('come newest first with their own times, filtered by range and processes', async () => {
        const { account, store, start, end, failed, ownStart } = cast()
        await store([
          start(1n, { uid: 'a', meta: HOSTILE }),
          end(2n, { uid: 'a', meta: HOSTILE }),
          ownStart(1_000_000n, { process: HOSTILE }),
          failed(3_000_000n, { process: 'other', uid: 'b' }),
          start(90_000_000n),
        ])
        const q = { account, fromNs: T, toNs: T + MINUTE, maxRows: 10 }
        const all = [
          'other||b| failed 3000000',
          `${HOSTILE}||| start 1000000`,
          `import|${HOSTILE}|a| end 2`,
          `import|${HOSTILE}|a| start 1`,
        ]
        expect(text(await source.findMarks(q))).toEqual(all)
        expect(text(await source.findMarks({ ...q, maxRows: 2 }))).toEqual(all.slice(0, 2))
        expect(text(await source.findMarks({ ...q, process: [HOSTILE, 'other'] }))).toEqual(all.slice(0, 2))
        expect(await source.findMarks({ ...q, process: [] })).toEqual([])
        expect(await source.findMarks({ ...q, account: 'stranger' })).toEqual([])
      })

      test('differ by the rest of their stamps', async () => {
        const { account, store, start } = cast()
        await store([start(1n), start(2n)])
        const found = await source.findMarks({ account, fromNs: T, toNs: T + MINUTE, maxRows: 10 })
        expect(new Set(found.map(({ ns, restNs }) => `${ns} ${restNs}`)).size).toBe(2)
        for (const { restNs } of found) expect(restNs).toBeWithin(0, 1_000_000_000)
      })

      test('a limit keeps the newest of each process and meta', async () => {
        const { account, store, start } = cast()
        await store([
          ...Array.from({ length: 20 }, (_, i) => start(BigInt(i) * S)),
          start(5n * S, { meta: 'm', uid: 'x' }),
        ])
        const found = text(await source.findMarks({ account, fromNs: T, toNs: T + HOUR, perSeries: 2, maxRows: 100 }))
        expect(found).toEqual(['import||| start 19000000', 'import||| start 18000000', 'import|m|x| start 5000000'])
      })

      test('when each process and meta started, and the hours that hold a start', async () => {
        const { account, store, start, end } = cast()
        const minute = 60n * S
        await store([
          ...Array.from({ length: 12 }, (_, i) => start(BigInt(i) * 5n * minute)),
          ...[0n, 26n, 50n].map((hour) => start(hour * HOUR + 7n, { process: 'nightly', meta: HOSTILE })),
          ...[1n, 2n].map((hour) => end(hour * HOUR, { process: 'only ends' })),
        ])
        const q = { account, fromNs: T, toNs: T + 60n * HOUR, each: 10 }
        const found = (await source.findStartTimes(q)).map(({ process, meta, isEnd, newest, hours }) => ({
          of: `${process}|${meta}|${isEnd}`,
          newest: newest.map((ns) => ns - T),
          hours: hours.map((s) => BigInt(s) * S - (T - (T % HOUR))).toSorted((a, b) => (a < b ? -1 : 1)),
        }))
        expect(found.toSorted((a, b) => (a.of < b.of ? -1 : 1))).toEqual([
          {
            of: 'import||false',
            newest: Array.from({ length: 10 }, (_, i) => BigInt(11 - i) * 5n * minute),
            hours: [0n],
          },
          {
            of: `nightly|${HOSTILE}|false`,
            newest: [50n, 26n, 0n].map((hour) => hour * HOUR + 7n),
            hours: [0n, 26n, 50n].map((hour) => hour * HOUR),
          },
          { of: 'only ends||true', newest: [2n * HOUR, HOUR], hours: [HOUR, 2n * HOUR] },
        ])
        expect(await source.findStartTimes({ ...q, process: ['other'] })).toEqual([])
        expect(await source.findStartTimes({ ...q, account: 'stranger' })).toEqual([])
      })
    })

    describe('timings', () => {
      test('have every state and come newest first by first mark', async () => {
        const { store, start, end, timings } = cast()
        await store([end(1n), start(2n), start(3n), end(400_000_005n), end(400_000_006n), start(500_000_000n)])
        expect(await timings()).toEqual([
          'import||| running 500000000→',
          'import||| orphan →400000006',
          'import||| completed 3→400000005',
          'import||| abandoned 2→',
          'import||| orphan →1',
        ])
        expect(await timings({ fromNs: T, toNs: T })).toEqual([])
      })

      test('are selected by process, meta, uid and state', async () => {
        const { store, start, end, timings } = cast()
        await store([
          start(1n),
          start(2n, { process: 'x' }),
          start(3n, { meta: 'm' }),
          start(4n, { uid: 'u' }),
          start(5n, { process: 'x', meta: 'm', uid: 'u' }),
          end(6n, { process: 'x', meta: 'm', uid: 'u' }),
        ])
        expect(await timings({ process: 'x' })).toEqual(['x|m|u| completed 5→6', 'x||| running 2→'])
        expect(await timings({ meta: '' })).toEqual([
          'import||u| running 4→',
          'x||| running 2→',
          'import||| running 1→',
        ])
        expect(await timings({ uid: '' })).toEqual(['import|m|| running 3→', 'x||| running 2→', 'import||| running 1→'])
        expect(await timings({ process: 'import', meta: '', uid: '', states: ['running'] })).toEqual([
          'import||| running 1→',
        ])
      })

      test('the slowest come first, of equal ones the newest, in pages of any size', async () => {
        const { store, start, end, failed, ownStart, ownEnd, timings, question } = cast()
        const run = (at: bigint, ms: bigint, fields: Fields, last = end) => [
          start(at, fields),
          last(at + ms * MS, fields),
        ]
        await store([
          ...run(0n, 5n, { uid: 'a' }),
          ...run(1n, 7n, { uid: 'b' }, failed),
          ...run(2n, 9n, { uid: 'c', process: 'x' }),
          ...run(3n, 5n, { uid: 'd', meta: 'm' }),
          ownStart(4n, { uid: 'e' }), // marks of one stamp must have times of their own
          ownEnd(4n, { uid: 'e' }),
          ...run(-2n * HOUR, 3_600_000n, { uid: 'f' }), // ends at the beginning of the range
          start(5n, { uid: 'runs' }),
          end(6n, { uid: 'orphan' }),
        ])
        const uids = async (q: Parameters<typeof timings>[0] = {}) =>
          (await timings({ slowest: true, ...q })).map((text) => text.split('|')[2])
        expect(await uids()).toEqual(['f', 'c', 'b', 'd', 'a', 'e'])
        expect(await uids({ process: 'import', meta: '', states: ['completed'] })).toEqual(['f', 'a', 'e'])
        const find = (page: Page) => source.findTimings({ ...question, slowest: true }, page)
        const whole = await find({ limit: 100 })
        expect(whole.map(({ place }) => place.ns / MS)).toEqual([3_600_000n, 9n, 7n, 5n, 5n, 0n])
        expect(await pageThrough(find, 3)).toEqual(whole)
      })

      test('filters take any text without query injection', async () => {
        const { store, start, timings } = cast()
        await store([start(1n, { process: HOSTILE, meta: HOSTILE }), start(2n)])
        expect(await timings({ process: HOSTILE, meta: HOSTILE })).toEqual([`${HOSTILE}|${HOSTILE}|| running 1→`])
        const texts = ['" or true', "' OR 1=1 --", '\\', '$' + '{r.process}', '\0', 'a\0b', '\n', '%', '*']
        expect(await timings({ process: texts })).toEqual([])
        for (const of of [{ process: '" or true' }, { meta: "' OR 1=1 --" }, { meta: 'a\0b' }, { uid: '\\' }])
          expect(await timings(of)).toEqual([])
      })

      test('of another account are invisible', async () => {
        const [own, foreign] = [cast(), cast()]
        await own.store([own.start(1n, { uid: 'a' })])
        await foreign.store([foreign.end(2n, { uid: 'a' }), foreign.start(3n)])
        expect(await own.timings({ uid: 'a' })).toEqual(['import||a| running 1→'])
        expect(await foreign.timings()).toEqual(['import||| running 3→', 'import||a| orphan →2'])
      })

      test('own times are kept: whole seconds, equal times, a start and an end of one time', async () => {
        const { store, ownStart, ownEnd, timings } = cast()
        await store([
          ...['a', 'b'].flatMap((uid) => [ownStart(0n, { uid }), ownEnd(2n * S, { uid })]),
          ...[ownStart(MS, { uid: 'c' }), ownEnd(MS, { uid: 'c' })],
          ...[ownStart(1n, { uid: 'd' }), ownEnd(3n, { uid: 'd' })],
        ])
        const found = await timings()
        expect(found.slice(0, 2)).toEqual([`import||c| completed ${MS}→${MS}`, 'import||d| completed 1→3'])
        expect(found.slice(2).toSorted()).toEqual(['a', 'b'].map((uid) => `import||${uid}| completed 0→${2n * S}`))
        const inRange = await timings({ fromNs: T + MS, toNs: T + MS + 1n, nowNs: T + MS })
        expect(inRange.filter((row) => !row.includes(`0→${2n * S}`))).toEqual([`import||c| completed ${MS}→${MS}`])
      })

      test('timings of one time keep their process, meta and uid, and pages skip and repeat none', async () => {
        const { store, ownStart, ownFailed, question } = cast()
        const names = Array.from({ length: 24 }, (_, i) => ({
          process: `p${i}`, // within one series InfluxDB needs different stamps: intake sees to that
          meta: ['', 'm', 'n'][i % 3]!,
          uid: i % 4 === 0 ? `u${i}` : `v${i}`,
        }))
        // at a µs that is no whole ms a stamp has 300 values: some of these share one
        for (const at of [0n, 10n * S + 7n])
          await store(names.flatMap((name) => [ownStart(at, name), ownFailed(at + S, name)]))
        const find = (page: Page) => source.findTimings({ ...question, states: ['failed'] }, page)
        const whole = await find({ limit: 100 })
        const said = whole.map((timing) => JSON.stringify([String(timing.startedNs! - T), line(timing)])).toSorted()
        expect(said).toEqual(
          [0n, 10n * S + 7n]
            .flatMap((at) =>
              names.map(({ process, meta, uid }) =>
                JSON.stringify([String(at), `${process}|${meta}|${uid}| failed ${at}→${at + S}`]),
              ),
            )
            .toSorted(),
        )
        expect(await pageThrough(find, 24)).toEqual(whole)
      })
    })

    test('the latest timings are the newest of each process over its metas, up to a limit', async () => {
      const { store, start, end, question } = cast()
      await store([
        ...Array.from({ length: 8 }, (_, i) => [
          start(BigInt(i) * 10n, { meta: i % 2 === 0 ? '' : 'eu' }),
          end(BigInt(i) * 10n + 5n, { meta: i % 2 === 0 ? '' : 'eu' }),
        ]).flat(),
        start(1n, { process: 'rare' }),
        end(2n, { process: 'orphaned' }),
      ])
      const latest = async (each: number, maxRows = 100, q: Partial<TimingSelection> = {}) =>
        (await source.findLatest({ ...question, ...q, each, maxRows }))
          .toSorted((a, b) => comparePlaces(a.place, b.place))
          .map(line)
      expect(await latest(3)).toEqual([
        'import|eu|| completed 70→75',
        'import||| completed 60→65',
        'import|eu|| completed 50→55',
        'orphaned||| orphan →2',
        'rare||| running 1→',
      ])
      expect(await latest(1, 2)).toEqual(['import|eu|| completed 70→75', 'orphaned||| orphan →2'])
      expect(await latest(2, 100, { process: 'import', meta: '' })).toEqual([
        'import||| completed 60→65',
        'import||| completed 40→45',
      ])
    })

    test('over a long range the latest timings, abandoned ones and orphans are the same, wherever they lie in it', async () => {
      const { store, start, end, timings, question } = cast()
      const run = (process: string, from: bigint, to: bigint) => {
        const uid = String(from)
        return [start(from, { process, uid }), end(to, { process, uid })]
      }
      const ago = (seconds: bigint) => HOUR - seconds * S
      const long = { ...question, maxRunNs: 4n * MINUTE } // a store may look at its newest 112 s first
      await store([
        ...[5n, 20n, 40n, 300n, 4000n].flatMap((at) => run('often', ago(at), ago(at) + S)),
        ...[30n, 5000n, 6000n].flatMap((at) => run('rare', ago(at), ago(at) + S)),
        ...run('ceased', ago(7000n), ago(6999n)),
        ...run('long', ago(200n), ago(100n)),
        ...run('long', ago(150n), ago(140n)),
        ...run('long', ago(50n), ago(49n)),
        ...[10n, 60n, 900n, 3000n].flatMap((at) => end(ago(at), { process: 'lone', uid: String(at) })),
        ...[600n, 6500n].flatMap((at) => start(ago(at), { process: 'lost', uid: String(at) })),
      ])
      const latest = async (maxRows: number, q: Partial<TimingSelection> = {}) =>
        (await source.findLatest({ ...long, ...q, each: 2, maxRows })).map(
          ({ process, place }) => `${process} ${(T + HOUR - place.ns) / S}`,
        )
      expect((await latest(100)).toSorted()).toEqual([
        ...['ceased 7000', 'lone 10', 'lone 60', 'long 150', 'long 50', 'lost 600', 'lost 6500'],
        ...['often 20', 'often 5', 'rare 30', 'rare 5000'],
      ])
      expect(await latest(7)).toEqual([
        'often 5',
        'lone 10',
        'rare 30',
        'long 50',
        'lost 600',
        'ceased 7000',
        'often 20',
      ])
      expect((await latest(100, { process: ['often', 'ceased'] })).toSorted()).toEqual([
        ...['ceased 7000', 'often 20', 'often 5'],
      ])
      const found = async (states: TimingQuestion['states'], limit: number) =>
        (await timings({ ...long, ...(states && { states }) }, { limit })).map((text) => text.split('|')[2])
      for (const states of [['orphan'], ['abandoned'], ['abandoned', 'orphan']] as const) {
        const all = await found(states, 100)
        expect(all).toHaveLength({ orphan: 4, abandoned: 2 }[states.join()] ?? 6)
        for (const limit of states.length === 1 ? [1] : [2, 4])
          expect(await found(states, limit)).toEqual(all.slice(0, limit))
      }
    })

    test('the latest timings by meta have the last of each meta that is over; a process keeps one before any has two', async () => {
      const { store, start, end, failed, question } = cast()
      const run = (at: number, meta: string) => [start(BigInt(at), { meta }), end(BigInt(at) + 1n, { meta })]
      await store([
        ...[start(10n, { meta: 'fails' }), failed(11n, { meta: 'fails' })],
        ...run(20, 'hangs'),
        ...[
          start(30n, { meta: 'hangs' }),
          start(31n, { meta: 'hangs', uid: 'other' }),
          end(32n, { meta: 'hangs', uid: 'none' }),
        ],
        ...[40, 50, 60, 70].flatMap((at) => run(at, 'often')),
        ...[start(1n, { process: 'rare' }), end(2n, { process: 'rare' })],
        end(2n, { process: 'orphaned' }),
      ])
      const latest = async (maxRows: number) =>
        (await source.findLatest({ ...question, each: 2, byMeta: true, maxRows })).map(line)
      const often = (at: number) => `import|often|| completed ${at}→${at + 1}`
      const whole = await latest(100)
      expect(whole).toEqual([
        ...[often(70), 'orphaned||| orphan →2', 'rare||| completed 1→2'],
        ...[often(60), 'import|hangs|| completed 20→21', 'import|fails|| failed 10→11'],
      ])
      expect(await latest(4)).toEqual(whole.slice(0, 4))
    })

    test('every question may be about several processes', async () => {
      const { store, start, end, metric, timings, summary, points, rows, processes, range, question } = cast()
      const names = [HOSTILE, 'other', '"]) or true', 'import']
      await store(
        names.flatMap((process, i) => [
          start(BigInt(i), { process }),
          end(BigInt(i) + 100n, { process }),
          metric(BigInt(i) + 200n, { n: i }, { process }),
        ]),
      )
      const q = { process: [HOSTILE, '"]) or true', ...Array.from({ length: 98 }, (_, i) => `none ${i}`)] }
      const found = q.process.slice(0, 2).toSorted()
      const of = (list: readonly { process: string }[]) => list.map((row) => row.process).toSorted()
      expect((await timings(q)).map((text) => text.split('|')[0]!).toSorted()).toEqual(found)
      expect(of(await summary(q))).toEqual(found)
      expect(of(await source.findLatest({ ...question, ...q, each: 5, maxRows: 10 }))).toEqual(found)
      expect((await points(q)).map(({ value }) => value)).toEqual([2, 0])
      expect(of(await rows(q))).toEqual(found)
      expect(of(await processes(q))).toEqual(found)
      expect(await source.countMarks({ ...range, ...q })).toBe(4)
      expect(of(await source.findNewestMetrics({ ...range, ...q }))).toEqual(found)
      expect(await timings({ process: [] })).toEqual([])
      expect(await points({ process: [] })).toEqual([])
    })

    describe('a summary of timings', () => {
      test('counts states and interpolates percentiles between neighbours', async () => {
        const { store, start, end, summary } = cast()
        // 1, 2, … 10 ms, an abandoned one, an orphan and two that run
        const runs = Array.from({ length: 10 }, (_, i) => {
          const uid = `u${i}`
          return [start(BigInt(i) * S, { uid }), end(BigInt(i) * S + BigInt(i + 1) * MS, { uid })]
        })
        await store([...runs.flat(), start(1n), start(2n), end(3n, { uid: 'o' }), start(4n, { uid: 'r' })])
        const [row, ...others] = await summary()
        expect(others).toEqual([])
        expect(row).toMatchObject({
          process: 'import',
          count: 10,
          running: 2,
          abandoned: 1,
          orphan: 1,
          meanMs: 5.5,
          p50Ms: 5.5,
        })
        expect(row).not.toHaveProperty('meta')
        expect(row).not.toHaveProperty('atNs')
        expect(row!.p95Ms).toBeCloseTo(9.55, 9)
        expect(row!.p99Ms).toBeCloseTo(9.91, 9)
        expect(row!.maxMs).toBe(10)
        const [asked] = await summary({ quantiles: [1, 0, 0.5, 0.999, 0.25] })
        for (const [i, ms] of [10, 1, 5.5, 9.991, 3.25].entries()) expect(asked!.quantilesMs![i]!).toBeCloseTo(ms, 9)
        expect(asked).toMatchObject(row!)
      })

      test('has null figures where nothing was completed', async () => {
        const { store, start, summary } = cast()
        await store([start(0n)])
        expect(await summary()).toEqual([
          {
            process: 'import',
            ...{ count: 0, meanMs: null, p50Ms: null, p95Ms: null, p99Ms: null, maxMs: null },
            ...{ failed: 0, running: 1, abandoned: 0, orphan: 0 },
          },
        ])
        expect((await summary({ quantiles: [0, 0.5, 1] }))[0]!.quantilesMs).toEqual([null, null, null])
      })

      test('merges the metas of a process or splits by them', async () => {
        const { store, start, end, summary } = cast()
        await store([
          ...[start(0n), end(2n * MS)],
          ...[start(S, { meta: 'm' }), end(S + 4n * MS, { meta: 'm' })],
          ...[start(2n * S, { meta: 'm' }), end(2n * S + 6n * MS, { meta: 'm' })],
          start(0n, { process: 'x', meta: 'm' }),
        ])
        expect(
          (await summary()).map(({ process, count, meanMs, running }) => [process, count, meanMs, running]),
        ).toEqual([
          ['import', 3, 4, 0],
          ['x', 0, null, 1],
        ])
        const rows = await summary({ byMeta: true })
        expect(rows.map(({ process, meta, count, meanMs }) => [process, meta, count, meanMs])).toEqual([
          ['import', '', 1, 2],
          ['import', 'm', 2, 5],
          ['x', 'm', 0, null],
        ])
        expect((await summary({ meta: '', byMeta: true })).map(({ process, meta }) => [process, meta])).toEqual([
          ['import', ''],
        ])
      })

      test('counts a run across midnight once: on the day it ended, with and without a series', async () => {
        const { store, start, end, failed, summary } = cast()
        const midnight = 12n * HOUR
        await store([
          ...[start(midnight - HOUR, { uid: 'a' }), end(midnight + HOUR, { uid: 'a' })],
          ...[start(midnight - 2n * HOUR, { uid: 'b' }), failed(midnight, { uid: 'b' })],
          start(midnight - 3n * HOUR, { uid: 'c' }),
        ])
        const days = async (q: { everyNs?: bigint }, from = -12n * HOUR, to = 36n * HOUR) =>
          (await summary({ ...q, fromNs: T + from, toNs: T + to, nowNs: T + midnight + 2n * HOUR })).map(
            ({ atNs, count, failed, running }) => [atNs === undefined ? undefined : atNs - T, count, failed, running],
          )
        expect(await days({}, -12n * HOUR, midnight)).toEqual([[undefined, 0, 0, 1]])
        expect(await days({}, midnight, 36n * HOUR)).toEqual([[undefined, 1, 1, 0]])
        expect(await days({})).toEqual([[undefined, 1, 1, 1]])
        expect(await days({ everyNs: DAY })).toEqual([
          [-12n * HOUR, 0, 0, 1],
          [midnight, 1, 1, 0],
        ])
      })

      test('as a series has buckets of any lengths, by their bounds', async () => {
        const { store, start, end, summary } = cast()
        const bounds = [0n, 23n * HOUR, 48n * HOUR, 48n * HOUR + 1n * S, 72n * HOUR].map((at) => T + at)
        const ends = [0n, 23n * HOUR - 1n, 23n * HOUR, 48n * HOUR, 48n * HOUR + S, 72n * HOUR - 1n, 72n * HOUR]
        await store(ends.flatMap((at, i) => [start(at - 1n, { uid: `u${i}` }), end(at, { uid: `u${i}` })]))
        const found = await summary({ bounds, fromNs: T, toNs: T + 72n * HOUR, nowNs: T + 80n * HOUR })
        expect(found.map(({ atNs, count }) => [atNs! - T, count])).toEqual([
          [0n, 2],
          [23n * HOUR, 1],
          [48n * HOUR, 1],
          [48n * HOUR + S, 2],
        ])
      })
    })

    test('a count of marks is filtered by range, process and meta', async () => {
      const { store, start, end, metric, range } = cast()
      const count = (q: Partial<TimingSelection> = {}) => source.countMarks({ ...range, ...q })
      expect(await count()).toBe(0)
      await store([
        start(0n),
        end(1n),
        start(2n, { process: 'x', uid: 'a' }),
        start(3n, { meta: 'm' }),
        metric(4n, { 'no mark': 1 }),
      ])
      expect(await count()).toBe(4)
      expect(await count({ process: 'x' })).toBe(1)
      expect(await count({ meta: 'm' })).toBe(1)
      expect(await count({ meta: '' })).toBe(3)
      expect(await count({ fromNs: T + 1n, toNs: T + 3n })).toBe(2)
      expect(await count({ account: 'nobody' })).toBe(0)
      expect(await count({ fromNs: T, toNs: T })).toBe(0)
    })

    describe('metrics', () => {
      test('come newest first, and by name within a stamp', async () => {
        const { store, metric, points } = cast()
        await store([
          metric(1n, { b: 1, a: 2 }),
          metric(5n * S, { c: 3.5, '\uffff': 4, '😀': 5, C: 6 }, { process: 'x', meta: 'm' }),
          metric(20n * MINUTE, { late: -7 }),
        ])
        const row = (
          offset: bigint,
          name: string,
          value: number,
          of = { process: 'import', meta: '' },
        ): MetricPointRow => ({
          ...{ atNs: T + offset, ...of, name, value },
          uid: '',
          place: { ns: T + offset, tie: expect.any(String) },
        })
        const x = { process: 'x', meta: 'm' }
        expect(await points()).toEqual([
          row(20n * MINUTE, 'late', -7),
          row(5n * S, 'C', 6, x),
          row(5n * S, 'c', 3.5, x),
          row(5n * S, '\uffff', 4, x),
          row(5n * S, '😀', 5, x),
          row(1n, 'a', 2),
          row(1n, 'b', 1),
        ])
      })

      test('are filtered by range, process, meta and name, and always by account', async () => {
        const [{ store, metric, points }, stranger] = [cast(), cast()]
        await stranger.store([stranger.metric(0n, { a: 99 })])
        await store([
          metric(0n, { a: 1, b: 2 }),
          metric(1n, { a: 3 }, { process: 'x' }),
          metric(2n, { a: 4 }, { meta: 'm' }),
        ])
        const values = async (q: Parameters<typeof points>[0]) => (await points(q)).map(({ value }) => value)
        expect(await values({})).toEqual([4, 3, 1, 2])
        expect(await values({ name: 'a' })).toEqual([4, 3, 1])
        expect(await values({ process: 'x' })).toEqual([3])
        expect(await values({ meta: '' })).toEqual([3, 1, 2])
        expect(await values({ fromNs: T + 1n, toNs: T + 2n })).toEqual([3])
        for (const name of ['" or true or "', "' OR 1=1 --"]) expect(await values({ name })).toEqual([])
      })

      test('pages skip and repeat nothing, also within a stamp and across long gaps', async () => {
        const { store, metric, range } = cast()
        const names = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`name ${i}`, i]))
        const metas = ['', 'm']
        await store(
          [0n, 1n, S, 2n * HOUR, 40n * DAY, 40n * DAY + 1n].map((ago, i) =>
            metric(-ago, names, { meta: metas[i % 2]! }),
          ),
        )
        const q = { ...range, fromNs: T - 100n * DAY }
        const find = (page: Page) => source.findMetrics(q, page)
        const whole = await find({ limit: 1000 })
        expect(whole).toHaveLength(120)
        expect(await pageThrough(find, 50)).toEqual(whole)
      })
    })

    describe('metrics with times of their own', () => {
      test('are ordered and filtered by time, not by stamp', async () => {
        const { store, metric, points, rows } = cast()
        const own = (offset: bigint, name: string, value: number, fields = {}) =>
          withOwnTime(metric(offset, { [name]: value }, fields))
        await store([
          own(0n, 'a', 1),
          own(0n, 'b', 2),
          metric(500n * MS, { c: 3 }),
          own(S, 'd', 4),
          own(3n * MS, 'e', 5),
        ])
        const values = async (q: Parameters<typeof points>[0] = {}) => (await points(q)).map(({ value }) => value)
        const all = await values()
        expect([...all.slice(0, 3), ...all.slice(3).toSorted()]).toEqual([4, 3, 5, 1, 2])
        expect(await values({ fromNs: T + 1n, toNs: T + S })).toEqual([3, 5])
        expect((await values({ fromNs: T, toNs: T + 1n })).toSorted()).toEqual([1, 2])
        const names = async (fromNs: bigint, toNs: bigint) =>
          (await rows({ everyNs: MINUTE, fromNs, toNs })).map(({ name, count, last }) => [name, count, last])
        expect(await names(T + 1n, T + S)).toEqual([
          ['c', 1, 3],
          ['e', 1, 5],
        ])
        expect(await names(T, T + 1n)).toEqual([
          ['a', 1, 1],
          ['b', 1, 2],
        ])
        expect(await names(T - 1n, T + S + 1n)).toHaveLength(5)
      })

      test('pages of metrics with one time skip and repeat none', async () => {
        const { store, metric, range } = cast()
        await store(
          Array.from({ length: 120 }, (_, i) =>
            withOwnTime(metric(7n, { [`name ${i % 30}`]: i }, { process: `p${i % 5}`, meta: `m${i}` })),
          ),
        )
        const find = (page: Page) => source.findMetrics(range, page)
        const whole = await find({ limit: 1000 })
        expect(new Set(whole.map(({ value }) => value)).size).toBe(120)
        expect(await pageThrough(find, 50)).toEqual(whole)
      })
    })

    test('metrics of a long range come in pages, however they are spread', async () => {
      const { store, metric, range } = cast()
      const offsets = [0n, 1n, 2n, 50n, 51n, 1500n, 1501n, 1502n, 1503n, 1504n].map((hour) => -hour * HOUR)
      await store(offsets.map((offset, i) => metric(offset, { a: i }, { process: `p${i % 3}` })))
      const find = (page: Page) => source.findMetrics({ ...range, fromNs: T - 80n * DAY }, page)
      const whole = await find({ limit: 1000 })
      expect(whole.map(({ value }) => value)).toEqual(offsets.map((_, i) => i))
      for (const limit of [1, 2, 3, 5]) expect(await pageThrough(find, limit)).toEqual(whole)
    })

    test('metrics are filtered by uid, also by its absence', async () => {
      const { store, metric, points, rows } = cast()
      await store([
        metric(0n, { a: 1, b: 2 }, { uid: 'r1' }),
        metric(1n, { a: 3 }, { meta: 'm', uid: 'r2' }),
        metric(2n, { a: 4 }),
        metric(3n, { a: 5 }, { process: 'x' }),
        metric(4n, { a: 6 }, { uid: 'r1' }),
      ])
      const values = async (q: Parameters<typeof points>[0]) => (await points(q)).map(({ value }) => value)
      const uids = (await points()).map(({ value, uid }) => `${value} ${uid}`)
      expect(uids).toEqual(['6 r1', '5 ', '4 ', '3 r2', '1 r1', '2 r1'])
      expect(await values({ name: ['b', 'nothing'] })).toEqual([2])
      expect(await values({ uid: 'r1', name: 'a' })).toEqual([6, 1])
      expect(await values({ uid: '' })).toEqual([5, 4])
      const sums = async (uid: string) =>
        (await rows({ uid })).map(({ process, name, count, sum }) => [process, name, count, sum])
      expect(await sums('r1')).toEqual([
        ['import', 'a', 2, 7],
        ['import', 'b', 1, 2],
      ])
      expect(await sums('')).toEqual([
        ['import', 'a', 1, 4],
        ['x', 'a', 1, 5],
      ])
    })

    test('the figures of one uid are those of the reference', async () => {
      const { store, metric, range } = cast()
      const events = Array.from({ length: 240 }, (_, i): Metrics => {
        const items = { a: (i * 31) % 17, b: ((i * 31) % 17) - 1 }
        const plain = metric(BigInt(i % 120) * 250n * MS, items, { meta: i % 3 === 0 ? '' : HOSTILE })
        const event = i % 4 === 0 ? plain : { ...plain, uid: `r${i % 4}` }
        return i < 120 ? event : withOwnTime({ ...event, process: 'own' })
      })
      await store(events)
      const reference = inMicroseconds(createMemorySource(events).points)
      const cut = { fromNs: T + 3n * S + 1n, toNs: T + 20n * S - 1n }
      for (const [uid, more] of [
        ['r1', {}],
        ['r3', { byMeta: true, ...cut }],
        ['', { byMeta: true, ...cut }],
        ['', { name: 'b', process: 'own', meta: '' }],
        ['nobody', {}],
      ] as const) {
        const q = { ...range, everyNs: 5n * S, uid, ...more }
        expect(await source.aggregateMetrics(q)).toEqual((await reference.aggregateMetrics(q)).sort(compareMetricRows))
      }
      expect(await source.aggregateMetrics({ ...range, everyNs: 5n * S, uid: 'r1', maxRows: 2 })).toHaveLength(2)
    })

    test('the figures of few points and of many are those of the reference', async () => {
      const { store, metric, range } = cast()
      const events = Array.from({ length: 480 }, (_, i): Metrics => {
        const event = metric(BigInt(i % 240) * 125n * MS, { a: (i * 31) % 17 }, { meta: i % 3 === 0 ? '' : HOSTILE })
        return i < 240 ? event : withOwnTime({ ...event, process: 'own' })
      })
      await store(events)
      const reference = inMicroseconds(createMemorySource(events).points)
      const cut = { fromNs: T + 3n * S + 1n, toNs: T + 20n * S - 1n }
      // windows of a second have few points each, and longer ones many
      for (const everyNs of [S, 15n * S, MINUTE])
        for (const more of [{}, { byMeta: true }, cut, { byMeta: true, ...cut }, { process: 'own', meta: '' }]) {
          const q = { ...range, everyNs, ...more }
          const rows = (await reference.aggregateMetrics(q)).sort(compareMetricRows)
          expect(await source.aggregateMetrics(q)).toEqual(rows)
          expect(rows.length).toBeGreaterThan(0)
        }
    })

    test('the newest value of each process, meta and name is that of the latest time', async () => {
      const [{ store, metric, range }, stranger] = [cast(), cast()]
      const own = (offset: bigint, name: string, value: number) => withOwnTime(metric(offset, { [name]: value }))
      await stranger.store([stranger.metric(5n, { a: 99 })])
      await store([
        metric(-2n * HOUR, { a: 1 }),
        metric(-HOUR / 2n, { a: 2 }),
        metric(1n, { a: 3 }, { meta: HOSTILE }),
        own(0n, 'b', 4), // its stamp is up to a second later
        own(3n * MS, 'b', 5),
        metric(4n * MS, { b: 6 }),
        metric(2n * HOUR, { c: 7 }),
      ])
      const found = await source.findNewestMetrics(range)
      expect(
        found
          .map(({ atNs, process, meta, name, value }) => [name, value, meta, process, atNs - T] as const)
          .toSorted((a, b) => a[1] - b[1]),
      ).toEqual([
        ['a', 2, '', 'import', -HOUR / 2n],
        ['a', 3, HOSTILE, 'import', 1n],
        ['b', 6, '', 'import', 4n * MS],
      ])
      expect(await source.findNewestMetrics({ ...range, process: 'other' })).toEqual([])
    })

    describe('metrics in buckets', () => {
      test('have count, mean, min, max, sum and the newest value, over all metas of a name', async () => {
        const { store, metric, rows } = cast()
        await store([
          metric(1n * S, { a: 1 }),
          metric(2n * S, { a: 5 }, { meta: 'm' }),
          metric(3n * S, { a: -3 }, { meta: 'm' }),
          metric(4n * S, { a: 2.5 }),
          metric(5n * S, { b: 7 }),
          metric(6n * S, { a: 8 }, { process: 'x' }),
          metric(MINUTE, { a: 9 }),
        ])
        const at = (offset: bigint) => T + offset
        const one = (value: number) => ({ count: 1, mean: value, min: value, max: value, sum: value, last: value })
        expect(await rows()).toEqual([
          { atNs: at(0n), process: 'import', name: 'a', count: 4, mean: 1.375, min: -3, max: 5, sum: 5.5, last: 2.5 },
          { atNs: at(0n), process: 'import', name: 'b', ...one(7) },
          { atNs: at(0n), process: 'x', name: 'a', ...one(8) },
          { atNs: at(MINUTE), process: 'import', name: 'a', ...one(9) },
        ])
        expect((await rows({ meta: 'm' })).map(({ count, last }) => [count, last])).toEqual([[2, -3]])
        expect((await rows({ meta: '', name: 'a', process: 'import' })).map(({ sum }) => sum)).toEqual([3.5, 9])
        const split = await rows({ byMeta: true, process: 'import', name: 'a' })
        expect(split).toEqual([
          {
            atNs: at(0n),
            process: 'import',
            meta: '',
            name: 'a',
            ...{ count: 2, mean: 1.75, min: 1, max: 2.5, sum: 3.5, last: 2.5 },
          },
          {
            atNs: at(0n),
            process: 'import',
            meta: 'm',
            name: 'a',
            ...{ count: 2, mean: 1, min: -3, max: 5, sum: 2, last: -3 },
          },
          { atNs: at(MINUTE), process: 'import', meta: '', name: 'a', ...one(9) },
        ])
        // ranges that cut seconds are read in another way
        const cut = await rows({ byMeta: true, fromNs: T + 1n, toNs: T + 3n * S + 1n, name: 'a' })
        expect(cut.map(({ meta, count, last }) => [meta, count, last])).toEqual([
          ['', 1, 1],
          ['m', 2, -3],
        ])
      })

      test('have as last the value with the latest time of its second, wherever the stamps are', async () => {
        const { store, metric, rows } = cast()
        const own = metric(0n, { a: 1 })
        const { us } = own.stamp
        await store([
          ...[1, 2, 3, 4].map((value) => ({
            ...own,
            stamp: { us: us + 970_000 + value, sub: 7 },
            items: [['a', value]] as const,
          })),
          metric(500_000n, { a: 9 }),
          metric(500_000n, { a: 8 }, { process: 'other' }),
        ])
        expect((await rows()).map(({ process, last }) => [process, last])).toEqual([
          ['import', 9],
          ['other', 8],
        ])
      })

      test('come in buckets of any lengths, by their bounds', async () => {
        const { store, metric, rows } = cast()
        const bounds = [-HOUR, 22n * HOUR, 47n * HOUR, 71n * HOUR, 95n * HOUR, 95n * HOUR + S].map((at) => T + at)
        const times = [
          0n,
          22n * HOUR - 1n,
          22n * HOUR,
          47n * HOUR,
          71n * HOUR - 1n,
          71n * HOUR,
          95n * HOUR - 1n,
          95n * HOUR,
          95n * HOUR + 500n * MS,
        ]
        await store(times.map((at, i) => metric(at, { n: 2 ** i })))
        const found = await rows({ bounds, fromNs: T, toNs: T + 95n * HOUR + 500n * MS })
        expect(found.map(({ atNs, count, sum, last }) => [atNs - T, count, sum, last])).toEqual([
          [-HOUR, 2, 3, 2],
          [22n * HOUR, 1, 4, 4],
          [47n * HOUR, 2, 24, 16],
          [71n * HOUR, 2, 96, 64],
          [95n * HOUR, 1, 128, 128],
        ])
      })

      test('are aligned to the epoch and limited to the range', async () => {
        const { store, metric, rows } = cast()
        await store([0n, 10n, 20n, 30n, 40n].map((s) => metric(s * S, { a: Number(s) })))
        const every = 7n * S
        const found = await rows({ everyNs: every, fromNs: T + 10n * S, toNs: T + 30n * S + 1n })
        const bucketOf = (ns: bigint) => ns - (ns % every)
        expect(found.map(({ atNs, last }) => [atNs, last])).toEqual(
          [10n, 20n, 30n].map((s) => [bucketOf(T + s * S), Number(s)]),
        )
        const day = await rows({ everyNs: DAY })
        expect(day.map(({ atNs, count }) => [atNs, count])).toEqual([[T - (T % DAY), 5]])
      })

      test('are an empty list without metrics', async () => {
        const { rows } = cast()
        expect(await rows()).toEqual([])
        expect(await rows({ fromNs: T, toNs: T })).toEqual([])
      })
    })

    describe('processes', () => {
      test('have their metas, kinds and last time, most recent first', async () => {
        const [{ store, start, end, metric, processes }, stranger] = [cast(), cast()]
        await stranger.store([stranger.start(9n, { process: 'foreign' })])
        expect(await processes()).toEqual([])
        await store([
          start(1n),
          end(4n, { meta: 'n' }),
          metric(2n, { a: 1 }, { meta: 'm' }),
          metric(3n, { a: 1 }, { process: 'measured', meta: 'm' }),
          start(5n, { process: HOSTILE, meta: HOSTILE }),
        ])
        const sorted = (await processes()).toSorted((a, b) => Number(b.lastNs - a.lastNs))
        expect(sorted.map(({ kinds, ...row }) => ({ ...row, kinds: kinds.toSorted() }))).toEqual([
          { process: HOSTILE, metas: [HOSTILE], lastNs: T + 5n, kinds: ['mark'] },
          { process: 'import', metas: ['', 'm', 'n'], lastNs: T + 4n, kinds: ['mark', 'metric'] },
          { process: 'measured', metas: ['m'], lastNs: T + 3n, kinds: ['metric'] },
        ])
        const byMeta = (await processes({ byMeta: true })).map(({ process, metas, lastNs }) => [
          process,
          metas,
          lastNs - T,
        ])
        expect(byMeta.toSorted((a, b) => Number(b[2]) - Number(a[2]))).toEqual([
          [HOSTILE, [HOSTILE], 5n],
          ['import', ['n'], 4n],
          ['measured', ['m'], 3n],
          ['import', ['m'], 2n],
          ['import', [''], 1n],
        ])
        expect((await processes({ process: 'measured' })).map(({ process }) => process)).toEqual(['measured'])
        expect((await processes({ meta: 'n' })).map(({ process }) => process)).toEqual(['import'])
        expect((await processes({ meta: '' })).map(({ process }) => process)).toEqual(['import'])
        expect((await processes({ fromNs: T + 2n, toNs: T + 4n })).map(({ lastNs }) => lastNs - T).toSorted()).toEqual([
          2n,
          3n,
        ])
      })

      test('are judged by the time of each event where the range cuts a second, wherever its stamp is', async () => {
        const { store, ownStart, start, processes } = cast()
        await store([
          ownStart(0n, { process: 'own' }),
          ownStart(2_000_000n, { process: 'own' }),
          start(1_500_000n, { process: 'arrived' }),
        ])
        const found = async (fromUs: bigint, toUs: bigint) =>
          (await processes({ fromNs: T + fromUs, toNs: T + toUs })).map((row) => `${row.process} ${row.lastNs - T}`)
        expect(await found(0n, 1n)).toEqual(['own 0'])
        expect(await found(1n, 1_500_000n)).toEqual([])
        expect(await found(1n, 2_000_001n)).toEqual(['own 2000000', 'arrived 1500000'])
      })

      test('have the latest time of their events, wherever the stamps in that second are', async () => {
        const { store, start, ownStart, processes } = cast()
        await store([...[0n, 1000n].map((us) => ownStart(us, { process: 'own' })), start(1001n, { process: 'own' })])
        expect((await processes()).map(({ lastNs }) => lastNs - T)).toEqual([1001n])
      })

      test('name so many metas at most that an answer can say there are more; by meta all are listed', async () => {
        const { store, start, processes } = cast()
        await store(Array.from({ length: 130 }, (_, i) => start(BigInt(i), { meta: `m${String(i).padStart(3, '0')}` })))
        const [row, ...others] = await processes()
        expect(others).toEqual([])
        expect(row!.metas).toHaveLength(PROCESS_METAS)
        expect(row!.lastNs).toBe(T + 129n)
        expect(await processes({ byMeta: true })).toHaveLength(130)
      })
    })

    test('an answer without pages is limited to maxRows', async () => {
      const { store, start, metric, summary, rows, processes } = cast()
      await store(
        Array.from({ length: 20 }, (_, i) => [
          start(BigInt(i), { process: `p${i}` }),
          metric(BigInt(i) + 100n, { a: 1 }, { process: `p${i}` }),
        ]).flat(),
      )
      const maxRows = 7
      expect(await summary({ maxRows })).toHaveLength(maxRows)
      expect(await rows({ maxRows })).toHaveLength(maxRows)
      expect((await processes({ maxRows } as Partial<TimingSelection>)).map(({ process }) => process)).toEqual(
        [19, 18, 17, 16, 15, 14, 13].map((i) => `p${i}`),
      )
      expect(await summary({ maxRows: 21 })).toHaveLength(20)
    })
  })
}

/** The event as a caller sends it with its own time. */
const withOwnTime = <E extends Mark | Metrics>(event: E): E => ({
  ...event,
  stamp: ownStamp(event.stamp.us, contentOf(event)),
})

/** All pages of `limit`, one after the other. */
export async function pageThrough<T extends { readonly place: Place }>(
  find: (page: Page) => Promise<T[]>,
  limit: number,
): Promise<T[]> {
  const items: T[] = []
  for (let page = await find({ limit }); ; page = await find({ limit, after: page.at(-1)!.place })) {
    items.push(...page)
    if (page.length < limit) return items
  }
}

/** A source whose questions and answers are in µs instead of ns. */
function inMicroseconds(source: PointSource): PointSource {
  const up = <T>(value: T): T => scale(value, (us) => us * 1000n)
  const down = <T>(value: T): T =>
    scale(value, (ns) => {
      if (ns % 1000n !== 0n) throw new Error(`${ns} is not a whole number of µs`)
      return ns / 1000n
    })
  return {
    findTimings: async (q, page) => down(await source.findTimings(up(q), up(page))),
    findLatest: async (q) => down(await source.findLatest(up(q))),
    summarizeTimings: async (q) => down(await source.summarizeTimings(up(q))),
    countMarks: (q) => source.countMarks(up(q)),
    findMarks: async (q) => down(await source.findMarks(up(q))),
    async findStartTimes(q) {
      const found = await source.findStartTimes({ ...up(q), each: q.each })
      return found.map((row) => ({ ...down(row), hours: row.hours }))
    },
    findMetrics: async (q, page) => down(await source.findMetrics(up(q), up(page))),
    aggregateMetrics: async (q) => down(await source.aggregateMetrics(up(q))),
    findNewestMetrics: async (q) => down(await source.findNewestMetrics(up(q))),
    findPointProcesses: async (q) => down(await source.findPointProcesses(up(q))),
    close: () => source.close(),
  }
}

/** Applies `by` to every bigint inside. */
function scale<T>(value: T, by: (n: bigint) => bigint): T {
  if (typeof value === 'bigint') return by(value) as T
  if (Array.isArray(value)) return value.map((item) => scale(item as unknown, by)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, scale(item as unknown, by)])) as T
}

/** `process|meta|uid| state start→end`, in µs from T. */
function line({ process, meta, uid, state, startedNs, endedNs }: TimingRow): string {
  const offset = (ns: bigint | undefined) => (ns === undefined ? '' : String(ns - T))
  return `${process}|${meta}|${uid}| ${state} ${offset(startedNs)}→${offset(endedNs)}`
}

const keyOf = ({ atNs, process, meta }: TimingSummaryRow): string => JSON.stringify([String(atNs), process, meta])
const byKey = (a: TimingSummaryRow, b: TimingSummaryRow): number => (keyOf(a) < keyOf(b) ? -1 : 1)
