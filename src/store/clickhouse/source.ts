// Asks ClickHouse. Everything a caller chose is a bound parameter; the account is always one of them. Every query reads the views and is bounded in time and memory.
import { LAST_NS, marksWindow } from '../marks-window.ts'
import {
  type ExceptionGroup,
  type ExceptionSource,
  type MetricRow,
  type PointSource,
  type ProcessRow,
  type Selection,
  StoreError,
  type Timing,
  type TimingSelection,
  type TimingState,
  type TimingSummaryRow,
} from '../source.ts'
import type { ClickHouseClient, Params } from './client.ts'
import { ClickHouseFault } from './fault.ts'
import {
  fromExceptionRow,
  fromMetricRow,
  type Ns,
  type StoredException,
  type StoredFloat,
  type StoredMetric,
  toFloat,
} from './rows.ts'
import type { Schema } from './schema.ts'
import { type PairingInput, summarySql, timingsSql } from './timings-sql.ts'

const METAS_MAX = 100

const SETTINGS =
  'max_execution_time = 30, max_memory_usage = 4000000000, max_bytes_before_external_sort = 1000000000, output_format_json_quote_denormals = 1'

export function createClickHouseSource(client: ClickHouseClient, schema: Schema): PointSource & ExceptionSource {
  async function select<Row>(sql: string, params: Params): Promise<Row[]> {
    try {
      return await client.select<Row>(`${sql}\nSETTINGS ${SETTINGS}`, params)
    } catch (error) {
      if (!(error instanceof ClickHouseFault)) throw error
      throw new StoreError(`ClickHouse: ${error.message}`, { cause: error })
    }
  }

  return {
    async findTimings(q, page) {
      const { input, params } = pairing(schema, q, false)
      const conditions = [
        ...(q.state === undefined ? [] : ['state = {state:String}']),
        ...(page.after === undefined ? [] : ['first < {after:Int64}']),
      ]
      const timings = await select<{ state: TimingState; first_ns: Ns; settled_ns: Ns }>(
        `SELECT state, toString(first) AS first_ns, toString(settled) AS settled_ns
FROM (
  ${timingsSql(input)}
)${conditions.length === 0 ? '' : `\nWHERE ${conditions.join(' AND ')}`}
ORDER BY first DESC LIMIT {limit:UInt32}`,
        {
          ...params,
          limit: page.limit,
          ...(q.state !== undefined && { state: q.state }),
          ...(page.after !== undefined && { after: String(page.after.ns) }),
        },
      )
      const names = await findNames(
        q,
        timings.map(({ settled_ns }) => settled_ns),
      )
      return timings.flatMap(({ state, first_ns, settled_ns }): Timing[] => {
        const name = names.get(settled_ns)
        if (name === undefined) return [] // its account was erased between the two questions
        return [
          {
            ...name,
            state,
            ...(state !== 'orphan' && { startedNs: BigInt(first_ns) }),
            ...((state === 'completed' || state === 'orphan') && { endedNs: BigInt(settled_ns) }),
          },
        ]
      })
    },

    async summarizeTimings(q) {
      const { everyNs } = q
      const { input, params } = pairing(schema, q, q.byMeta)
      const sql = summarySql({ ...input, ...(everyNs !== undefined && { every: '{every:Int64}' }) })
      type Row = {
        process: string
        meta?: string
        at?: Ns
        completed: number
        mean: StoredFloat
        percentiles: [StoredFloat, StoredFloat, StoredFloat]
        max: StoredFloat
        running: number
        abandoned: number
        orphan: number
      }
      const rows = await select<Row>(
        everyNs === undefined ? sql : `SELECT * REPLACE (toString(at) AS at) FROM (${sql})`,
        everyNs === undefined ? params : { ...params, every: String(everyNs) },
      )
      return rows.map(
        ({ process, meta, at, completed, mean, percentiles, max, running, abandoned, orphan }): TimingSummaryRow => {
          const count = Number(completed)
          const figure = (value: StoredFloat) => (count === 0 ? null : toFloat(value))
          return {
            process,
            ...(meta !== undefined && { meta }),
            ...(at !== undefined && { atNs: BigInt(at) }),
            count,
            meanMs: figure(mean),
            p50Ms: figure(percentiles[0]),
            p95Ms: figure(percentiles[1]),
            p99Ms: figure(percentiles[2]),
            maxMs: figure(max),
            running: Number(running),
            abandoned: Number(abandoned),
            orphan: Number(orphan),
          }
        },
      )
    },

    async countMarks(q) {
      const { where, params } = selection(q)
      const [row] = await select<{ marks: number }>(
        `SELECT count() AS marks FROM ${schema.raw('marks')} WHERE ${where}`,
        params,
      )
      return Number(row!.marks)
    },

    async findMetrics(q, page) {
      const { where, params } = selection(q)
      const { after } = page
      const conditions = [
        where,
        ...(q.name === undefined ? [] : ['name = {name:String}']),
        ...(after === undefined
          ? []
          : [`at <= ${time('after')}`, `(at < ${time('after')} OR name > {after_name:String})`]),
      ]
      const rows = await select<StoredMetric>(
        `SELECT ${ns('at')} AS ns, process, meta, name, value FROM ${schema.view('metrics')}
WHERE ${conditions.join(' AND ')}
ORDER BY at DESC, name LIMIT {limit:UInt32}`,
        {
          ...params,
          limit: page.limit,
          ...(q.name !== undefined && { name: q.name }),
          ...(after !== undefined && { after: String(after.ns), after_name: after.name ?? '' }),
        },
      )
      return rows.map(fromMetricRow)
    },

    async aggregateMetrics(q) {
      const { where, params } = selection(q)
      type Row = { ns: Ns; process: string; name: string; count: number } & Record<
        'mean' | 'min' | 'max' | 'sum' | 'last',
        StoredFloat
      >
      const rows = await select<Row>(
        `SELECT toString(bucket) AS ns, process, name, count() AS count, avg(value) AS mean, min(value) AS min, max(value) AS max, sum(value) AS sum, argMax(value, at) AS last
FROM ${schema.view('metrics')}
WHERE ${where}${q.name === undefined ? '' : ' AND name = {name:String}'}
GROUP BY toUnixTimestamp64Nano(at) - toUnixTimestamp64Nano(at) % {every:Int64} AS bucket, process, name
ORDER BY bucket, process, name`,
        { ...params, every: String(q.everyNs), ...(q.name !== undefined && { name: q.name }) },
      )
      return rows.map(
        (row): MetricRow => ({
          atNs: BigInt(row.ns),
          process: row.process,
          name: row.name,
          count: Number(row.count),
          mean: toFloat(row.mean),
          min: toFloat(row.min),
          max: toFloat(row.max),
          sum: toFloat(row.sum),
          last: toFloat(row.last),
        }),
      )
    },

    async findExceptions(q, page) {
      const { where, params } = selection(q)
      const conditions = [
        where,
        ...(q.fingerprint === undefined ? [] : ['fingerprint = {fingerprint:String}']),
        ...(page.after === undefined ? [] : [`at < ${time('after')}`]),
      ]
      const rows = await select<StoredException>(
        `SELECT ${ns('at')} AS ns, process, meta, exception, fingerprint FROM ${schema.view('exceptions')}
WHERE ${conditions.join(' AND ')}
ORDER BY at DESC LIMIT {limit:UInt32}`,
        {
          ...params,
          limit: page.limit,
          ...(q.fingerprint !== undefined && { fingerprint: q.fingerprint }),
          ...(page.after !== undefined && { after: String(page.after.ns) }),
        },
      )
      return rows.map(fromExceptionRow)
    },

    async groupExceptions(q, limit) {
      const { where, params } = selection(q)
      const rows = await select<{
        fingerprint: string
        process: string
        occurrences: number
        first_ns: Ns
        last_ns: Ns
        example: string
      }>(
        `SELECT fingerprint, process, count() AS occurrences, ${ns('min(at)')} AS first_ns, ${ns('max(at)')} AS last_ns, argMax(exception, at) AS example
FROM ${schema.view('exceptions')}
WHERE ${where}
GROUP BY fingerprint, process
ORDER BY max(at) DESC, fingerprint, process LIMIT {limit:UInt32}`,
        { ...params, limit },
      )
      return rows.map(
        ({ fingerprint, process, occurrences, first_ns, last_ns, example }): ExceptionGroup => ({
          fingerprint,
          process,
          count: Number(occurrences),
          firstNs: BigInt(first_ns),
          lastNs: BigInt(last_ns),
          example,
        }),
      )
    },

    findPointProcesses: (q) => findProcesses(q, { marks: 'mark', metrics: 'metric' }),
    findExceptionProcesses: (q) => findProcesses(q, { exceptions: 'exception' }),

    close: () => client.close(),
  }

  /** What the marks with these stamps are called: pairing carries hashes instead of the strings. */
  async function findNames(
    q: TimingSelection,
    stamps: readonly Ns[],
  ): Promise<Map<Ns, Pick<Timing, 'process' | 'meta' | 'uid'>>> {
    if (stamps.length === 0) return new Map()
    const { conditions, params } = identity(q)
    const rows = await select<{ ns: Ns; process: string; meta: string; uid: string }>(
      `SELECT DISTINCT ${ns('at')} AS ns, process, meta, uid FROM ${schema.raw('marks')}
WHERE ${conditions.join(' AND ')} AND at IN (SELECT fromUnixTimestamp64Nano(toInt64(arrayJoin(splitByChar(',', {stamps:String}))), 'UTC'))`,
      { ...params, stamps: stamps.join(',') },
    )
    return new Map(rows.map(({ ns, ...name }) => [ns, name]))
  }

  async function findProcesses(
    q: Selection,
    kinds: Partial<Record<'marks' | 'metrics' | 'exceptions', ProcessRow['kinds'][number]>>,
  ): Promise<ProcessRow[]> {
    const { where, params } = selection(q)
    const tables = (Object.keys(kinds) as ('marks' | 'metrics' | 'exceptions')[]).map(
      (table) =>
        `SELECT process, meta, max(at) AS last, '${kinds[table]}' AS kind FROM ${schema.view(table)} WHERE ${where} GROUP BY process, meta`,
    )
    const rows = await select<{ process: string; metas: string[]; last_ns: Ns; kinds: ProcessRow['kinds'] }>(
      `SELECT process, arraySlice(arraySort(groupUniqArray(meta)), 1, ${METAS_MAX}) AS metas, ${ns('max(last)')} AS last_ns, arraySort(groupUniqArray(kind)) AS kinds
FROM (${tables.join(' UNION ALL ')})
GROUP BY process ORDER BY max(last) DESC, process`,
      params,
    )
    return rows.map(({ process, metas, last_ns, kinds }) => ({ process, metas, lastNs: BigInt(last_ns), kinds }))
  }
}

