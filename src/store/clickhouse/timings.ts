// Questions about timings: binds a caller's values to the SQL of pairing.ts and reads its rows.

import { indexInTurns, mapInTurns } from '../../turns.ts'
import { addAtOnce, type Level } from '../at-once.ts'
import { chooseLatest, LAST_OVER_RANK, OVER } from '../latest.ts'
import { LAST_NS } from '../order.ts'
import { ceilUs } from '../pair-marks.ts'
import type {
  LatestSelection,
  NewestRuns,
  Page,
  PointSource,
  RunName,
  TimingQuestion,
  TimingRow,
  TimingSelection,
  TimingState,
  TimingSummaryRow,
} from '../source.ts'
import { bindPairing, type Excluding, findRecentNs, latestFromNs } from './bind-pairing.ts'
import type { Params } from './client.ts'
import { onShards } from './cluster.ts'
import { upToPlace } from './newest-part.ts'
import { HAS_START, levelsSql, runHash, summarySql, timingsSql } from './pairing.ts'
import type { Schema } from './schema.ts'
import {
  bucketOf,
  limitOf,
  listOf,
  type Ns,
  readTie,
  type Select,
  type StoredFloat,
  selectionOf,
  seriesOf,
  type TieColumns,
  tieText,
  toFloat,
  toInt64,
} from './selection.ts'

type TimingQuestions = Pick<PointSource, 'findTimings' | 'findLatest' | 'summarizeTimings' | 'countMarks'>

/** A row of pairing.ts; the names of its runs are read separately. */
interface StoredTiming {
  readonly state: TimingState
  readonly first_ns: Ns
  readonly settled_ns: Ns
  readonly has_start: number | boolean
  readonly run_text: string
  readonly tie: string
}

interface StoredLevel extends Pick<TimingSummaryRow, 'process' | 'meta'> {
  readonly at_ns: Ns
  readonly peak: number
  readonly gained: number
}

interface StoredSummary
  extends Pick<TimingSummaryRow, 'process' | 'meta' | 'failed' | 'running' | 'abandoned' | 'orphan'> {
  readonly at_ns?: Ns
  readonly completed: number
  readonly mean: StoredFloat
  readonly percentiles: readonly StoredFloat[]
  readonly max: StoredFloat
  readonly last_start?: Ns
  readonly last_completed?: Ns
  readonly last_failed?: Ns
  readonly last_length?: Ns
}

/** `place` begins with the time. */
const TIE: TieColumns = [
  ['place', 'UInt64', ' DESC'],
  ['run', 'UInt64', ' DESC'],
]

const NEWEST_FIRST = 'place DESC, run DESC'
const LENGTH = 'settled - first'
const HAS_LENGTH = `state IN ('completed', 'failed') AND ${HAS_START}`
const IS_OVER = `state IN (${OVER.map((state) => `'${state}'`).join(', ')})`

