// Metrics in buckets. Each figure is pushed down to InfluxDB a series (process, name and meta) and window; the metas of a name become one row here,
// while the answer is read: its lines are many more than its rows.
import { compare } from '../compare.ts'
import type { MetricRow } from '../source.ts'
import { type FluxText, flux, fluxDuration, fluxExpression, type GetColumn, type InfluxClient } from './client.ts'
import type { MetricsQuestion } from './find-metrics.ts'
import { fluxTime, parseFluxTime, whereMetrics } from './selection-flux.ts'

export type AggregateQuestion = MetricsQuestion & { readonly everyNs: bigint }

const FIGURES = ['count', 'sum', 'min', 'max', 'last'] as const
type Figure = (typeof FIGURES)[number]

/** Oldest first, then by process and name. */
export async function aggregateMetrics(
  client: InfluxClient,
  bucket: string,
  q: AggregateQuestion,
): Promise<MetricRow[]> {
  const rows = new Map<string, Draft>()
  await client.readRows(
    aggregateMetricsFlux(bucket, q),
    (get) => {
      const [process, name, startNs] = [get('process'), get('name'), parseFluxTime(get('_start'))]
      const atNs = startNs - (startNs % q.everyNs) // a bucket that the range cuts starts in the middle
      const key = JSON.stringify([process, name, String(atNs)])
      const row = rows.get(key) ?? newDraft(atNs, process, name)
      rows.set(key, row)
      addFigure(row, get)
      return rows.size === q.maxRows ? 'enough' : undefined
    },
    q.signal,
  )
  return [...rows.values()]
    .map(({ lastNs, ...row }) => ({ ...row, mean: row.sum / row.count }))
    .sort((a, b) => compare(a.atNs, b.atNs) || compare(a.process, b.process) || compare(a.name, b.name))
}

/** The source is spelt out for each figure: a shared variable would be read once, but nothing could be pushed down. */
const aggregateMetricsFlux = (bucket: string, q: AggregateQuestion): FluxText =>
  fluxExpression(FIGURES.map((figure) => figureFlux(bucket, q, figure)).join('\n'))

const figureFlux = (bucket: string, q: AggregateQuestion, figure: Figure): FluxText => flux`from(bucket: ${bucket})
  |> range(start: ${fluxTime(q.fromNs)}, stop: ${fluxTime(q.toNs)})
  |> filter(fn: (r) => ${whereMetrics(q)})
  |> window(every: ${fluxDuration(`${q.everyNs}ns`)})
  |> ${fluxExpression(figure)}()
  |> yield(name: ${figure})`

/** A row whose figures are still coming in, and the stamp of its `last`. */
type Draft = { -readonly [Key in keyof MetricRow]: MetricRow[Key] } & { lastNs: bigint }

const newDraft = (atNs: bigint, process: string, name: string): Draft => ({
  ...{ atNs, process, name },
  ...{ count: 0, mean: 0, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY, sum: 0, last: 0, lastNs: -1n },
})

function addFigure(row: Draft, get: GetColumn): void {
  const value = toFloat(get('_value'))
  switch (get('result') as Figure) {
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
    case 'last': {
      const ns = parseFluxTime(get('_time'))
      if (ns <= row.lastNs) return
      row.last = value
      row.lastNs = ns
    }
  }
}

/** A sum may leave the range of doubles. */
function toFloat(text: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY
  return text === '-Inf' ? Number.NEGATIVE_INFINITY : Number(text)
}
