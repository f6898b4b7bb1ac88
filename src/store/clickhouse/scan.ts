// Reads whole tables of ClickHouse for copies: week by week in the order of the sorting key, each page starting after
// the last key of the one before, so that it reads only its part. Duplicates are adjacent in this order, so the raw
// table is read without FINAL and duplicates are dropped here.
import { type Event, type Family, ONE_OF } from '../../event/event.ts'
import { parseStampNs } from '../../event/stamp.ts'
import { type Chunk, type Counts, NO_COUNTS, type Scan, type ScanSelection } from '../scan.ts'
import { CHECK_ACCOUNT } from '../sink.ts'
import type { ClickHouseClient, Params } from './client.ts'
import { isFault, UNKNOWN_DATABASE, UNKNOWN_TABLE } from './judge-failure.ts'
import type { Schema } from './schema.ts'
import { asStoreError, timeParam } from './selection.ts'
import { TABLES } from './tables.ts'

/** Inline, see client.ts. A page is short; a count reads everything. */
const SETTINGS = 'max_execution_time = 600, max_memory_usage = 4000000000'

/** The columns of a table in its order, all as text but the value. */
type Row = readonly (string | number)[]

/** The end of a page: the week's beginning in seconds, and the last row's key as texts. */
type Cursor = readonly [week: number, ...key: string[]]

/** Text of a key column for a cursor, and the way back; other columns are texts. */
const READ: Readonly<Record<string, string>> = {
  at: 'toString(toUnixTimestamp64Nano(at))',
  stamp_rest: 'toString(stamp_rest)',
  content: 'toString(content)',
  mark: 'toString(mark)',
}
const BIND: Readonly<Record<string, (name: string) => string>> = {
  at: timeParam,
  stamp_rest: (name) => `{${name}:UInt32}`,
  content: (name) => `{${name}:UInt64}`,
}

export function createClickHouseScan(client: ClickHouseClient, schema: Schema): Scan {
  /** Empty for a table that is not there. */
  async function select<R extends Row>(sql: string, params: Params): Promise<R[]> {
    try {
      return await client.selectArrays<R>(`${sql}\nSETTINGS ${SETTINGS}`, params)
    } catch (cause) {
      if (isFault(cause, UNKNOWN_TABLE, UNKNOWN_DATABASE)) return []
      throw asStoreError(cause)
    }
  }

  async function weeksOf(family: Family, where: string, params: Params): Promise<number[]> {
    const sql =
      `SELECT DISTINCT toUnixTimestamp(toDateTime(toMonday(at), 'UTC')) AS week FROM ${schema.raw(family)} ` +
      `WHERE ${where} ORDER BY week`
    return (await select<readonly [number]>(sql, params)).map(([week]) => week)
  }

  async function* read(family: Family, selection: ScanSelection, after?: string): AsyncGenerator<Chunk, void> {
    const { where, params } = conditions(selection)
    const { columns, key: keys, pageRows } = TABLES[family]
    const selected = columns.map((column, i) => `${READ[column] ?? column} AS c${i}`).join(', ')
    const keyAt = keys.map((key) => columns.indexOf(key))
    const order = keys.join(', ')
    let cursor = after === undefined ? undefined : (JSON.parse(after) as Cursor)
    for (const week of await weeksOf(family, where, params)) {
      if (cursor !== undefined && week < cursor[0]) continue
      let key = cursor?.[0] === week ? (cursor.slice(1) as string[]) : undefined
      for (;;) {
        const behind = key === undefined ? '1' : behindKey(keys)
        const keyParams = Object.fromEntries((key ?? []).map((value, i) => [`k${i}`, value]))
        const sql =
          `SELECT ${selected} FROM ${schema.raw(family)} WHERE ${inWeek(week)} AND ${where} AND (${behind}) ` +
          `ORDER BY ${order} LIMIT ${pageRows}`
        const rows = await select<Row>(sql, { ...params, ...keyParams })
        const last = rows.at(-1)
        if (last === undefined) break
        key = keyAt.map((i) => String(last[i]))
        cursor = [week, ...key]
        const events = rows
          .filter((row, i) => i === 0 || !isRepeat(row, rows[i - 1]!, keyAt))
          .map((row) => decode(family, row))
        yield { events, cursor: JSON.stringify(cursor) }
        if (rows.length < pageRows) break
      }
    }
  }

  async function count(families: readonly Family[], selection: ScanSelection): Promise<Counts> {
    const { where, params } = conditions(selection)
    const counts: Record<string, number> = { ...NO_COUNTS }
    for (const family of families) {
      const kind = family === 'marks' ? 'toString(mark)' : `'${ONE_OF[family]}'`
      const sql = `SELECT ${kind} AS kind, toString(count()) FROM ${schema.view(family)} WHERE ${where} GROUP BY kind`
      for (const [name, rows] of await select<readonly [string, string]>(sql, params)) counts[name] = Number(rows)
    }
    return counts as Counts
  }

  return {
    read,
    count,
    async countDays(family, selection) {
      const { where, params } = conditions(selection)
      const sql =
        `SELECT toString(toUnixTimestamp(toStartOfDay(at))), toString(count()) FROM ${schema.view(family)} WHERE ` +
        `${where} GROUP BY toStartOfDay(at)`
      const days = await select<readonly [string, string]>(sql, params)
      return new Map(days.map(([seconds, rows]) => [BigInt(seconds) * 1_000_000_000n, Number(rows)]))
    },
    async close() {},
  }
}

const conditions = ({ account }: ScanSelection): { where: string; params: Params } =>
  account === undefined
    ? { where: `account != '${CHECK_ACCOUNT}'`, params: {} }
    : { where: 'account = {account:String}', params: { account } }

const WEEK_S = 7 * 86_400
const inWeek = (from: number): string =>
  `at >= toDateTime64(${from}, 9, 'UTC') AND at < toDateTime64(${from + WEEK_S}, 9, 'UTC')`

/** `(a, b) > (x, y)` written out: the primary index takes it apart only like this. */
function behindKey(keys: readonly string[], from = 0): string {
  const [key, rest] = [keys[from]!, keys.length - from - 1]
  const value = BIND[key]?.(`k${from}`) ?? `{k${from}:String}`
  return rest === 0
    ? `${key} > ${value}`
    : `${key} > ${value} OR (${key} = ${value} AND (${behindKey(keys, from + 1)}))`
}

const isRepeat = (row: Row, before: Row, keyAt: readonly number[]) => keyAt.every((i) => row[i] === before[i])

/** A row with the columns of its table. */
function decode(family: Family, row: Row): Event {
  const [account, process, meta, uid, own, value] = row
  const common = { account, process, meta, ...identityOf(row.slice(-3)) }
  if (family === 'marks') {
    const failed = own === 'failed' && { failed: true }
    return { kind: own === 'start' ? 'start' : 'end', ...failed, ...common, uid } as Event
  }
  const run = uid === '' ? common : { ...common, uid }
  if (family === 'metrics') return { kind: 'metrics', ...run, items: [[own, value]] } as unknown as Event
  return { kind: ONE_OF[family], ...run, [ONE_OF[family]]: own } as unknown as Event
}

function identityOf([at, rest, content]: Row) {
  const stamp = parseStampNs(BigInt(at!) + BigInt(rest!))
  return stamp.sub % 2 === 0 ? { stamp } : { stamp, content: BigInt(content!) }
}
