// Timings that began or ended in a range, for a caller that asks every few seconds. Planning the SQL of pairing.ts costs
// 30 ms of CPU before it reads a row; the marks of the few runs with one in the range are read and paired here.
import { compare, marksWindow } from '../order.ts'
import { boundsInUs, isPair, judgeMark, MARK_RANK, type PairingBounds } from '../pair-marks.ts'
import type { PlainTiming, StoredMark, TimingSelection } from '../source.ts'
import { NODE } from './pairing.ts'
import type { Schema } from './schema.ts'
import { type Ns, nsText, type Select, selectionOf, seriesOf, timeParam, toInt64 } from './selection.ts'

interface StoredRow extends Pick<StoredMark, 'process' | 'meta' | 'uid'> {
  readonly name: StoredMark['mark']
  readonly ns: Ns
}

/** A mark with its time in µs, as the rule takes it. */
type RunMark = StoredMark & { readonly at: number }

/** In any order; undefined if their runs have more than `maxMarks` marks. */
export async function findRecentTimings(
  select: Select,
  schema: Schema,
  q: TimingSelection & { readonly maxMarks: number },
): Promise<PlainTiming[] | undefined> {
  const recent = selectionOf(q)
  const window = marksWindow(q)
  // DISTINCT: a mark that is there twice is the same mark, unless several nodes stamped it
  const rows = await select<StoredRow>(
    `SELECT DISTINCT process, meta, uid, toString(mark) AS name, ${nsText('at')} AS ns, ${NODE} AS node
FROM ${schema.raw('marks')}
WHERE ${seriesOf(q).where.join(' AND ')} AND at >= ${timeParam('read_from')} AND at < ${timeParam('read_to')}
  AND (process, meta, uid) IN (SELECT process, meta, uid FROM ${schema.raw('marks')} WHERE ${recent.where.join(' AND ')})
LIMIT {max:UInt32}`,
    { ...recent.params, read_from: toInt64(window.fromNs), read_to: toInt64(window.toNs), max: q.maxMarks + 1 },
    q,
  )
  if (rows.length > q.maxMarks) return undefined
  const marks = rows.map(({ process, meta, uid, name: mark, ns }): RunMark => {
    return { process, meta, uid, mark, ns: BigInt(ns), at: Number(BigInt(ns) / 1000n) }
  })
  const bounds = boundsInUs(q)
  const runs = Map.groupBy(marks, ({ process, meta, uid }) => JSON.stringify([process, meta, uid]))
  return [...runs.values()].flatMap((run) => pairRun(run, bounds))
}

/** The marks of one process, meta and uid. */
function pairRun(marks: readonly RunMark[], bounds: PairingBounds): PlainTiming[] {
  const sorted = marks.toSorted((a, b) => compare(a.ns, b.ns) || MARK_RANK[a.mark] - MARK_RANK[b.mark])
  const isIn = ({ at }: RunMark) => at >= bounds.from && at < bounds.to
  return sorted.flatMap((mark, i) => {
    const before = sorted[i - 1]
    const state = judgeMark(before, mark, sorted[i + 1], bounds)
    const start = mark.mark === 'start' ? mark : before && isPair(before, mark, bounds.maxRun) ? before : undefined
    if (state === undefined || !(isIn(mark) || (start && isIn(start)))) return []
    const { process, meta, uid } = mark
    return {
      ...{ process, meta, uid, state },
      ...(start && { startedNs: start.ns }),
      ...(mark.mark !== 'start' && { endedNs: mark.ns }),
    }
  })
}
