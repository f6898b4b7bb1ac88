// Answers questions from ClickHouse.
import { type Family, familiesIn, familyOf, ONE_OF } from '../../event/event.ts'
import { mapInTurns } from '../../turns.ts'
import { PROCESS_METAS, type ProcessRow } from '../process-row.ts'
import type { ExceptionSource, PointSource, ProcessSelection, TextRow } from '../source.ts'
import type { ClickHouseClient } from './client.ts'
import { CLUSTER_SELECT_SETTINGS } from './cluster.ts'
import { createExceptionQuestions } from './exceptions.ts'
import { createMarkQuestions } from './marks.ts'
import { createMetricQuestions } from './metrics.ts'
import type { Schema } from './schema.ts'
import {
  type Bounds,
  createBoundedSelect,
  EVENT_TIE,
  limitOf,
  type Ns,
  nsText,
  orderBy,
  type Select,
  selectionOf,
  tieText,
  withEqual,
  withPlace,
} from './selection.ts'
import { createTimingQuestions } from './timings.ts'

/** `client` belongs to the store, which closes it. */
export function createClickHouseSource(
  client: ClickHouseClient,
  schema: Schema,
  bounds: Omit<Bounds, 'settings'> = {},
): PointSource & ExceptionSource {
  const select = createBoundedSelect(client, { ...bounds, settings: schema.cluster && CLUSTER_SELECT_SETTINGS })
  return {
    ...createTimingQuestions(select, schema),
    ...createMarkQuestions(select, schema),
    ...createMetricQuestions(select, schema),
    ...createExceptionQuestions(select, schema),
    ...createTextQuestions(select, schema),
    findPointProcesses: (q) => findProcesses(select, schema, familiesIn('points'), q),
    findExceptionProcesses: (q) => findProcesses(select, schema, familiesIn('exceptions'), q),
    async close() {},
  }
}

interface StoredProcess extends Omit<ProcessRow, 'lastNs'> {
  readonly last_ns: Ns
}

/**
 * The processes, or processes and metas, with events in these tables, the most recent first. Duplicate events do not
 * affect the answer, so the tables are read without FINAL.
 */
async function findProcesses(
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

type StoredText = Omit<TextRow, 'atNs' | 'place'> & { readonly ns: Ns; readonly tie: string }

/** About what runs have said. */
function createTextQuestions(select: Select, schema: Schema): Pick<ExceptionSource, 'findTexts'> {
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
