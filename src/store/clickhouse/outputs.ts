// Questions about outputs.
import type { ExceptionSource, OutputRow } from '../source.ts'
import type { Schema } from './schema.ts'
import {
  type Ns,
  nsText,
  orderBy,
  type Select,
  selectionOf,
  type TieColumns,
  tieText,
  withEqual,
  withPlace,
} from './selection.ts'

type StoredOutput = Omit<OutputRow, 'atNs' | 'place'> & { readonly ns: Ns; readonly tie: string }

/** An event is identified by its stamp and content. */
const TIE: TieColumns = [
  ['stamp_rest', 'UInt32', ' DESC'],
  ['content', 'UInt64', ' DESC'],
]

export function createOutputQuestions(select: Select, schema: Schema): Pick<ExceptionSource, 'findOutputs'> {
  return {
    async findOutputs(q, page) {
      const { where, params } = withPlace(withEqual(selectionOf(q), 'uid', q.uid), page, TIE)
      const rows = await select<StoredOutput>(
        `SELECT ${nsText('at')} AS ns, process, meta, uid, output, ${tieText(TIE)} FROM ${schema.view('outputs')}
WHERE ${where.join(' AND ')}
ORDER BY ${orderBy(TIE)} LIMIT {limit:UInt32}`,
        params,
        q,
      )
      return rows.map(({ ns, tie, ...row }) => ({ atNs: BigInt(ns), ...row, place: { ns: BigInt(ns), tie } }))
    },
  }
}
