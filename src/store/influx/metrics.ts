// Questions about metrics. A point's time is its event's stamp, in the same second as the event's time: whole seconds
// are read, and the edges of a range within a second are applied here.
import { bucketNs, compare, compareMetricRows } from '../order.ts'
import type { Buckets, MetricRowSelection, MetricSelection, MetricSummaryRow, Selection } from '../source.ts'
import {
  collectRows,
  type FluxText,
  flux,
  fluxDuration,
  fluxExpression,
  type GetColumn,
  type InfluxClient,
} from './client.ts'
import { readMetrics, type Stretch, visitOfUid } from './read-metrics.ts'
import {
  ceilSecond,
  floorSecond,
  fluxText,
  fluxTime,
  parseFluxTime,
  pointsIn,
  timeNs,
  toFloat,
  whereTags,
} from './selection.ts'

/** The seconds that a question reads again, the newest ones. */
const CLOSE_READS = 30

/** Narrowed to the seconds in which the run sent metrics; undefined where it sent none. The read is pushed down. */
export async function narrowToRun<Q extends MetricSelection>(client: InfluxClient, q: Q): Promise<Q | undefined> {
  if (q.uid === undefined || q.uid === '') return q
  const ofRun = flux`r._measurement == "metric" and r._field == "uid" and r._value == ${fluxText(q.uid)}`
  const where = flux`${ofRun} and ${whereTags(q)}`
  const ends = flux`points = ${pointsIn(client, fluxTime(floorSecond(q.fromNs)), fluxTime(ceilSecond(q.toNs)), where)}
union(tables: [points |> first(), points |> last()]) |> keep(columns: ["_time"])`
  const stamps = await collectRows(client, ends, (get) => parseFluxTime(get('_time')), q.signal)
  const [first, last] = [stamps.sort(compare)[0], stamps.at(-1)]
  if (first === undefined || last === undefined) return undefined
  const [, fromNs] = [q.fromNs, floorSecond(first)].sort(compare)
  const [toNs] = [q.toNs, ceilSecond(last + 1n)].sort(compare)
  return { ...q, fromNs: fromNs!, toNs: toNs! }
}

/** How a figure of a series and window, or of a single point, enters its row. */
const FIGURES = {
  count(row: Draft, value: number) {
    row.count += value
  },
  sum(row: Draft, value: number) {
    row.sum += value
  },
  min(row: Draft, value: number) {
    row.min = Math.min(row.min, value)
  },
  max(row: Draft, value: number) {
    row.max = Math.max(row.max, value)
  },
  last(row: Draft, value: number, stampNs: bigint) {
    const isLater = (compare(timeNs(stampNs), timeNs(row.lastNs)) || compare(stampNs, row.lastNs)) > 0
    if (row.lastNs < 0n || isLater) Object.assign(row, { last: value, lastNs: stampNs })
  },
}
type Figure = keyof typeof FIGURES
const ALL_FIGURES = Object.keys(FIGURES) as Figure[]

/** Metrics in buckets, oldest first, then by process, meta (with `byMeta`) and name. */
export const aggregateMetrics = async (client: InfluxClient, q: MetricRowSelection): Promise<MetricSummaryRow[]> =>
  (await foldMetrics(client, q, ALL_FIGURES))
    .map(({ lastNs, ...row }) => ({ ...row, mean: row.sum / row.count }))
    .sort(compareMetricRows)

/** The newest point of each process, meta and name. */
export async function findNewestMetrics(client: InfluxClient, q: Selection) {
  const whole = { bounds: [floorSecond(q.fromNs), ceilSecond(q.toNs)], byMeta: true }
  const rows = await foldMetrics(client, { ...q, ...whole }, ['last'])
  return rows.map(({ process, meta = '', name, last, lastNs }) => ({
    atNs: timeNs(lastNs),
    process,
    meta,
    name,
    value: last,
  }))
}

