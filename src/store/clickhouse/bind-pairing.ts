// Decides which marks a question about timings reads, and binds it to the SQL of pairing.ts.
import type { MarkName } from '../../event/event.ts'
import { marksWindow } from '../order.ts'
import type { TimingQuestion, TimingState } from '../source.ts'
import type { Params } from './client.ts'
import { newestPart, PARTS } from './newest-part.ts'
import { type PairingInput, runHash } from './pairing.ts'
import type { Schema } from './schema.ts'
import {
  type Conditions,
  isIn,
  type Ns,
  nsText,
  type Select,
  selectionOf,
  seriesOf,
  timeParam,
  toInt64,
} from './selection.ts'

/** Pairing reads MAX_RUN before a range: where that is so many times as long, less of the range saves nothing. */
const SHORT = 8n
/** All of one process's marks around a range up to MAX_RUN cost less than a look for those that are needed. */
const isCheap = (q: TimingQuestion): boolean =>
  (typeof q.process === 'string' ? 1n : SHORT) * (q.toNs - q.fromNs) <= q.maxRunNs

const isLong = (q: TimingQuestion): boolean => q.toNs - q.fromNs >= SHORT * q.maxRunNs

/**
 * Where a page is looked for, the shortest part of the range first: from where there are twice as many marks as
 * the page has rows it most likely holds nothing older. Where no mark tells, each part is tried.
 */
export async function* findRecentNs(
  select: Select,
  marks: string,
  q: TimingQuestion,
  limit: number,
): AsyncGenerator<bigint, void> {
  if (q.slowest || q.uid !== undefined || isCheap(q) || isOnly(q, 'running')) return
  const mark = markOf(q.states)
  if (mark === undefined) {
    if (isLong(q)) yield* PARTS.map((part) => newestPart(q, part))
    return
  }
  for (const part of PARTS) {
    const { where, params } = selectionOf({ ...q, fromNs: newestPart(q, part) })
    const sql = `SELECT ${nsText('at')} AS ns FROM ${marks}
WHERE ${where.join(' AND ')} AND mark = '${mark}' ORDER BY at DESC LIMIT 1 OFFSET {count:UInt32}`
    const [row] = await select<{ ns: Ns }>(sql, { ...params, count: 2 * limit }, q)
    if (row !== undefined) return yield BigInt(row.ns)
  }
}

/** Where the latest are looked for first; undefined where the whole range costs about as little. */
export const latestFromNs = (q: TimingQuestion): bigint | undefined => (isLong(q) ? newestPart(q, PARTS[0]) : undefined)

/** The mark of which many make a page of these states; undefined where none does. */
function markOf(states: TimingQuestion['states']): MarkName | undefined {
  if (states === undefined || states.includes('completed')) return 'start'
  return states.includes('failed') ? 'failed' : undefined
}

const isOnly = ({ states }: TimingQuestion, state: TimingState): boolean => states?.length === 1 && states[0] === state

/** A run without a failed mark has no failed timing, a running one began at most MAX_RUN ago: others are not read. */
function narrow(q: TimingQuestion, where: readonly string[], { cluster, stored }: Schema) {
  const { fromNs } = marksWindow(q)
  const begunNs = q.nowNs - q.maxRunNs
  const failed = `${runHash(false)} IN (SELECT ${runHash(false)} FROM ${stored('marks')}
    WHERE ${where.join(' AND ')} AND mark = 'failed'
  AND at >= ${timeParam('read_from')} AND at < ${timeParam('read_to')})`
  return {
    // in a cluster it is not proved
    where: [...where, ...(isOnly(q, 'failed') && cluster === undefined && !isCheap(q) ? [failed] : [])],
    fromNs: isOnly(q, 'running') && begunNs > fromNs ? begunNs : fromNs,
  }
}

/** All processes but these. */
export interface Excluding {
  readonly except?: readonly string[]
}

/** Which series. */
function otherSeriesOf(q: TimingQuestion & Excluding): Conditions {
  const { where, params } = seriesOf(q)
  if (q.except === undefined || q.except.length === 0) return { where, params }
  const { sql, params: more } = isIn('process', 'except', q.except)
  return { where: [...where, `NOT (${sql})`], params: { ...params, ...more } }
}

export function bindPairing(
  schema: Schema,
  q: TimingQuestion & Excluding,
  byMeta: boolean,
): { input: PairingInput; params: Params } {
  const { where: series, params } = otherSeriesOf(q)
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
