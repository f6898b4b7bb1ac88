// A source that holds its events in memory and answers by the pure rules: what the stores' answers must be equal to, and the tests' store where no store is the subject.
import type { Event } from '../../src/event/event.ts'
import { fingerprint } from '../../src/event/fingerprint.ts'
import { formatStampNs, type Stamp } from '../../src/event/stamp.ts'
import { firstNs, pairMarks, type StoredMark } from '../../src/query/pair-marks.ts'
import { bucketNs, summarizeTimings } from '../../src/query/summarize-timings.ts'
import { compare } from '../../src/store/compare.ts'
import type {
  ExceptionRow,
  ExceptionSource,
  MetricPoint,
  Page,
  PointSource,
  ProcessRow,
  Selection,
} from '../../src/store/source.ts'

const stampNs = (stamp: Stamp): bigint => BigInt(formatStampNs(stamp))

/** Reads `events` anew for every question: push to it and the next answer has it. */
export function createMemorySource(events: readonly Event[]): { points: PointSource; exceptions: ExceptionSource } {
  const select = ({ account, process, meta }: Selection, kinds: readonly Event['kind'][]) =>
    events.filter(
      (event) =>
        event.account === account &&
        kinds.includes(event.kind) &&
        (process === undefined || event.process === process) &&
        (meta === undefined || event.meta === meta),
    )
  const within = (q: Selection, kinds: readonly Event['kind'][]) =>
    select(q, kinds).filter((event) => stampNs(event.stamp) >= q.fromNs && stampNs(event.stamp) < q.toNs)
  const marks = (q: Selection): StoredMark[] =>
    select(q, ['start', 'end']).flatMap((event) =>
      event.kind === 'start' || event.kind === 'end'
        ? [{ process: event.process, meta: event.meta, uid: event.uid, mark: event.kind, ns: stampNs(event.stamp) }]
        : [],
    )
  const metrics = (q: Selection & { readonly name?: string }): MetricPoint[] =>
    within(q, ['metrics']).flatMap((event) =>
      event.kind !== 'metrics'
        ? []
        : event.items
            .filter(([name]) => q.name === undefined || q.name === name)
            .map(([name, value]) => ({
              atNs: stampNs(event.stamp),
              process: event.process,
              meta: event.meta,
              name,
              value,
            })),
    )
  const texts = (q: Selection): ExceptionRow[] =>
    within(q, ['exception']).flatMap((event) =>
      event.kind !== 'exception'
        ? []
        : [
            {
              atNs: stampNs(event.stamp),
              process: event.process,
              meta: event.meta,
              exception: event.exception,
              fingerprint: fingerprint(event.exception),
            },
          ],
    )
  const processes = (q: Selection, kinds: readonly Event['kind'][]): ProcessRow[] =>
    [...Map.groupBy(within(q, kinds), ({ process }) => process)]
      .map(([process, same]) => ({
        process,
        metas: [...new Set(same.map(({ meta }) => meta))].sort().slice(0, 100),
        lastNs: same
          .map(({ stamp }) => stampNs(stamp))
          .toSorted(compare)
          .at(-1)!,
        kinds: [...new Set(same.map(({ kind }) => KINDS[kind]))],
      }))
      .toSorted((a, b) => compare(b.lastNs, a.lastNs))
      .slice(0, q.maxRows)

  return {
    points: {
      findTimings: async (q, page) =>
        cut(
          pairMarks(marks(q), q)
            .filter(({ uid }) => q.uid === undefined || q.uid === uid)
            .filter(({ state }) => q.state === undefined || q.state === state),
          page,
          (timing) => [firstNs(timing), ''],
        ),
      findLatest: async (q) =>
        [...Map.groupBy(pairMarks(marks(q), q), ({ process }) => process).values()]
          .flatMap((same) => same.toSorted((a, b) => compare(firstNs(b), firstNs(a))).slice(0, q.each))
          .toSorted((a, b) => compare(firstNs(b), firstNs(a)))
          .slice(0, q.maxRows),
      summarizeTimings: async (q) =>
        summarizeTimings(
          marks(q).filter(({ uid }) => q.uid === undefined || q.uid === uid),
          q,
        ).slice(0, q.maxRows),
      countMarks: async (q) => within(q, ['start', 'end']).length,
      findMetrics: async (q, page) => cut(metrics(q), page, ({ atNs, name }) => [atNs, name]),
      aggregateMetrics: async (q) =>
        [
          ...Map.groupBy(metrics(q), ({ atNs, process, name }) =>
            JSON.stringify([String(bucketNs(atNs, q.everyNs)), process, name]),
          ).values(),
        ]
          .map((same) => {
            const { atNs, process, name } = same[0]!
            const values = same.map(({ value }) => value)
            const sum = values.reduce((a, b) => a + b, 0)
            return {
              atNs: bucketNs(atNs, q.everyNs),
              process,
              name,
              count: values.length,
              mean: sum / values.length,
              min: Math.min(...values),
              max: Math.max(...values),
              sum,
              last: same.toSorted((a, b) => compare(a.atNs, b.atNs)).at(-1)!.value,
            }
          })
          .slice(0, q.maxRows),
      findPointProcesses: async (q) => processes(q, ['start', 'end', 'metrics']),
      close: async () => {},
    },
    exceptions: {
      findExceptions: async (q, page) =>
        cut(
          texts(q).filter((row) => q.fingerprint === undefined || q.fingerprint === row.fingerprint),
          page,
          ({ atNs }) => [atNs, ''],
        ),
      groupExceptions: async (q, limit) =>
        [
          ...Map.groupBy(
            texts(q).filter((row) => q.fingerprint === undefined || q.fingerprint === row.fingerprint),
            (row) => JSON.stringify([row.fingerprint, row.process]),
          ).values(),
        ]
          .map((same) => same.toSorted((a, b) => compare(a.atNs, b.atNs)))
          .map((same) => ({
            fingerprint: same[0]!.fingerprint,
            process: same[0]!.process,
            count: same.length,
            firstNs: same[0]!.atNs,
            lastNs: same.at(-1)!.atNs,
            example: same.at(-1)!.exception,
            ...(q.everyNs !== undefined && { counts: countBuckets(same, q.everyNs) }),
          }))
          .toSorted((a, b) => compare(b.lastNs, a.lastNs))
          .slice(0, limit),
      findExceptionProcesses: async (q) => processes(q, ['exception']),
      close: async () => {},
    },
  }
}

/** Of rows in order. */
const countBuckets = (rows: readonly ExceptionRow[], everyNs: bigint) =>
  [...Map.groupBy(rows, ({ atNs }) => bucketNs(atNs, everyNs))].map(([atNs, same]) => ({ atNs, count: same.length }))

const KINDS = { start: 'mark', end: 'mark', metrics: 'metric', exception: 'exception' } as const

/** Newest first, within a stamp by name; after the place. */
function cut<T>(items: readonly T[], { limit, after }: Page, placeOf: (item: T) => readonly [bigint, string]): T[] {
  const isAfter = (item: T) => {
    if (after === undefined) return true
    const [ns, name] = placeOf(item)
    return ns < after.ns || (ns === after.ns && name > (after.name ?? ''))
  }
  return items
    .filter(isAfter)
    .toSorted((a, b) => {
      const [placeA, placeB] = [placeOf(a), placeOf(b)]
      return compare(placeB[0], placeA[0]) || compare(placeA[1], placeB[1])
    })
    .slice(0, limit)
}
