// A source that holds its events in memory and answers by the pure rules: the tests' store where no store is the subject.
import { type EndText, type Event, markName, ownValue } from '../../src/event/event.ts'
import { fingerprint } from '../../src/event/fingerprint.ts'
import { formatStampNs, type Stamp, timeUs } from '../../src/event/stamp.ts'
import { bucketNs, compare, comparePlaces, groupTie, LAST_NS } from '../../src/store/order.ts'
import { PROCESS_METAS, type ProcessRow } from '../../src/store/process-row.ts'
import type {
  Buckets,
  ExceptionRow,
  ExceptionSelection,
  ExceptionSource,
  GroupKey,
  MarkSelection,
  MetricPointRow,
  MetricSelection,
  Names,
  Page,
  Place,
  PointSource,
  ProcessSelection,
  RunSelection,
  Selection,
  TextRow,
  TimingRow,
} from '../../src/store/source.ts'
import { pairMarks, type StampedMark } from './pair-marks.ts'
import { summarizeTimings } from './summarize-timings.ts'

const timeNs = (stamp: Stamp): bigint => BigInt(timeUs(stamp)) * 1000n
const placeOf = ({ stamp, process, meta }: Event, own: string): Place => ({
  ns: timeNs(stamp),
  tie: [formatStampNs(stamp), own, process, meta].join('\0'),
})

const fingerprints = new Map<string, string>()
const fingerprintOf = (text: string): string => {
  const known = fingerprints.get(text) ?? fingerprint(text)
  fingerprints.set(text, known)
  return known
}

