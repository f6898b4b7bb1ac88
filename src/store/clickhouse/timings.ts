// Questions about timings: the SQL of timings-sql.ts with a caller's values bound to it, and its rows read back.
import { marksWindow } from '../marks-window.ts'
import type { PointSource, Timing, TimingSelection, TimingState, TimingSummaryRow } from '../source.ts'
import type { Select } from './bounded-select.ts'
import type { Params } from './client.ts'
import { limitOf, nsText, selectionOf, seriesOf, toInt64 } from './conditions.ts'
import { type Ns, type StoredFloat, toFloat } from './rows.ts'
import type { Schema } from './schema.ts'
import { type PairingInput, summarySql, timingsSql } from './timings-sql.ts'

export type TimingQuestions = Pick<PointSource, 'findTimings' | 'findLatest' | 'summarizeTimings' | 'countMarks'>

interface StoredTiming {
  readonly state: TimingState
  readonly first_ns: Ns
  readonly settled_ns: Ns
}

type StoredName = Pick<Timing, 'process' | 'meta' | 'uid'>

interface StoredSummary extends Pick<TimingSummaryRow, 'process' | 'meta' | 'running' | 'abandoned' | 'orphan'> {
  readonly at_ns?: Ns
  readonly completed: number
  readonly mean: StoredFloat
  readonly percentiles: readonly [StoredFloat, StoredFloat, StoredFloat]
  readonly max: StoredFloat
}

export function createTimingQuestions(select: Select, schema: Schema): TimingQuestions {
  /** What the marks with these stamps are called: pairing carries a hash instead of the strings. */
  async function findNames(q: TimingSelection, stamps: readonly Ns[]): Promise<Map<Ns, StoredName>> {
    if (stamps.length === 0) return new Map()
    const { where, params } = seriesOf(q)
    const rows = await select<StoredName & { ns: Ns }>(
      `SELECT DISTINCT ${nsText('at')} AS ns, process, meta, uid FROM ${schema.raw('marks')}
WHERE ${where.join(' AND ')} AND at IN (SELECT fromUnixTimestamp64Nano(toInt64(arrayJoin(splitByChar(',', {stamps:String}))), 'UTC'))`,
      { ...params, stamps: stamps.join(',') },
      q,
    )
    return new Map(rows.map(({ ns, ...name }) => [ns, name]))
  }

  /** `tail` filters, orders and limits the selection's timings, with `more` bound to it. */
  async function readTimings(q: TimingSelection, tail: string, more: Params): Promise<Timing[]> {
    const { input, params } = bindPairing(schema, q, false)
    const rows = await select<StoredTiming>(
      `SELECT state, toString(first) AS first_ns, toString(settled) AS settled_ns
FROM (
  ${timingsSql(input)}
)
${tail}`,
      { ...params, ...more },
      q,
    )
    const names = await findNames(
      q,
      rows.map((row) => row.settled_ns),
    )
    return rows.flatMap((row) => {
      const name = names.get(row.settled_ns)
      return name === undefined ? [] : fromTiming(row, name) // none: its account was erased in between
    })
  }

  return {
    async findTimings(q, { limit, after }) {
      const where = ['first < {before:Int64}', ...(q.state === undefined ? [] : ['state = {state:String}'])]
      return readTimings(q, `WHERE ${where.join(' AND ')}\nORDER BY first DESC LIMIT {limit:UInt32}`, {
        limit,
        before: toInt64(after?.ns ?? q.toNs),
        ...(q.state !== undefined && { state: q.state }),
      })
    },

    findLatest: ({ each, maxRows, ...q }) =>
      readTimings(q, 'ORDER BY first DESC LIMIT {each:UInt32} BY process LIMIT {max_rows:UInt32}', {
        each,
        max_rows: maxRows,
      }),

    async summarizeTimings({ everyNs, ...q }) {
      const { input, params } = bindPairing(schema, q, q.byMeta)
      const sql =
        everyNs === undefined
          ? summarySql(input)
          : `SELECT * EXCEPT at, toString(at) AS at_ns FROM (${summarySql({ ...input, every: '{every:Int64}' })})`
      const rows = await select<StoredSummary>(
        sql + limitOf(q),
        { ...params, ...(everyNs !== undefined && { every: String(everyNs) }) },
        q,
      )
      return rows.map(fromSummary)
    },

    /** Of the table, without FINAL: what a question would read. A mark that was sent twice may count twice until it is merged. */
    async countMarks(q) {
      const { where, params } = selectionOf(q)
      const sql = `SELECT count() AS marks FROM ${schema.raw('marks')} WHERE ${where.join(' AND ')}`
      const [row] = await select<{ marks: number }>(sql, params, q)
      return Number(row!.marks)
    },
  }
}

function bindPairing(schema: Schema, q: TimingSelection, byMeta: boolean): { input: PairingInput; params: Params } {
  const { where, params } = seriesOf(q)
  const read = marksWindow(q)
  return {
    input: {
      marks: schema.raw('marks'),
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

const fromTiming = ({ state, first_ns, settled_ns }: StoredTiming, name: StoredName): Timing => ({
  ...name,
  state,
  ...(state !== 'orphan' && { startedNs: BigInt(first_ns) }),
  ...((state === 'completed' || state === 'orphan') && { endedNs: BigInt(settled_ns) }),
})

/** Counts are UInt64, which a server may be set up to write as text. */
function fromSummary({ process, meta, at_ns, percentiles, ...row }: StoredSummary): TimingSummaryRow {
  const count = Number(row.completed)
  const figure = (value: StoredFloat) => (count === 0 ? null : toFloat(value))
  return {
    process,
    ...(meta !== undefined && { meta }),
    ...(at_ns !== undefined && { atNs: BigInt(at_ns) }),
    count,
    meanMs: figure(row.mean),
    p50Ms: figure(percentiles[0]),
    p95Ms: figure(percentiles[1]),
    p99Ms: figure(percentiles[2]),
    maxMs: figure(row.max),
    running: Number(row.running),
    abandoned: Number(row.abandoned),
    orphan: Number(row.orphan),
  }
}
