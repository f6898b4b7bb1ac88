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

/** The newest exceptions that meet the conditions (joined by AND); `limit` is an expression. */
export const newestExceptionsSql = (exceptions: string, where: readonly string[], limit: string): string =>
  `SELECT ${nsText('at')} AS ns, process, meta, exception, fingerprint FROM ${exceptions}
WHERE ${where.join(' AND ')}
ORDER BY at DESC LIMIT ${limit}`

/** A row a fingerprint and process, the most recent first; with `every` (ns) also how many by bucket. All are expressions. */
export function exceptionGroupsSql(
  exceptions: string,
  where: readonly string[],
  limit: string,
  every?: string,
): string {
  const bucket = every === undefined ? '0' : `toUnixTimestamp64Nano(at) - toUnixTimestamp64Nano(at) % ${every}`
  const buckets = 'arraySort(groupArray((bucket, occurred)))'
  const series =
    every === undefined
      ? ''
      : `,\n  arrayMap(pair -> toString(pair.1), ${buckets}) AS buckets_ns, arrayMap(pair -> pair.2, ${buckets}) AS counts`
  return `SELECT fingerprint, process, sum(occurred) AS occurrences,
  ${nsText('min(first)')} AS first_ns, ${nsText('max(last)')} AS last_ns, argMax(newest, last) AS example${series}
FROM (
  SELECT fingerprint, process, ${bucket} AS bucket,
    count() AS occurred, min(at) AS first, max(at) AS last, argMax(exception, at) AS newest
  FROM ${exceptions}
  WHERE ${where.join(' AND ')}
  GROUP BY fingerprint, process, bucket
)
GROUP BY fingerprint, process
ORDER BY max(last) DESC, fingerprint, process LIMIT ${limit}`
}

export function createExceptionQuestions(select: Select, schema: Schema): ExceptionQuestions {
  const exceptions = schema.view('exceptions')
  return {
    async findExceptions(q, page) {
      const { where, params } = withPlace(withEqual(selectionOf(q), 'fingerprint', q.fingerprint), page)
      const sql = newestExceptionsSql(exceptions, where, '{limit:UInt32}')
      return (await select<StoredException>(sql, params, q)).map(fromExceptionRow)
    },

    async groupExceptions({ everyNs, ...q }, limit) {
      const { where, params } = withEqual(selectionOf(q), 'fingerprint', q.fingerprint)
      const limits = { ...params, limit }
      const rows =
        everyNs === undefined
          ? await select<StoredGroup>(exceptionGroupsSql(exceptions, where, '{limit:UInt32}'), limits, q)
          : await select<StoredGroup>(
              exceptionGroupsSql(exceptions, where, '{limit:UInt32}', '{every:Int64}'),
              { ...limits, every: String(everyNs) },
              q,
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
