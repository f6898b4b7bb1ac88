// Questions about exceptions.
import type { ExceptionGroup, ExceptionSource } from '../source.ts'
import type { Select } from './bounded-select.ts'
import { nsText, selectionOf, withEqual, withPlace } from './conditions.ts'
import { fromExceptionRow, type Ns, type StoredException } from './rows.ts'
import type { Schema } from './schema.ts'

export type ExceptionQuestions = Pick<ExceptionSource, 'findExceptions' | 'groupExceptions'>

interface StoredGroup extends Pick<ExceptionGroup, 'fingerprint' | 'process' | 'example'> {
  readonly occurrences: number
  readonly first_ns: Ns
  readonly last_ns: Ns
  readonly buckets_ns?: readonly Ns[]
  readonly counts?: readonly number[]
}

export function createExceptionQuestions(select: Select, schema: Schema): ExceptionQuestions {
  return {
    async findExceptions(q, page) {
      const { where, params } = withPlace(withEqual(selectionOf(q), 'fingerprint', q.fingerprint), page)
      const rows = await select<StoredException>(
        `SELECT ${nsText('at')} AS ns, process, meta, exception, fingerprint FROM ${schema.view('exceptions')}
WHERE ${where.join(' AND ')}
ORDER BY at DESC LIMIT {limit:UInt32}`,
        params,
      )
      return rows.map(fromExceptionRow)
    },

    async groupExceptions({ everyNs, ...q }, limit) {
      const { where, params } = withEqual(selectionOf(q), 'fingerprint', q.fingerprint)
      const bucket =
        everyNs === undefined ? '0' : 'toUnixTimestamp64Nano(at) - toUnixTimestamp64Nano(at) % {every:Int64}'
      const buckets = 'arraySort(groupArray((bucket, occurred)))'
      const series =
        everyNs === undefined
          ? ''
          : `,\n  arrayMap(pair -> toString(pair.1), ${buckets}) AS buckets_ns, arrayMap(pair -> pair.2, ${buckets}) AS counts`
      const rows = await select<StoredGroup>(
        `SELECT fingerprint, process, sum(occurred) AS occurrences,
  ${nsText('min(first)')} AS first_ns, ${nsText('max(last)')} AS last_ns, argMax(newest, last) AS example${series}
FROM (
  SELECT fingerprint, process, ${bucket} AS bucket,
    count() AS occurred, min(at) AS first, max(at) AS last, argMax(exception, at) AS newest
  FROM ${schema.view('exceptions')}
  WHERE ${where.join(' AND ')}
  GROUP BY fingerprint, process, bucket
)
GROUP BY fingerprint, process
ORDER BY max(last) DESC, fingerprint, process LIMIT {limit:UInt32}`,
        { ...params, limit, ...(everyNs !== undefined && { every: String(everyNs) }) },
      )
      return rows.map(fromGroup)
    },
  }
}

const fromGroup = (row: StoredGroup): ExceptionGroup => ({
  fingerprint: row.fingerprint,
  process: row.process,
  count: Number(row.occurrences),
  firstNs: BigInt(row.first_ns),
  lastNs: BigInt(row.last_ns),
  example: row.example,
  ...(row.buckets_ns !== undefined && {
    counts: row.buckets_ns.map((ns, i) => ({ atNs: BigInt(ns), count: Number(row.counts![i]) })),
  }),
})
