// Metrics as they were sent, in pages.
import { comparePlaces } from '../order.ts'
import type { MetricPointRow, MetricSelection, Page, Place } from '../source.ts'
import { type FluxText, flux, fluxExpression, type GetColumn, type InfluxClient } from './client.ts'
import { type MetricField, readMetrics, type Stretch } from './read-metrics.ts'
import { ceilSecond, floorSecond, fluxNs, timeNs } from './selection.ts'

const FIRST_STRETCH_NS = 60_000_000_000n
const GROWTH = 8n
/**
 * A page. InfluxDB cannot push "the newest n of several series" down and would read the whole range; so longer and
 * longer stretches are read backwards, and mostly the first one holds the page.
 */
export async function findMetrics(
  client: InfluxClient,
  q: MetricSelection,
  { limit, after }: Page,
): Promise<MetricPointRow[]> {
  const toNs = after !== undefined && after.ns < q.toNs ? after.ns + 1n : q.toNs
  const found: MetricPointRow[] = []
  for (const stretch of stretches(floorSecond(q.fromNs), ceilSecond(toNs))) {
    const page = { limit: limit - found.length, after }
    const points = await readPage(page, (count) => readNewest(client, { ...q, toNs }, stretch, count))
    found.push(...points)
    if (found.length >= limit) break
  }
  return found
}

/** From `stopNs` back to `startNs`, each longer than the one before. */
function* stretches(startNs: bigint, stopNs: bigint): Generator<Stretch> {
  for (let stop = stopNs, lengthNs = FIRST_STRETCH_NS; stop > startNs; lengthNs *= GROWTH) {
    const start = stop - lengthNs > startNs ? stop - lengthNs : startNs
    yield { startNs: start, stopNs: stop }
    stop = start
  }
}

/** A point's value and uid are two fields, read one after the other: a pivot of both would not be pushed down. */
async function readNewest(
  client: InfluxClient,
  q: MetricSelection,
  stretch: Stretch,
  count: number,
): Promise<MetricPointRow[]> {
  const fields = (q.uid === undefined ? (['value', 'uid'] as const) : (['value'] as const)).map(
    (field) => flux`${newestFlux(client, q, stretch, count, field)} |> yield(name: ${field})`,
  )
  const points: MetricPointRow[] = []
  const uids = new Map<string, string>()
  const take = (get: GetColumn) => {
    const point = toMetricPoint(get, q.uid)
    if (get('result') === 'uid') uids.set(point.place.tie, get('_value'))
    else points.push(point)
    return undefined
  }
  await client.readRows(fluxExpression(fields.join('\n')), take, q.signal)
  return points.map((point) => ({ ...point, uid: uids.get(point.place.tie) ?? point.uid }))
}

/** `place` is the event's time (event/stamp.ts), −1 outside the range. InfluxDB vectorizes maps of plain arithmetic. */
const newestFlux = (
  client: InfluxClient,
  q: MetricSelection,
  stretch: Stretch,
  count: number,
  field: MetricField,
): FluxText => flux`${readMetrics(client, q, stretch, field)}
  |> map(fn: (r) => ({r with stamp: int(v: r._time)}))
  |> map(fn: (r) => ({r with at: if r.stamp % 10 == 7 then r.stamp - r.stamp % 1000000000
    else if r.stamp % 10 == 3 then r.stamp - r.stamp % 1000000
    else r.stamp - r.stamp % 1000}))
  |> map(fn: (r) => ({r with
    place: if r.at >= ${fluxNs(q.fromNs)} and r.at < ${fluxNs(q.toNs)} then r.at else -1,
  }))${highestPlaces(count)}
  |> keep(columns: ["stamp", "process", "meta", "name", "_value"])`

function toMetricPoint(get: GetColumn, uid = ''): MetricPointRow {
  const [process, meta, name, stampNs] = [get('process'), get('meta'), get('name'), BigInt(get('stamp'))]
  const atNs = timeNs(stampNs)
  const place = { ns: atNs, tie: [stampNs, name, process, meta].join('\0') }
  return { atNs, process, meta, uid, name, value: Number(get('_value')), place }
}

// A page of rows that InfluxDB orders by time alone: rows of one time come in any order, and some may be missing. So
// more rows are read and those of the last time dropped; where nothing is left, even more are read.
/** Part of the first time lies on the page before, and the last time is dropped: read so many more rows at first. */
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

/** The `limit` rows of the one table with the highest `place`, highest first; rows with the place −1 are excluded. */
export const highestPlaces = (limit: number): FluxText => flux`
  |> sort(columns: ["place"], desc: true)
  |> limit(n: ${limit})
  |> filter(fn: (r) => r.place >= 0)`
