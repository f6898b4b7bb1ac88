// Questions about metrics.
import { mapInTurns } from '../../turns.ts'
import type { MetricPointRow, MetricSelection, MetricSummaryRow, PointSource } from '../source.ts'
import { findInParts } from './newest-part.ts'
import type { Schema } from './schema.ts'
import {
  bucketOf,
  EVENT_TIE,
  limitOf,
  type Ns,
  nsText,
  orderBy,
  type Select,
  type StoredFloat,
  selectionOf,
  type TieColumns,
  tieText,
  toFloat,
  withEqual,
  withPlace,
} from './selection.ts'

type MetricQuestions = Pick<PointSource, 'findMetrics' | 'aggregateMetrics' | 'findNewestMetrics'>

interface StoredMetric extends Omit<MetricPointRow, 'atNs' | 'value' | 'place'> {
  readonly ns: Ns
  readonly tie: string
  readonly value: StoredFloat
}

interface StoredAggregate extends Readonly<Record<'mean' | 'min' | 'max' | 'sum' | 'last', StoredFloat>> {
  readonly bucket_ns: Ns
  readonly process: string
  readonly meta?: string
  readonly name: string
  readonly count: number
}

/** A metric name occurs once per event. */
const TIE: TieColumns = [...EVENT_TIE, ['name', 'String', '']]

const selectMetrics = (q: MetricSelection) => withEqual(withEqual(selectionOf(q), 'name', q.name), 'uid', q.uid)

export function createMetricQuestions(select: Select, schema: Schema): MetricQuestions {
  return {
    findMetrics: (whole, page) =>
      findInParts(whole, page, async (q) => {
        const { where, params } = withPlace(selectMetrics(q), page, TIE)
        const rows = await select<StoredMetric>(
          `SELECT ${nsText('at')} AS ns, process, meta, uid, name, value, ${tieText(TIE)} FROM ${schema.view('metrics')}
WHERE ${where.join(' AND ')}
ORDER BY ${orderBy(TIE)} LIMIT {limit:UInt32}`,
          params,
          q,
        )
        return mapInTurns(rows, fromMetricRow)
      }),

    async aggregateMetrics(q) {
      const { where, params } = selectMetrics(q)
      const bucket = bucketOf('toUnixTimestamp64Nano(at)', q)!
      const keys = `process${q.byMeta ? ', meta' : ''}, name`
      const rows = await select<StoredAggregate>(
        `SELECT toString(bucket) AS bucket_ns, ${keys}, count() AS count,
  avg(value) AS mean, min(value) AS min, max(value) AS max, sum(value) AS sum,
  argMax(value, (at, stamp_rest, content)) AS last
FROM ${schema.view('metrics')}
WHERE ${where.join(' AND ')}
GROUP BY ${bucket.sql} AS bucket, ${keys}
ORDER BY bucket, ${keys}${limitOf(q)}`,
        { ...params, ...bucket.params },
        q,
      )
      return mapInTurns(rows, fromAggregate)
    },

    /** Reads the table without FINAL: a metric that was sent twice does not change what is the newest. */
    async findNewestMetrics(q) {
      const { where, params } = selectionOf(q)
      const rows = await select<Omit<StoredMetric, 'tie' | 'uid'>>(
        `SELECT ${nsText('max(at)')} AS ns, process, meta, name, argMax(value, (at, stamp_rest, content)) AS value
FROM ${schema.raw('metrics')}
WHERE ${where.join(' AND ')}
GROUP BY process, meta, name${limitOf(q)}`,
        params,
        q,
      )
      return mapInTurns(rows, ({ ns, value, ...row }) => ({ atNs: BigInt(ns), ...row, value: toFloat(value) }))
    },
  }
}

const fromMetricRow = ({ ns, tie, value, ...row }: StoredMetric): MetricPointRow => ({
  atNs: BigInt(ns),
  ...row,
  value: toFloat(value),
  place: { ns: BigInt(ns), tie },
})

const fromAggregate = ({ bucket_ns, count, mean, min, max, sum, last, ...key }: StoredAggregate): MetricSummaryRow => ({
  atNs: BigInt(bucket_ns),
  ...key,
  count: Number(count),
  mean: toFloat(mean),
  min: toFloat(min),
  max: toFloat(max),
  sum: toFloat(sum),
  last: toFloat(last),
})
