// Decides which marks a question about timings reads, and binds it to the SQL of pairing.ts.
import type { MarkName } from '../../event/event.ts'
import { marksWindow } from '../order.ts'
import type { TimingQuestion, TimingState } from '../source.ts'
import type { Params } from './client.ts'
import { type PairingInput, runHash } from './pairing.ts'
import type { Schema } from './schema.ts'
import { type Ns, nsText, type Select, selectionOf, seriesOf, timeParam, toInt64 } from './selection.ts'

/** Of a range: the newest part of it is looked at first. */
const PARTS = [64n, 8n, 1n]
/** Pairing reads MAX_RUN before a range: where that is so many times as long, less of the range saves nothing. */
const SHORT = 8n
/** All of one process's marks around a range up to MAX_RUN cost less than a look for those that are needed. */
const isCheap = (q: TimingQuestion): boolean =>
  (typeof q.process === 'string' ? 1n : SHORT) * (q.toNs - q.fromNs) <= q.maxRunNs

/**
 * From when on there are twice as many marks as the page has rows: most likely the page holds nothing older. Undefined
 * where there are fewer, or where no mark tells.
 */
export async function findRecentNs(
  select: Select,
  marks: string,
  q: TimingQuestion,
  limit: number,
): Promise<bigint | undefined> {
  const mark = q.slowest || q.uid !== undefined ? undefined : markOf(q.states)
  if (mark === undefined || isCheap(q)) return undefined
  for (const part of PARTS) {
    const { where, params } = selectionOf({ ...q, fromNs: q.toNs - (q.toNs - q.fromNs) / part })
    const sql = `SELECT ${nsText('at')} AS ns FROM ${marks}
WHERE ${where.join(' AND ')} AND mark = '${mark}' ORDER BY at DESC LIMIT 1 OFFSET {count:UInt32}`
    const [row] = await select<{ ns: Ns }>(sql, { ...params, count: 2 * limit }, q)
    if (row !== undefined) return BigInt(row.ns)
  }
  return undefined
}

/** The mark of which many make a page of these states; undefined where none does. */
function markOf(states: TimingQuestion['states']): MarkName | undefined {
  if (states === undefined || states.includes('completed')) return 'start'
  return states.includes('failed') ? 'failed' : undefined
}

/** A run without a failed mark has no failed timing, and a running one began at most MAX_RUN ago: others are not read. */
function narrow(q: TimingQuestion, where: readonly string[], { cluster, stored }: Schema) {
  const isOnly = (state: TimingState) => q.states?.length === 1 && q.states[0] === state
  const { fromNs } = marksWindow(q)
  const begunNs = q.nowNs - q.maxRunNs
  const failed = `${runHash(false)} IN (SELECT ${runHash(false)} FROM ${stored('marks')} WHERE ${where.join(' AND ')} AND mark = 'failed'
  AND at >= ${timeParam('read_from')} AND at < ${timeParam('read_to')})`
  return {
    // in a cluster it is not proved
    where: [...where, ...(isOnly('failed') && cluster === undefined && !isCheap(q) ? [failed] : [])],
    fromNs: isOnly('running') && begunNs > fromNs ? begunNs : fromNs,
  }
}

export function bindPairing(
  schema: Schema,
  q: TimingQuestion,
  byMeta: boolean,
): { input: PairingInput; params: Params } {
  const { where: series, params } = seriesOf(q)
  const { where, fromNs } = narrow(q, series, schema)
  const read = { fromNs, toNs: marksWindow(q).toNs }
  return {
    input: {
      marks: schema.stored('marks'),
      where,
      from: '{from:Int64}',
      to: '{to:Int64}',
      readFrom: '{read_from:Int64}',
      readTo: '{read_to:Int64}',
      maxRun: '{max_run:Int64}',
      now: '{now:Int64}',
      ...(q.asOfNs !== undefined && { asOf: '{as_of:Int64}' }),
      byMeta,
    },
    params: {
      ...params,
      from: toInt64(q.fromNs),
      to: toInt64(q.toNs),
      read_from: toInt64(read.fromNs),
      read_to: toInt64(read.toNs),
      max_run: toInt64(q.maxRunNs),
      now: toInt64(q.nowNs),
      ...(q.asOfNs !== undefined && { as_of: toInt64(q.asOfNs) }),
    },
  }
}
