// Questions about metrics.
import type { MetricRow, PointSource } from '../source.ts'
import type { Select } from './bounded-select.ts'
import { limitOf, nsText, selectionOf, withEqual, withPlace } from './conditions.ts'
import { fromMetricRow, type Ns, type StoredFloat, type StoredMetric, toFloat } from './rows.ts'
import type { Schema } from './schema.ts'

export type MetricQuestions = Pick<PointSource, 'findMetrics' | 'aggregateMetrics'>

interface StoredAggregate extends Readonly<Record<'mean' | 'min' | 'max' | 'sum' | 'last', StoredFloat>> {
  readonly bucket_ns: Ns
  readonly process: string
  readonly name: string
  readonly count: number
}

export function createMetricQuestions(select: Select, schema: Schema): MetricQuestions {
  return {
    async findMetrics(q, page) {
      const { where, params } = withPlace(withEqual(selectionOf(q), 'name', q.name), page, 'name')
      const rows = await select<StoredMetric>(
        `SELECT ${nsText('at')} AS ns, process, meta, name, value FROM ${schema.view('metrics')}
WHERE ${where.join(' AND ')}
ORDER BY at DESC, name LIMIT {limit:UInt32}`,
        params,
        q,
      )
      return rows.map(fromMetricRow)
    },

    async aggregateMetrics(q) {
      const { where, params } = withEqual(selectionOf(q), 'name', q.name)
      const rows = await select<StoredAggregate>(
        `SELECT toString(bucket) AS bucket_ns, process, name, count() AS count,
  avg(value) AS mean, min(value) AS min, max(value) AS max, sum(value) AS sum, argMax(value, at) AS last
FROM ${schema.view('metrics')}
WHERE ${where.join(' AND ')}
GROUP BY toUnixTimestamp64Nano(at) - toUnixTimestamp64Nano(at) % {every:Int64} AS bucket, process, name
ORDER BY bucket, process, name${limitOf(q)}`,
        { ...params, every: String(q.everyNs) },
        q,
      )
      return rows.map(fromAggregate)
    },
  }
}

const fromAggregate = ({ bucket_ns, process, name, count, mean, min, max, sum, last }: StoredAggregate): MetricRow => ({
  atNs: BigInt(bucket_ns),
  process,
  name,
  count: Number(count),
  mean: toFloat(mean),
  min: toFloat(min),
  max: toFloat(max),
  sum: toFloat(sum),
  last: toFloat(last),
})
