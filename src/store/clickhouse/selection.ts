// Converts selections, places and values between questions and SQL. A caller's values are always bound parameters, and
// the account is one of them. Times are Int64 nanoseconds as text in both directions: no JS number holds them.
import { FIRST_NS, LAST_NS } from '../order.ts'
import { type Asker, type Buckets, type Names, type Page, type Selection, StoreError } from '../source.ts'
import type { ClickHouseClient, Params } from './client.ts'
import { ClickHouseFault, isFault } from './judge-failure.ts'

// Questions are bounded in time and memory, and killed when they are aborted: their connection would stay blocked.
/** Inline, see client.ts. Writes an infinite sum as text: JSON has none, and null would read as 0. */
const SETTINGS = 'output_format_json_quote_denormals = 1'
const TIMEOUT_MS = 30_000
const MEMORY_MAX_BYTES = 3_000_000_000
/** TIMEOUT_EXCEEDED, TOO_SLOW, MEMORY_LIMIT_EXCEEDED: asked for less, it would answer. */
const TOO_MUCH = [159, 160, 241]

/** The rows of a SELECT without SETTINGS and FORMAT. Throws StoreError. */
export type Select = <Row>(sql: string, params: Params, asker: Asker) => Promise<Row[]>

export interface Bounds {
  /** Settings that every question has. */
  readonly settings?: string | undefined
  /** The engine then ends a statement. */
  readonly timeoutMs?: number | undefined
  /** Of the machine or container that runs the engine: a statement may take half of it. Absent: more than enough. */
  readonly memoryBytes?: number | undefined
}

export function createBoundedSelect(client: ClickHouseClient, bounds: Bounds = {}): Select {
  const { settings: more, timeoutMs = TIMEOUT_MS, memoryBytes = Number.POSITIVE_INFINITY } = bounds
  const memory = Math.min(MEMORY_MAX_BYTES, Math.floor(memoryBytes / 2))
  const bounded = `${SETTINGS}, max_memory_usage = ${memory}, max_execution_time = ${timeoutMs / 1000}`
  const all = more === undefined ? bounded : `${bounded}, ${more}`
  return async <Row>(sql: string, params: Params, asker: Asker) => {
    const { signal } = asker
    const comment = signal && crypto.randomUUID()
    const kill = () => void client.kill(comment ?? '')
    signal?.addEventListener('abort', kill)
    const settings = comment === undefined ? all : `${all}, log_comment = '${comment}'`
    try {
      return await client.select<Row>(`${sql}\nSETTINGS ${settings}`, params, asker)
    } catch (error) {
      throw asStoreError(error)
    } finally {
      signal?.removeEventListener('abort', kill)
    }
  }
}

export const asStoreError = (error: unknown): unknown =>
  error instanceof ClickHouseFault
    ? new StoreError(`ClickHouse: ${error.message}`, {
        cause: error,
        isTooSlow: isFault(error, ...TOO_MUCH),
      })
    : error

export interface Conditions {
  /** To be joined by AND. */
  readonly where: readonly string[]
  readonly params: Params
}

/** Which series: the columns that the sorting keys begin with. */
export function seriesOf({
  account,
  process,
  meta,
  uid,
}: Selection & { readonly uid?: string | undefined }): Conditions {
  const of = { where: ['account = {account:String}'], params: { account } }
  return withEqual(withEqual(withEqual(of, 'process', process), 'meta', meta), 'uid', uid)
}

/** Which series and when. */
export function selectionOf(q: Selection): Conditions {
  const { where, params } = seriesOf(q)
  return {
    where: [...where, `at >= ${timeParam('from')}`, `at < ${timeParam('to')}`],
    params: { ...params, from: toInt64(q.fromNs), to: toInt64(q.toNs) },
  }
}

/** A server takes no longer parameter by default (128 KiB); bytes. */
const PARAM_MAX = 100_000

/**
 * An array of these values, of the element type `type`, as an expression. It is one parameter where that is short
 * enough, not one per value, because connections keep every name.
 */
export function listOf(name: string, values: readonly unknown[], type = 'String'): { list: string; params: Params } {
  const parts: string[][] = [[]]
  let bytes = 0
  for (const value of values) {
    const text = JSON.stringify(value)
    const size = Buffer.byteLength(text) + 1
    if (bytes + size > PARAM_MAX) {
      parts.push([])
      bytes = 0
    }
    bytes += size
    parts.at(-1)!.push(text)
  }
  const params = Object.fromEntries(parts.map((texts, i) => [`${name}_${i}`, `[${texts}]`]))
  const arrays = Object.keys(params).map((param) => `JSONExtract({${param}:String}, 'Array(${type})')`)
  return { list: `arrayConcat(${arrays.join(', ')})`, params }
}

/** Whether `what`, a column or a tuple of columns, is one of these values; `name` tells its parameters apart. */
export function isIn(
  what: string,
  name: string,
  values: readonly unknown[],
  type?: string,
): { sql: string; params: Params } {
  const { list, params } = listOf(name, values, type)
  return { sql: `${what} IN (SELECT arrayJoin(${list}))`, params }
}