export function createTimingQuestions(select: Select, schema: Schema): TimingQuestions {
  /** The names of the runs with these hashes, which pairing carries instead. Each run has a mark at its `settled`. */
  async function findNames(q: TimingSelection, timings: readonly StoredTiming[]): Promise<Map<string, RunName>> {
    if (timings.length === 0) return new Map()
    const { where, params } = seriesOf(q)
    const times = listOf('times', [...new Set(timings.map((timing) => timing.settled_ns))])
    const runs = listOf('runs', [...new Set(timings.map((timing) => timing.run_text))])
    const rows = await select<RunName & { run_text: string }>(
      `SELECT DISTINCT toString(${runHash(false)}) AS run_text, process, meta, uid FROM ${schema.raw('marks')}
WHERE ${where.join(' AND ')} AND at IN (SELECT fromUnixTimestamp64Nano(toInt64(arrayJoin(${times.list})), 'UTC'))
  AND has(${runs.list}, run_text)`,
      { ...params, ...times.params, ...runs.params },
      q,
    )
    return indexInTurns(rows, ({ run_text, ...name }) => [run_text, name])
  }

  /** `tail` filters, orders and limits the selection's timings, with `more` bound to it. */
  async function readTimings(
    q: TimingQuestion & Excluding & Partial<Omit<LatestSelection, 'maxRows'>>,
    tail: string,
    more: Params,
  ): Promise<TimingRow[]> {
    const { input, params } = bindPairing(schema, q, q.byMeta === true)
    const found = `(
  ${pairOnShards(schema, q, timingsSql(input), tail)}
)
${tail}`
    const rows = await select<StoredTiming>(
      `SELECT state, toString(first) AS first_ns, toString(settled) AS settled_ns, ${HAS_START} AS has_start,
  toString(run) AS run_text, ${tieText(TIE)}
FROM ${q.each === undefined ? found : latestSql(found, q.byMeta === true)}`,
      { ...params, ...more },
      q,
    )
    const names = await findNames(q, rows)
    const timings = await mapInTurns(rows, (row) => {
      const name = names.get(row.run_text)
      return name && fromTiming(row, name, q.slowest) // none: its account was erased in between
    })
    return timings.filter((timing) => timing !== undefined)
  }

  async function findPage(q: TimingQuestion, { limit, after }: Page): Promise<TimingRow[]> {
    const [place, run] = after === undefined ? [] : readTie(after.tie, TIE)
    const by = q.slowest ? LENGTH : 'first'
    const behind = '(place < {place:UInt64} OR (place = {place:UInt64} AND run < {run:UInt64}))'
    const where = [
      `${by} <= {after:Int64}`,
      ...(q.slowest ? [HAS_LENGTH] : []),
      ...(after === undefined ? [] : [q.slowest ? `(${LENGTH} < {after:Int64} OR ${behind})` : behind]),
      ...(q.states === undefined ? [] : ["has(splitByChar(',', {states:String}), toString(state))"]),
    ]
    const order = q.slowest ? `${LENGTH} DESC, ${NEWEST_FIRST}` : NEWEST_FIRST
    return readTimings(q, `WHERE ${where.join(' AND ')}\nORDER BY ${order} LIMIT {limit:UInt32}`, {
      limit,
      after: toInt64(after?.ns ?? (q.slowest ? LAST_NS : q.toNs)),
      ...(after !== undefined && { place: place!, run: run! }),
      ...(q.states !== undefined && { states: q.states.join(',') }),
    })
  }

  function findLatestIn({ maxRows, ...q }: LatestSelection & Excluding): Promise<TimingRow[]> {
    const tail = `ORDER BY ${NEWEST_FIRST} LIMIT {each:UInt32} BY process${q.byMeta ? `, meta, ${IS_OVER}` : ''}`
    return readTimings(q, tail, { each: q.each, max_rows: maxRows })
  }

  return {
    /** First of what began recently: where that holds the page, the rest of the range need not be paired. */
    async findTimings(all, page) {
      const q = all.slowest ? all : upToPlace(all, page) // a place among the slowest is a length
      for await (const fromNs of findRecentNs(select, schema.raw('marks'), q, page.limit)) {
        const recent = fromNs <= q.fromNs ? [] : await findPage({ ...q, fromNs }, page)
        if (recent.length === page.limit && recent.at(-1)!.place.ns >= fromNs) return recent
      }
      return findPage(q, page)
    },

    // a subquery about shards would read those of all from each

    /** First of what began recently: a process with enough there is not read any further. */
    async findLatest(q) {
      const fromNs = q.byMeta ? undefined : latestFromNs(q)
      if (fromNs === undefined) return findLatestIn(q)
      const recent = Map.groupBy(await findLatestIn({ ...q, fromNs }), ({ process }) => process)
      for (const [process, timings] of recent)
        if (timings.length < q.each || timings.at(-1)!.place.ns < fromNs) recent.delete(process)
      const areAll = q.process !== undefined && [q.process].flat().every((name) => recent.has(name))
      const others = areAll ? [] : await findLatestIn({ ...q, except: [...recent.keys()] })
      const older = Map.groupBy(others, ({ process }) => process)
      return chooseLatest([...recent.values(), ...older.values()], [], q.maxRows)
    },

    async summarizeTimings(asked) {
      // whole µs, as the times of marks are: what began before counts in that bucket
      const q = asked.knownToNs === undefined ? asked : { ...asked, fromNs: BigInt(ceilUs(asked.fromNs)) * 1000n }
      const { input, params } = bindPairing(schema, q, q.byMeta)
      const isKnownTo = q.knownToNs !== undefined
      const bucket = bucketOf(isKnownTo ? `greatest(settled, ${input.from})` : 'settled', q)
      const summary = pairOnShards(
        schema,
        q,
        summarySql({
          ...input,
          ...(bucket && { bucket: bucket.sql }),
          newest: q.newest === true,
          hasEarlier: isKnownTo,
          ...(q.quantiles && { quantiles: q.quantiles }),
        }),
      )
      const sql = bucket === undefined ? summary : `SELECT * EXCEPT at, toString(at) AS at_ns FROM (${summary})`
      const found = await select<StoredSummary>(sql + limitOf(q), { ...params, ...bucket?.params }, q)
      const rows = await mapInTurns(found, (row) => fromSummary(row, q.quantiles !== undefined))
      if (!isKnownTo || bucket === undefined) return rows
      const levels = pairOnShards(schema, q, levelsSql({ ...input, bucketOf: (ns) => bucketOf(ns, q)!.sql }))
      const moments = await select<StoredLevel>(
        `SELECT * EXCEPT at, toString(at) AS at_ns FROM (${levels})${limitOf(q)}`,
        { ...params, ...bucket.params },
        q,
      )
      return addAtOnce(rows, await mapInTurns(moments, fromLevel), q)
    },

    /** Counts the table without FINAL, as questions read it: a repeated mark may count twice until it is merged. */
    async countMarks(q) {
      const { where, params } = selectionOf(q)
      const sql = `SELECT count() AS marks FROM ${schema.raw('marks')} WHERE ${where.join(' AND ')}`
      const [row] = await select<{ marks: number }>(sql, params, q)
      return Number(row!.marks)
    },
  }
}