/** Nanoseconds as text: JSON's numbers lose the last digits. */
const ns = (at: string): string => `toString(toUnixTimestamp64Nano(${at}))`

const time = (param: string): string => `fromUnixTimestamp64Nano({${param}:Int64}, 'UTC')`

/** A moment that fits DateTime64(9). */
const clamp = (at: bigint): string => String(at < 0n ? 0n : at > LAST_NS ? LAST_NS : at)

/** Conditions in the order of the sorting keys. */
function identity({ account, process, meta, uid }: Selection & { readonly uid?: string }) {
  return {
    conditions: [
      'account = {account:String}',
      ...(process === undefined ? [] : ['process = {process:String}']),
      ...(meta === undefined ? [] : ['meta = {meta:String}']),
      ...(uid === undefined ? [] : ['uid = {uid:String}']),
    ],
    params: {
      account,
      ...(process !== undefined && { process }),
      ...(meta !== undefined && { meta }),
      ...(uid !== undefined && { uid }),
    },
  }
}

function selection(q: Selection): { where: string; params: Params } {
  const { conditions, params } = identity(q)
  return {
    where: [...conditions, `at >= ${time('from')}`, `at < ${time('to')}`].join(' AND '),
    params: { ...params, from: clamp(q.fromNs), to: clamp(q.toNs) },
  }
}

function pairing(schema: Schema, q: TimingSelection, byMeta: boolean): { input: PairingInput; params: Params } {
  const { conditions, params } = identity(q)
  const read = marksWindow(q)
  return {
    input: {
      marks: schema.raw('marks'),
      byMeta,
      where: conditions,
      from: '{from:Int64}',
      to: '{to:Int64}',
      readFrom: '{read_from:Int64}',
      readTo: '{read_to:Int64}',
      maxRun: '{max_run:Int64}',
      now: '{now:Int64}',
      ...(q.asOfNs !== undefined && { asOf: '{as_of:Int64}' }),
    },
    params: {
      ...params,
      from: clamp(q.fromNs),
      to: clamp(q.toNs),
      read_from: clamp(read.fromNs),
      read_to: clamp(read.toNs),
      max_run: String(q.maxRunNs),
      now: clamp(q.nowNs),
      ...(q.asOfNs !== undefined && { as_of: clamp(q.asOfNs) }),
    },
  }
}