/**
 * InfluxDB pushes each figure down per series and window; the metas of a name become one row here, as the answer
 * streams in. InfluxDB finds the latest stamp; where that is of a whole second or ms, a later time may have an earlier
 * stamp, so the second is read.
 */
async function foldMetrics(client: InfluxClient, q: MetricRowSelection, asked: readonly Figure[]) {
  const rows = new Map<string, Draft>()
  const metaOf = (get: GetColumn) => (q.byMeta ? get('meta') : undefined)
  const keyAt = (get: GetColumn, ns: bigint) =>
    JSON.stringify([get('process'), metaOf(get), get('name'), String(bucketNs(ns, q))])
  const rowAt = (get: GetColumn, ns: bigint): Draft => {
    const key = keyAt(get, ns)
    const row = rows.get(key) ?? newDraft(bucketNs(ns, q), get('process'), metaOf(get), get('name'))
    rows.set(key, row)
    return row
  }
  const isFull = () => (rows.size === q.maxRows ? 'enough' : undefined)
  const unsure = new Set<bigint>()

  const addPoint = (get: GetColumn) => {
    const stampNs = parseFluxTime(get('_time'))
    const ns = timeNs(stampNs)
    if (ns < q.fromNs || ns >= q.toNs || isFull()) return isFull()
    const [row, value] = [rowAt(get, ns), toFloat(get('_value'))]
    for (const figure of asked) FIGURES[figure](row, figure === 'count' ? 1 : value, stampNs)
    return isFull()
  }
  const around = { startNs: floorSecond(q.fromNs), stopNs: ceilSecond(q.toNs) }
  if (q.uid !== undefined) {
    await visitOfUid(client, q, around, addPoint)
    return [...rows.values()]
  }
  if (await areFew(client, q, around, asked.length)) {
    await client.readRows(readMetrics(client, q, around), addPoint, q.signal)
    return [...rows.values()]
  }

  const whole = { startNs: ceilSecond(q.fromNs), stopNs: floorSecond(q.toNs) }
  const stretches = [...evenStretches(q, whole)]
  while (stretches.length > 0 && isFull() === undefined) {
    const figures = stretches
      .splice(0, STRETCHES)
      .flatMap((stretch, i) => asked.map((figure) => figureFlux(client, q, stretch, figure, i)))
      .join('\n')
    const addLine = (get: GetColumn) => {
      const startNs = parseFluxTime(get('_start')) // of a bucket that the range cuts: somewhere inside it
      const figure = get('result').split(' ')[0] as Figure
      const stampNs = figure === 'last' ? parseFluxTime(get('_time')) : 0n
      FIGURES[figure](rowAt(get, startNs), toFloat(get('_value')), stampNs)
      if (isUnsure(stampNs)) unsure.add(floorSecond(stampNs))
      return isFull()
    }
    await client.readRows(fluxExpression(figures), addLine, q.signal)
  }
  for (const edge of edgesOf(q)) await client.readRows(readMetrics(client, q, edge), addPoint, q.signal)
  if (unsure.size > 0) {
    const addPoint = (get: GetColumn) => {
      const stampNs = parseFluxTime(get('_time'))
      const row = rows.get(keyAt(get, timeNs(stampNs))) // absent: it arrived between the reads
      if (row !== undefined) FIGURES.last(row, toFloat(get('_value')), stampNs)
      return isFull()
    }
    await client.readRows(
      readSeconds(unsure, (second) => readMetrics(client, q, second)),
      addPoint,
      q.signal,
    )
  }
  return [...rows.values()]
}

/** InfluxDB makes a table per series, window and figure, which costs as much as reading about five points. */
const POINTS_PER_TABLE = 5