/** Adds an equality for a value, or several, if present. */
export function withEqual({ where, params }: Conditions, column: string, value: Names | undefined): Conditions {
  if (value === undefined) return { where, params }
  if (typeof value === 'string')
    return { where: [...where, `${column} = {${column}:String}`], params: { ...params, [column]: value } }
  const { sql, params: more } = isIn(column, column, value)
  return { where: [...where, sql], params: { ...params, ...more } }
}

/** Columns that tell rows of one time apart, as in ORDER BY after `at DESC`, and the types of their values in a tie. */
export type TieColumns = readonly (readonly [
  column: string,
  type: 'UInt32' | 'UInt64' | 'String',
  order: '' | ' DESC',
])[]

/** An event is identified by its stamp and content. */
export const EVENT_TIE: TieColumns = [
  ['stamp_rest', 'UInt32', ' DESC'],
  ['content', 'UInt64', ' DESC'],
]

export const orderBy = (tie: TieColumns): string =>
  ['at DESC', ...tie.map(([column, , order]) => `${column}${order}`)].join(', ')

/** Selects a row's tie. */
export const tieText = (tie: TieColumns): string =>
  `toJSONString([${tie.map(([column]) => `toString(${column})`).join(', ')}]) AS tie`

/** Adds the conditions for what lies behind the page's place. */
export function withPlace({ where, params }: Conditions, { after, limit }: Page, tie: TieColumns): Conditions {
  if (after === undefined) return { where, params: { ...params, limit } }
  const values = readTie(after.tie, tie)
  // (a, b) behind (x, y): a behind x, or a = x and b behind y
  const behind = tie.reduceRight((rest, [column, type, order], i) => {
    const value = `{tie_${i}:${type}}`
    const here = `${column} ${order === '' ? '>' : '<'} ${value}`
    return rest === '' ? here : `(${here} OR (${column} = ${value} AND ${rest}))`
  }, '')
  const at = timeParam('after')
  return {
    where: [...where, `at <= ${at}`, `(at < ${at} OR ${behind})`],
    params: {
      ...params,
      limit,
      after: toInt64(after.ns),
      ...Object.fromEntries(values.map((value, i) => [`tie_${i}`, value])),
    },
  }
}

/** The values of a tie; of any other text the first place of its time. */
export function readTie(text: string, tie: TieColumns): string[] {
  const values = parseTexts(text)
  const fits =
    values?.length === tie.length &&
    tie.every(([, type], i) => type === 'String' || (/^\d{1,20}$/.test(values[i]!) && BigInt(values[i]!) <= MAX[type]))
  return fits ? values : tie.map(([, type, order]) => (type === 'String' ? '' : String(order === '' ? 0n : MAX[type])))
}

const MAX = { UInt32: 0xffff_ffffn, UInt64: 0xffff_ffff_ffff_ffffn } as const

function parseTexts(text: string): string[] | undefined {
  try {
    const values: unknown = JSON.parse(text)
    return Array.isArray(values) && values.every((value) => typeof value === 'string') ? values : undefined
  } catch {
    return undefined
  }
}

/** A bound moment as DateTime64(9). */
export const timeParam = (name: string): string => `fromUnixTimestamp64Nano({${name}:Int64}, 'UTC')`

/** A DateTime64(9) as text of its nanoseconds. */
export const nsText = (at: string): string => `toString(toUnixTimestamp64Nano(${at}))`

/** For `{name:Int64}`; a moment that DateTime64(9) cannot hold becomes the nearest that it can. */
export const toInt64 = (ns: bigint): string => String(ns < FIRST_NS ? FIRST_NS : ns > LAST_NS ? LAST_NS : ns)

/** SQL for the start of the bucket of the Int64 `ns`, and its parameters; undefined without a series. */
export function bucketOf(ns: string, { everyNs, bounds }: Buckets): { sql: string; params: Params } | undefined {
  if (bounds !== undefined) {
    const starts = "arrayMap(second -> toInt64(second) * 1000000000, splitByChar(',', {bounds:String}))"
    return { sql: `roundDown(${ns}, ${starts})`, params: { bounds: bounds.map((at) => at / 1_000_000_000n).join(',') } }
  }
  return everyNs === undefined
    ? undefined
    : { sql: `${ns} - ${ns} % {every:Int64}`, params: { every: String(everyNs) } }
}

/** The LIMIT of an answer without pages; follows its ORDER BY. */
export const limitOf = ({ maxRows }: Selection): string =>
  maxRows === undefined ? '' : `\nLIMIT ${Math.trunc(maxRows)}`

/** The text that `nsText` selects. */
export type Ns = string

/** A sum may leave the range of doubles: then it comes as text. */
export type StoredFloat = number | 'inf' | '-inf' | 'nan'

export function toFloat(value: StoredFloat): number {
  if (typeof value === 'number') return value
  return value === 'nan' ? Number.NaN : value === 'inf' ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY
}
