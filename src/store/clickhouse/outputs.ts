// Questions about outputs.
import type { ExceptionSource, OutputRow } from '../source.ts'
import type { Schema } from './schema.ts'
import {
  EVENT_TIE,
  type Ns,
  nsText,
  orderBy,
  type Select,
  selectionOf,
  tieText,
  withEqual,
  withPlace,
} from './selection.ts'

type StoredOutput = Omit<OutputRow, 'atNs' | 'place'> & { readonly ns: Ns; readonly tie: string }

export function createOutputQuestions(select: Select, schema: Schema): Pick<ExceptionSource, 'findOutputs'> {
  return {
    async findOutputs(q, page) {
      const { where, params } = withPlace(withEqual(selectionOf(q), 'uid', q.uid), page, EVENT_TIE)
      const rows = await select<StoredOutput>(
        `SELECT ${nsText('at')} AS ns, process, meta, uid, output, ${tieText(EVENT_TIE)} FROM ${schema.view('outputs')}
WHERE ${where.join(' AND ')}
ORDER BY ${orderBy(EVENT_TIE)} LIMIT {limit:UInt32}`,
        params,
        q,
      )
      return rows.map(({ ns, tie, ...row }) => ({ atNs: BigInt(ns), ...row, place: { ns: BigInt(ns), tie } }))
    },
  }
}