/** The rule of store/latest.ts over the newest of each process, with `byMeta` of each meta and whether it is over. */
function latestSql(found: string, byMeta: boolean): string {
  const nth = (keys: string) => `row_number() OVER (PARTITION BY ${keys} ORDER BY ${NEWEST_FIRST})`
  const isLastOver = byMeta ? `${IS_OVER} AND ${nth(`process, meta, ${IS_OVER}`)} = 1` : 'false'
  return `(
  SELECT *, ${nth('process')} AS nth, ${isLastOver} AS is_last_over FROM (SELECT * FROM ${found})
)
WHERE nth <= {each:UInt32} OR is_last_over
ORDER BY if(is_last_over, least(nth, ${LAST_OVER_RANK}), nth), ${NEWEST_FIRST} LIMIT {max_rows:UInt32}`
}

/** Pairing belongs on the shards, and so does what makes its rows few: their order and limit. */
const pairOnShards = ({ cluster }: Schema, { process }: TimingSelection, sql: string, tail?: string): string =>
  cluster === undefined
    ? sql
    : onShards(cluster, tail === undefined ? sql : `SELECT * FROM (${sql})\n${tail}`, typeof process === 'string')

const fromTiming = (
  { state, first_ns, settled_ns, has_start, tie }: StoredTiming,
  name: RunName,
  slowest = false,
): TimingRow => ({
  ...name,
  state,
  ...(Number(has_start) === 1 && { startedNs: BigInt(first_ns) }),
  ...((state === 'completed' || state === 'failed' || state === 'orphan') && { endedNs: BigInt(settled_ns) }),
  place: { ns: slowest ? BigInt(settled_ns) - BigInt(first_ns) : BigInt(first_ns), tie },
})

/** Counts are UInt64, which a server may be configured to write as text. */
function fromSummary(
  { process, meta, at_ns, percentiles, ...row }: StoredSummary,
  hasQuantiles: boolean,
): TimingSummaryRow {
  const count = Number(row.completed)
  const figure = (value: StoredFloat | undefined) => (count === 0 ? null : toFloat(value!))
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
    ...(hasQuantiles && { quantilesMs: percentiles.slice(3).map(figure) }),
    failed: Number(row.failed),
    running: Number(row.running),
    abandoned: Number(row.abandoned),
    orphan: Number(row.orphan),
    ...(row.last_start !== undefined && { newest: fromNewest(row) }),
  }
}

const fromLevel = ({ process, meta, at_ns, peak, gained }: StoredLevel): Level => ({
  process,
  ...(meta !== undefined && { meta }),
  atNs: BigInt(at_ns),
  peak: Number(peak),
  gained: Number(gained),
})

function fromNewest(row: Partial<StoredSummary>): NewestRuns {
  const [start, completed, failed, length] = [row.last_start, row.last_completed, row.last_failed, row.last_length].map(
    (text) => BigInt(text ?? 0),
  )
  return {
    ...(start && { startNs: start }),
    ...(completed && { completedNs: completed }),
    ...(failed && { failedNs: failed }),
    ...((completed || failed) && { durationNs: length! }),
  }
}
