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
  /** How many by bucket, with `every`. */
  readonly counts?: Readonly<Record<Ns, string | number>>
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

    async groupExceptions(q, limit) {
      const { everyNs } = q
      const { where, params } = withEqual(selectionOf(q), 'fingerprint', q.fingerprint)
      const bucket = 'toUnixTimestamp64Nano(at) - toUnixTimestamp64Nano(at) % {every:Int64}'
      const rows = await select<StoredGroup>(
        `SELECT fingerprint, process, count() AS occurrences,
  ${nsText('min(at)')} AS first_ns, ${nsText('max(at)')} AS last_ns, argMax(exception, at) AS example${everyNs === undefined ? '' : `,\n  sumMap(map(${bucket}, 1)) AS counts`}
FROM ${schema.view('exceptions')}
WHERE ${where.join(' AND ')}
GROUP BY fingerprint, process
ORDER BY max(at) DESC, fingerprint, process LIMIT {limit:UInt32}`,
        { ...params, limit, ...(everyNs !== undefined && { every: String(everyNs) }) },
      )
      return rows.map(
        ({ fingerprint, process, occurrences, first_ns, last_ns, example, counts }): ExceptionGroup => ({
          fingerprint,
          process,
          count: Number(occurrences),
          firstNs: BigInt(first_ns),
          lastNs: BigInt(last_ns),
          example,
          ...(counts !== undefined && { counts: toCounts(counts) }),
        }),
      )
    },
  }
}

const toCounts = (counts: Readonly<Record<Ns, string | number>>) =>
  Object.entries(counts)
    .map(([ns, count]) => ({ atNs: BigInt(ns), count: Number(count) }))
    .toSorted((a, b) => (a.atNs < b.atNs ? -1 : 1))
