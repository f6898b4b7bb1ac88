// Questions about metrics. A point's time is its event's stamp, which is up to a second after the event's time but in the same second: so whole
// seconds are read, and the edges of a range within a second are applied here.
import { bucketNs, compare, comparePlaces } from '../order.ts'
import type { Buckets, MetricPoint, MetricRow, MetricSelection, Page, Place, Selection } from '../source.ts'
import {
  collectRows,
  type FluxText,
  flux,
  fluxDuration,
  fluxExpression,
  type GetColumn,
  type InfluxClient,
} from './client.ts'
import { highestPlaces } from './pairing.ts'
import {
  ceilSecond,
  floorSecond,
  fluxNs,
  fluxText,
  fluxTime,
  parseFluxTime,
  timeNs,
  toFloat,
  whereTags,
} from './selection.ts'

const FIRST_STRETCH_NS = 60_000_000_000n
const GROWTH = 8n
/** The seconds that a question reads again, the newest ones. */
const CLOSE_READS = 30

/**
 * A page. InfluxDB cannot push "the newest n of several series" down, it would read the whole range; so the page is looked for in
 * stretches that reach further and further back, and mostly the first one has it.
 */
export async function findMetrics(
  client: InfluxClient,
  bucket: string,
  q: MetricSelection,
  { limit, after }: Page,
): Promise<MetricPoint[]> {
  const toNs = after !== undefined && after.ns < q.toNs ? after.ns + 1n : q.toNs
  const found: MetricPoint[] = []
  for (const stretch of stretches(floorSecond(q.fromNs), ceilSecond(toNs))) {
    const page = { limit: limit - found.length, ...(after !== undefined && { after }) }
    const points = await readPage(page, (count) =>
      collectRows(client, newestMetricsFlux(bucket, { ...q, toNs }, stretch, count), toMetricPoint, q.signal),
    )
    found.push(...points)
    if (found.length >= limit) break
  }
  return found
}

export interface Stretch {
  readonly startNs: bigint
  readonly stopNs: bigint
}

/** From `stopNs` back to `startNs`, each longer than the one before. */
function* stretches(startNs: bigint, stopNs: bigint): Generator<Stretch> {
  for (let stop = stopNs, lengthNs = FIRST_STRETCH_NS; stop > startNs; lengthNs *= GROWTH) {
    const start = stop - lengthNs > startNs ? stop - lengthNs : startNs
    yield { startNs: start, stopNs: stop }
    stop = start
  }
}

/** `place` is the event's time (event/stamp.ts), −1 outside the range. All maps are arithmetic on columns and literals, see pairing.ts. */
const newestMetricsFlux = (
  bucket: string,
  q: MetricSelection,
  stretch: Stretch,
  count: number,
): FluxText => flux`${readMetrics(bucket, q, stretch)}
  |> map(fn: (r) => ({r with stamp: int(v: r._time)}))
  |> map(fn: (r) => ({r with at: if r.stamp % 10 == 7 then r.stamp - r.stamp % 1000000000
    else if r.stamp % 10 == 3 then r.stamp - r.stamp % 1000000
    else r.stamp - r.stamp % 1000}))
  |> map(fn: (r) => ({r with place: if r.at >= ${fluxNs(q.fromNs)} and r.at < ${fluxNs(q.toNs)} then r.at else -1}))${highestPlaces(count)}
  |> keep(columns: ["stamp", "process", "meta", "name", "_value"])`

function toMetricPoint(get: GetColumn): MetricPoint {
  const [process, meta, name, stampNs] = [get('process'), get('meta'), get('name'), BigInt(get('stamp'))]
  const atNs = timeNs(stampNs)
  const place = { ns: atNs, tie: [stampNs, name, process, meta].join('\0') }
  return { atNs, process, meta, name, value: Number(get('_value')), place }
}

/** The points as tables with a `_value`, one per series. An uid must be brought beside its value first. */
export function readMetrics(bucket: string, q: MetricSelection, { startNs, stopNs }: Stretch): FluxText {
  const ofName = q.name === undefined ? flux`` : flux` and r.name == ${fluxText(q.name)}`
  const read = flux`from(bucket: ${bucket})
  |> range(start: ${fluxTime(startNs)}, stop: ${fluxTime(stopNs)})
  |> filter(fn: (r) => r._measurement == "metric" and ${whereTags(q)}${ofName})`
  if (q.uid === undefined)
    return flux`${read}
  |> filter(fn: (r) => r._field == "value")`
  return flux`${read}
  |> pivot(rowKey: ["_time"], columnKey: ["_field"], valueColumn: "_value")
  |> filter(fn: (r) => ${q.uid === '' ? flux`not exists r.uid` : flux`exists r.uid and r.uid == ${fluxText(q.uid)}`})
  |> rename(columns: {value: "_value"})`
}

const FIGURES = ['count', 'sum', 'min', 'max', 'last'] as const
type Figure = (typeof FIGURES)[number]

/**
 * Metrics in buckets, oldest first, then by process and name. Each figure is pushed down to InfluxDB per series (process, name and meta) and window; the metas
 * of a name become one row here, while the answer is read: its lines are many more than its rows. InfluxDB finds the latest stamp; where that is of a whole
 * second or ms, a later time of the same second may be before it, and the second is read.
 */