/** Whether reading the points costs less than their figures. */
async function areFew(client: InfluxClient, q: MetricRowSelection, stretch: Stretch, figures: number) {
  const windows = q.bounds === undefined ? Number((q.toNs - q.fromNs) / q.everyNs!) + 1 : q.bounds.length - 1
  if (figures * windows === 1) return false // 'last' of a whole series is pushed down and makes no table
  const count = flux`${readMetrics(client, q, stretch)} |> count()`
  const counts = await collectRows(client, count, (get) => Number(get('_value')), q.signal)
  const points = counts.reduce((sum, inSeries) => sum + inSeries, 0)
  const tables = counts.reduce((sum, inSeries) => sum + figures * Math.min(inSeries, windows), 0)
  return points <= POINTS_PER_TABLE * tables
}

const secondAt = (startNs: bigint): Stretch => ({ startNs, stopNs: ceilSecond(startNs + 1n) })

/** The newest point is of a whole second or ms: it may not be that of the latest event of its second. */
export const isUnsure = (stampNs: bigint): boolean => stampNs - timeNs(stampNs) >= 1000n

/** One query of the newest of these seconds, at least one, each by `read`. */
export function readSeconds(starts: ReadonlySet<bigint>, read: (second: Stretch) => FluxText): FluxText {
  const seconds = [...starts].sort(compare).slice(-CLOSE_READS).map(secondAt)
  return fluxExpression(seconds.map((second, i) => flux`${read(second)} |> yield(name: ${`${i}`})`).join('\n'))
}

/** The seconds that the range cuts. */
export function edgesOf({ fromNs, toNs }: Selection): Stretch[] {
  const cut = [fromNs, toNs].filter((ns) => ns !== floorSecond(ns))
  return [...new Set(cut.map(floorSecond))].map(secondAt)
}

interface EvenStretch extends Stretch {
  readonly everyNs: bigint
  readonly offsetNs: bigint
}

/** Stretches that one query asks for: with months there are many. */
const STRETCHES = 12

/** The range in parts whose buckets are equally long: nothing else is pushed down. */
function* evenStretches({ everyNs, bounds }: Buckets, { startNs, stopNs }: Stretch): Generator<EvenStretch> {
  if (startNs >= stopNs) return
  if (bounds === undefined) return yield { startNs, stopNs, everyNs: everyNs!, offsetNs: 0n }
  const lengthAt = (i: number) => bounds[i + 1]! - bounds[i]!
  for (let i = 0, next = 1; i + 1 < bounds.length; i = next++) {
    while (next + 1 < bounds.length && lengthAt(next) === lengthAt(i)) next++
    const [first, behind] = [bounds[i]!, bounds[next]!]
    const part = { startNs: first > startNs ? first : startNs, stopNs: behind < stopNs ? behind : stopNs }
    if (part.startNs < part.stopNs) yield { ...part, everyNs: lengthAt(i), offsetNs: first % lengthAt(i) }
  }
}

/** The source is spelt out for each figure: a shared variable would be read once, but nothing could be pushed down. */
const figureFlux = (
  client: InfluxClient,
  q: MetricSelection,
  stretch: EvenStretch,
  figure: Figure,
  i: number,
): FluxText => flux`${readMetrics(client, q, stretch)}
  |> window(every: ${fluxDuration(`${stretch.everyNs}ns`)}, offset: ${fluxDuration(`${stretch.offsetNs}ns`)})
  |> ${fluxExpression(figure)}()
  |> yield(name: ${`${figure} ${i}`})`

/** A row whose figures are still coming in, and the stamp of its `last`. */
type Draft = { -readonly [Key in keyof MetricSummaryRow]: MetricSummaryRow[Key] } & { lastNs: bigint }

const newDraft = (atNs: bigint, process: string, meta: string | undefined, name: string): Draft => ({
  atNs,
  process,
  ...(meta !== undefined && { meta }),
  name,
  count: 0,
  mean: 0,
  min: Number.POSITIVE_INFINITY,
  max: Number.NEGATIVE_INFINITY,
  sum: 0,
  last: 0,
  lastNs: -1n,
})
