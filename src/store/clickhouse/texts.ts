// Questions about what runs have said.
import { familyOf } from '../../event/event.ts'
import type { ExceptionSource, TextRow } from '../source.ts'
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

type StoredText = Omit<TextRow, 'atNs' | 'place'> & { readonly ns: Ns; readonly tie: string }

export function createTextQuestions(select: Select, schema: Schema): Pick<ExceptionSource, 'findTexts'> {
  return {
    async findTexts(kind, q, page) {
      const { where, params } = withPlace(withEqual(selectionOf(q), 'uid', q.uid), page, EVENT_TIE)
      const rows = await select<StoredText>(
        `SELECT ${nsText('at')} AS ns, process, meta, uid, ${kind} AS text, ${tieText(EVENT_TIE)}
FROM ${schema.view(familyOf(kind))}
WHERE ${where.join(' AND ')}
ORDER BY ${orderBy(EVENT_TIE)} LIMIT {limit:UInt32}`,
        params,
        q,
      )
      return rows.map(({ ns, tie, ...row }) => ({ atNs: BigInt(ns), ...row, place: { ns: BigInt(ns), tie } }))
    },
  }
}
