// Lists the processes of an account. Duplicate events do not affect the answer, so the tables are read without FINAL.

import { type Family, ONE_OF } from '../../event/event.ts'
import { mapInTurns } from '../../turns.ts'
import { PROCESS_METAS, type ProcessRow } from '../process-row.ts'
import type { ProcessSelection } from '../source.ts'
import type { Schema } from './schema.ts'
import { limitOf, type Ns, nsText, type Select, selectionOf } from './selection.ts'

interface StoredProcess extends Omit<ProcessRow, 'lastNs'> {
  readonly last_ns: Ns
}

/** The processes with events in these tables, or their processes and metas; the most recent first. */
export async function findProcesses(
  select: Select,
  schema: Schema,
  tables: readonly Family[],
  q: ProcessSelection,
): Promise<ProcessRow[]> {
  const { where, params } = selectionOf(q)
  const selects = tables.map(
    (table) =>
      `SELECT process, meta, max(at) AS last, '${ONE_OF[table]}' AS kind FROM ${schema.raw(table)} WHERE ` +
      `${where.join(' AND ')} GROUP BY process, meta`,
  )
  const rows = await select<StoredProcess>(
    `SELECT process, arraySlice(arraySort(groupUniqArray(meta)), 1, ${PROCESS_METAS}) AS metas,
  ${nsText('max(last)')} AS last_ns, arraySort(groupUniqArray(kind)) AS kinds
FROM (${selects.join(' UNION ALL ')})
GROUP BY process${q.byMeta ? ', meta' : ''}
ORDER BY max(last) DESC, process${limitOf(q)}`,
    params,
    q,
  )
  return mapInTurns(rows, ({ last_ns, ...row }) => ({ ...row, lastNs: BigInt(last_ns) }))
}