/** Reads `events` for every question: an event pushed to it, or returned by it, is in the next answer. */
export function createMemorySource(events: readonly Event[] | (() => readonly Event[])): {
  points: PointSource
  exceptions: ExceptionSource
} {
  const select = ({ account, process, meta }: Selection, kinds: readonly Event['kind'][]) =>
    (typeof events === 'function' ? events() : events).filter(
      (event) =>
        event.account === account &&
        kinds.includes(event.kind) &&
        isOneOf(process, event.process) &&
        (meta === undefined || event.meta === meta),
    )
  const within = (q: Selection, kinds: readonly Event['kind'][]) =>
    select(q, kinds).filter((event) => timeNs(event.stamp) >= q.fromNs && timeNs(event.stamp) < q.toNs)
  const marks = (q: Selection): StampedMark[] =>
    select(q, ['start', 'end']).flatMap((event) =>
      event.kind === 'start' || event.kind === 'end'
        ? [
            {
              process: event.process,
              meta: event.meta,
              uid: event.uid,
              mark: markName(event),
              ns: timeNs(event.stamp),
              stamp: BigInt(formatStampNs(event.stamp)),
            },
          ]
        : [],
    )
  const metrics = (q: MetricSelection): MetricPointRow[] =>
    within(q, ['metrics']).flatMap((event) =>
      event.kind !== 'metrics' || (q.uid !== undefined && q.uid !== (event.uid ?? ''))
        ? []
        : event.items
            .filter(([name]) => isOneOf(q.name, name))
            .map(([name, value]) => ({
              atNs: timeNs(event.stamp),
              process: event.process,
              meta: event.meta,
              uid: event.uid ?? '',
              name,
              value,
              place: placeOf(event, name),
            })),
    )
  const texts = (q: ExceptionSelection): ExceptionRow[] =>
    within(q, ['exception'])
      .flatMap((event) =>
        event.kind !== 'exception' || (q.uid !== undefined && q.uid !== (event.uid ?? ''))
          ? []
          : [
              {
                atNs: timeNs(event.stamp),
                process: event.process,
                meta: event.meta,
                uid: event.uid ?? '',
                exception: event.exception,
                fingerprint: fingerprintOf(event.exception),
                place: placeOf(event, event.exception),
              },
            ],
      )
      .filter((row) => {
        const isSame = (group: GroupKey) => group.fingerprint === row.fingerprint && group.process === row.process
        return (
          (q.fingerprint === undefined || q.fingerprint === row.fingerprint) &&
          (q.words ?? []).every((word) => row.exception.toLowerCase().includes(word.toLowerCase())) &&
          (q.only?.some(isSame) ?? true) &&
          !q.without?.some(isSame)
        )
      })
  const said = (kind: EndText, q: RunSelection): TextRow[] =>
    within(q, [kind]).flatMap((event) =>
      event.kind !== kind || (q.uid !== undefined && q.uid !== (event.uid ?? ''))
        ? []
        : [
            {
              atNs: timeNs(event.stamp),
              process: event.process,
              meta: event.meta,
              uid: event.uid ?? '',
              text: String(ownValue(event)),
              place: placeOf(event, String(ownValue(event))),
            },
          ],
    )
  const processes = (q: ProcessSelection, kinds: readonly Event['kind'][]): ProcessRow[] =>
    [...Map.groupBy(within(q, kinds), ({ process, meta }) => (q.byMeta ? `${process}\0${meta}` : process)).values()]
      .map((same) => ({
        process: same[0]!.process,
        metas: [...new Set(same.map(({ meta }) => meta))].sort().slice(0, PROCESS_METAS),
        lastNs: same
          .map(({ stamp }) => timeNs(stamp))
          .toSorted(compare)
          .at(-1)!,
        kinds: [...new Set(same.map(({ kind }) => KINDS[kind]))],
      }))
      .toSorted((a, b) => compare(b.lastNs, a.lastNs))
      .slice(0, q.maxRows)

  const isAmong = (q: MarkSelection) => {
    const { fromNs, toNs, process: asked } = q
    return ({ process, ns }: StampedMark) =>
      ns >= fromNs && ns < toNs && (asked === undefined || [asked].flat().includes(process))
  }

  return {
    points: {
      async findMarks(q) {
        const counts = new Map<string, number>()
        const isFew = ({ process, meta }: StampedMark) => {
          const count = (counts.get(`${process}\0${meta}`) ?? 0) + 1
          counts.set(`${process}\0${meta}`, count)
          return count <= (q.perSeries ?? Number.POSITIVE_INFINITY)
        }
        const found = marks(q).filter(isAmong(q))
        return found
          .toSorted((a, b) => compare(b.ns, a.ns))
          .filter(isFew)
          .slice(0, q.maxRows)
          .map((mark) => ({ ...mark, restNs: Number(mark.stamp - mark.ns) }))
      },
      async findStartTimes(q) {
        const found = marks(q)
          .filter(isAmong(q))
          .toSorted((a, b) => compare(b.ns, a.ns))
        const groups = Map.groupBy(found, ({ process, meta, mark }) =>
          JSON.stringify([process, meta, mark !== 'start']),
        )
        return [...groups.values()].map((same) => ({
          ...{ process: same[0]!.process, meta: same[0]!.meta, isEnd: same[0]!.mark !== 'start' },
          newest: same.slice(0, q.each).map(({ ns }) => ns),
          hours: [...new Set(same.map(({ ns }) => Number(ns / 3_600_000_000_000n) * 3600))],
        }))
      },
      findTimings: async (q, page) =>
        cut(
          pairMarks(marks(q), q)
            .flatMap((timing) => (q.slowest ? byLength(timing) : [timing]))
            .filter(({ uid }) => q.uid === undefined || q.uid === uid)
            .filter(({ state }) => q.states === undefined || q.states.includes(state)),
          page,
        ),
      findLatest: async (q) =>
        [...Map.groupBy(pairMarks(marks(q), q), ({ process }) => process).values()]
          .flatMap((same) =>
            same.map((timing, i) => {
              const isOver = ({ state, meta }: TimingRow) => /^(?:comp|fail|aban)/.test(state) && meta === timing.meta
              const isLast = q.byMeta === true && same.find(isOver) === timing
              return { timing, rank: isLast ? Math.min(2, i + 1) : i < q.each ? i + 1 : Number.POSITIVE_INFINITY }
            }),
          )
          .filter(({ rank }) => rank < Number.POSITIVE_INFINITY)
          .toSorted((a, b) => a.rank - b.rank || comparePlaces(a.timing.place, b.timing.place))
          .slice(0, q.maxRows)
          .map(({ timing }) => timing),
      summarizeTimings: async (q) =>
        summarizeTimings(
          marks(q).filter(({ uid }) => q.uid === undefined || q.uid === uid),
          q,
        ).slice(0, q.maxRows),
      countMarks: async (q) => within(q, ['start', 'end']).length,
      findMetrics: async (q, page) => cut(metrics(q), page),
      aggregateMetrics: async (q) =>
        [
          ...Map.groupBy(metrics(q), ({ atNs, process, meta, name }) =>
            JSON.stringify([String(bucketNs(atNs, q)), process, q.byMeta ? meta : '', name]),
          ).values(),
        ]
          .map((same) => {
            const { atNs, process, meta, name } = same[0]!
            const values = same.map(({ value }) => value)
            const sum = values.reduce((a, b) => a + b, 0)
            return {
              atNs: bucketNs(atNs, q),
              process,
              ...(q.byMeta && { meta }),
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
      findNewestMetrics: async (q) =>
        [...Map.groupBy(metrics(q), ({ process, meta, name }) => JSON.stringify([process, meta, name])).values()].map(
          (same) => {
            const { place: _, uid: __, ...newest } = same.toSorted((a, b) => comparePlaces(a.place, b.place))[0]!
            return newest
          },
        ),
      findPointProcesses: async (q) => processes(q, ['start', 'end', 'metrics']),
      close: async () => {},
    },
    exceptions: {
      findExceptions: async (q, page) => cut(texts(q), page),
      findTexts: async (kind, q, page) => cut(said(kind, q), page),
      findMoments: async ({ subjects, limitEach, limit, ...q }) => {
        const taken = new Map<string, number>()
        return texts(q)
          .toSorted((a, b) => comparePlaces(a.place, b.place))
          .filter(({ process, meta }) => {
            const key = JSON.stringify([process, meta])
            const count = (taken.get(key) ?? 0) + 1
            taken.set(key, count)
            return count <= limitEach && (subjects?.some((of) => of.process === process && of.meta === meta) ?? true)
          })
          .slice(0, limit)
          .map(({ atNs, process, meta, uid }) => ({ atNs, process, meta, uid }))
      },
      groupExceptions: async (q, page) =>
        cut(
          [...Map.groupBy(texts(q), (row) => JSON.stringify([row.fingerprint, row.process])).values()]
            .map((same) => same.toSorted((a, b) => compare(a.atNs, b.atNs)))
            .map((same) => ({
              fingerprint: same[0]!.fingerprint,
              process: same[0]!.process,
              count: same.length,
              runs: new Set(same.flatMap(({ meta, uid }) => (uid === '' ? [] : [`${meta}\0${uid}`]))).size,
              firstNs: same[0]!.atNs,
              lastNs: same.at(-1)!.atNs,
              example: same.at(-1)!.exception,
              meta: same.at(-1)!.meta,
              place: { ns: page.byCount ? BigInt(same.length) : same.at(-1)!.atNs, tie: groupTie(same[0]!) },
              ...((q.everyNs !== undefined || q.bounds !== undefined) && { counts: countBuckets(same, q) }),
            })),
          page,
        ),
      findRaised: async (q) =>
        [...Map.groupBy(texts(q), (row) => JSON.stringify([row.fingerprint, row.process, row.meta])).values()]
          .map((same) => same.toSorted((a, b) => comparePlaces(a.place, b.place)))
          .toSorted(([a], [b]) => compare(b!.atNs, a!.atNs))
          .slice(0, q.maxRows)
          .map((same) => {
            const { fingerprint, process, meta, exception: example } = same[0]!
            const counted = same.filter(({ atNs }) => atNs >= q.countFromNs)
            const hours = Map.groupBy(counted, ({ atNs }) => Number(atNs / 3_600_000_000_000n))
            return {
              ...{ fingerprint, process, meta, example },
              moments: same.slice(0, q.each).map(({ atNs, uid, place }) => ({
                ...{ atNs, uid, restNs: Number(BigInt(place.tie.split('\0')[0]!) - atNs) },
              })),
              hours: [...hours].map(([hour, own]) => [hour, own.length] as const),
            }
          }),
      findGroupSpans: async (q) =>
        [...Map.groupBy(texts(q), (row) => JSON.stringify([row.fingerprint, row.process])).values()].map((same) => {
          const times = same.map(({ atNs }) => atNs).toSorted(compare)
          const { fingerprint, process } = same[0]!
          return { fingerprint, process, firstNs: times[0]!, lastNs: times.at(-1)! }
        }),
      countExceptions: async (q) =>
        [...Map.groupBy(texts(q), ({ process, meta }) => JSON.stringify([process, meta])).values()].map((same) => ({
          process: same[0]!.process,
          meta: same[0]!.meta,
          count: same.length,
        })),
      findExceptionProcesses: async (q) => processes(q, ['exception', 'output']),
      close: async () => {},
    },
  }
}

/** Of rows in order. */
const countBuckets = (rows: readonly ExceptionRow[], buckets: Buckets) =>
  [...Map.groupBy(rows, ({ atNs }) => bucketNs(atNs, buckets))].map(([atNs, same]) => ({ atNs, count: same.length }))

const isOneOf = (names: Names | undefined, name: string): boolean =>
  names === undefined || [names].flat().includes(name)

/** With the place that `slowest` orders by. */
const byLength = (timing: TimingRow): TimingRow[] => {
  const { startedNs, endedNs, place } = timing
  if (startedNs === undefined || endedNs === undefined) return []
  return [{ ...timing, place: { ns: endedNs - startedNs, tie: `${LAST_NS - place.ns} ${place.tie}` } }]
}

const KINDS = { start: 'mark', end: 'mark', metrics: 'metric', exception: 'exception', output: 'output' } as const

/** Newest first; after the place. */
const cut = <T extends { readonly place: Place }>(items: readonly T[], { limit, after }: Page): T[] =>
  items
    .filter(({ place }) => after === undefined || comparePlaces(after, place) < 0)
    .toSorted((a, b) => comparePlaces(a.place, b.place))
    .slice(0, limit)
