// One page of metrics. InfluxDB cannot push "the newest n of several series" down, it would read the whole range; so the page is looked for in
// stretches that reach further and further back, and mostly the first one has it.
import type { MetricPoint, Page, Selection } from '../source.ts'
import { collectRows, type FluxText, flux, type GetColumn, type InfluxClient } from './client.ts'
import { fluxTime, parseFluxTime, whereMetrics } from './selection-flux.ts'

const FIRST_STRETCH_NS = 60_000_000_000n
const GROWTH = 8n

/** Names that one stamp can have: what a request may hold (SPEC.md). */
const NAMES_A_STAMP = 50

export type MetricsQuestion = Selection & { readonly name?: string }

export async function findMetrics(
  client: InfluxClient,
  bucket: string,
  q: MetricsQuestion,
  page: Page,
): Promise<MetricPoint[]> {
  const { limit, after } = page
  const stopNs = after !== undefined && after.ns < q.toNs ? after.ns + 1n : q.toNs
  const found: MetricPoint[] = []
  for (const stretch of stretches(q.fromNs, stopNs)) {
    // InfluxDB sorts by time alone. The oldest stamp may be cut and part of the newest lies on the page before: so that many more are read.
    const query = newestMetricsFlux(bucket, { ...q, ...stretch }, limit + 2 * NAMES_A_STAMP)
    const points = await collectRows(client, query, toMetricPoint, q.signal)
    found.push(...points.filter((point) => isAfter(point, after)).sort(newestFirst))
    if (found.length >= limit) break
  }
  return found.slice(0, limit)
}

/** From `toNs` back to `fromNs`, each longer than the one before. */
function* stretches(fromNs: bigint, toNs: bigint): Generator<{ fromNs: bigint; toNs: bigint }> {
  for (let stopNs = toNs, lengthNs = FIRST_STRETCH_NS; stopNs > fromNs; lengthNs *= GROWTH) {
    const startNs = stopNs - lengthNs > fromNs ? stopNs - lengthNs : fromNs
    yield { fromNs: startNs, toNs: stopNs }
    stopNs = startNs
  }
}

/**
 * Sorted and limited within each series first. Grouped at once, InfluxDB gives a series without meta an empty one, and its `sort |> limit`
 * then moves the metas to other rows (v); grouped afterwards it gives none, which is right, and faster.
 */
const newestMetricsFlux = (bucket: string, q: MetricsQuestion, limit: number): FluxText => flux`from(bucket: ${bucket})
  |> range(start: ${fluxTime(q.fromNs)}, stop: ${fluxTime(q.toNs)})
  |> filter(fn: (r) => ${whereMetrics(q)})
  |> sort(columns: ["_time"], desc: true)
  |> limit(n: ${limit})
  |> group()
  |> sort(columns: ["_time"], desc: true)
  |> limit(n: ${limit})
  |> keep(columns: ["_time", "process", "meta", "name", "_value"])`

const toMetricPoint = (get: GetColumn): MetricPoint => ({
  atNs: parseFluxTime(get('_time')),
  process: get('process'),
  meta: get('meta'),
  name: get('name'),
  value: Number(get('_value')),
})

function isAfter({ atNs, name }: MetricPoint, after: Page['after']): boolean {
  if (after === undefined || atNs < after.ns) return true
  return atNs === after.ns && after.name !== undefined && compareText(name, after.name) > 0
}

const newestFirst = (a: MetricPoint, b: MetricPoint): number =>
  a.atNs === b.atNs ? compareText(a.name, b.name) : a.atNs < b.atNs ? 1 : -1

/** By code points, as ClickHouse does. */
const compareText = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))