export async function aggregateMetrics(
  client: InfluxClient,
  bucket: string,
  q: MetricSelection & Buckets,
): Promise<MetricRow[]> {
  const rows = new Map<string, Draft>()
  const keyAt = (get: GetColumn, ns: bigint) => JSON.stringify([get('process'), get('name'), String(bucketNs(ns, q))])
  const rowAt = (get: GetColumn, ns: bigint): Draft => {
    const key = keyAt(get, ns)
    const row = rows.get(key) ?? newDraft(bucketNs(ns, q), get('process'), get('name'))
    rows.set(key, row)
    return row
  }
  const isFull = () => (rows.size === q.maxRows ? 'enough' : undefined)
  const unsure = new Set<bigint>()

  const whole = { startNs: ceilSecond(q.fromNs), stopNs: floorSecond(q.toNs) }
  const stretches = [...evenStretches(q, whole)]
  while (stretches.length > 0 && isFull() === undefined) {
    const figures = stretches
      .splice(0, STRETCHES)
      .flatMap((stretch, i) => FIGURES.map((figure) => figureFlux(bucket, q, stretch, figure, i)))
      .join('\n')
    const addLine = (get: GetColumn) => {
      const startNs = parseFluxTime(get('_start')) // of a bucket that the range cuts: somewhere inside it
      addFigure(rowAt(get, startNs), get)
      if (get('result').startsWith('last')) {
        const stampNs = parseFluxTime(get('_time'))
        if (isUnsure(stampNs)) unsure.add(floorSecond(stampNs))
      }
      return isFull()
    }
    await client.readRows(fluxExpression(figures), addLine, q.signal)
  }
  for (const edge of edgesOf(q)) {
    const addPoint = (get: GetColumn) => {
      const stampNs = parseFluxTime(get('_time'))
      const ns = timeNs(stampNs)
      if (ns >= q.fromNs && ns < q.toNs && isFull() === undefined)
        addValue(rowAt(get, ns), toFloat(get('_value')), stampNs)
      return isFull()
    }
    await client.readRows(readMetrics(bucket, q, edge), addPoint, q.signal)
  }
  if (unsure.size > 0) {
    const addPoint = (get: GetColumn) => {
      const stampNs = parseFluxTime(get('_time'))
      const row = rows.get(keyAt(get, timeNs(stampNs))) // absent: it arrived between the reads
      if (row !== undefined) addLast(row, toFloat(get('_value')), stampNs)
      return isFull()
    }
    await client.readRows(
      readSeconds(unsure, (second) => readMetrics(bucket, q, second)),
      addPoint,
      q.signal,
    )
  }
  return [...rows.values()]
    .map(({ lastNs, ...row }) => ({ ...row, mean: row.sum / row.count }))
    .sort((a, b) => compare(a.atNs, b.atNs) || compare(a.process, b.process) || compare(a.name, b.name))
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
  bucket: string,
  q: MetricSelection,
  stretch: EvenStretch,
  figure: Figure,
  i: number,
): FluxText => flux`${readMetrics(bucket, q, stretch)}
  |> window(every: ${fluxDuration(`${stretch.everyNs}ns`)}, offset: ${fluxDuration(`${stretch.offsetNs}ns`)})
  |> ${fluxExpression(figure)}()
  |> yield(name: ${`${figure} ${i}`})`

/** A row whose figures are still coming in, and the stamp of its `last`. */
type Draft = { -readonly [Key in keyof MetricRow]: MetricRow[Key] } & { lastNs: bigint }

const newDraft = (atNs: bigint, process: string, name: string): Draft => ({
  ...{ atNs, process, name },
  ...{ count: 0, mean: 0, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY, sum: 0, last: 0, lastNs: -1n },
})

function addFigure(row: Draft, get: GetColumn): void {
  const value = toFloat(get('_value'))
  switch (get('result').split(' ')[0] as Figure) {
    case 'count':
      row.count += value
      return
    case 'sum':
      row.sum += value
      return
    case 'min':
      row.min = Math.min(row.min, value)
      return
    case 'max':
      row.max = Math.max(row.max, value)
      return
    case 'last':
      addLast(row, value, parseFluxTime(get('_time')))
  }
}

function addValue(row: Draft, value: number, stampNs: bigint): void {
  row.count++
  row.sum += value
  row.min = Math.min(row.min, value)
  row.max = Math.max(row.max, value)
  addLast(row, value, stampNs)
}

function addLast(row: Draft, value: number, stampNs: bigint): void {
  const isLater = row.lastNs < 0n || (compare(timeNs(stampNs), timeNs(row.lastNs)) || compare(stampNs, row.lastNs)) > 0
  if (!isLater) return
  row.last = value
  row.lastNs = stampNs
}

// A page of rows that InfluxDB orders by time alone: rows of one time come in any order, and the last of them may be missing. So some more are read,
// those of the last time are dropped, and where nothing is left, even more are read.
/** Part of the first time lies on the page before, and the last time is dropped: so many more rows are read at first. */
const SPARE_ROWS = 100
const MORE_ROWS = 4

/** `read` gives the newest `count` rows (fewer: all) whose time is not later than that of the place. */
export async function readPage<Row extends { readonly place: Place }>(
  { limit, after }: Page,
  read: (count: number) => Promise<Row[]>,
): Promise<Row[]> {
  for (let count = limit + SPARE_ROWS; ; count *= MORE_ROWS) {
    const rows = await read(count)
    const cutNs = rows.length < count ? undefined : rows.at(-1)!.place.ns
    const found = rows
      .filter(({ place }) => place.ns !== cutNs && (after === undefined || comparePlaces(after, place) < 0))
      .toSorted((a, b) => comparePlaces(a.place, b.place))
    if (found.length >= limit || cutNs === undefined) return found.slice(0, limit)
  }
}
