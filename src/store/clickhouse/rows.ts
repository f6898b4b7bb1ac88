// Events as rows and rows as answers. Columns are written by position (JSONCompactEachRow), a request's metrics are one row a name.
// ClickHouse's DateTime64(9) takes and gives nanoseconds as text only: no JS number holds them.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Event } from '../../event/event.ts'
import { fingerprint } from '../../event/fingerprint.ts'
import { formatStamp, type Stamp } from '../../event/stamp.ts'
import type { ExceptionRow, MetricPoint } from '../source.ts'

export type Table = 'exceptions' | 'marks' | 'metrics'

/** The order of `toRows`. */
export const COLUMNS: Readonly<Record<Table, readonly string[]>> = {
  exceptions: ['account', 'process', 'meta', 'exception', 'fingerprint', 'at'],
  marks: ['account', 'process', 'meta', 'uid', 'mark', 'at'],
  metrics: ['account', 'process', 'meta', 'name', 'value', 'at'],
}

/** Fingerprints of 4 MiB of exceptions take some 200 ms; requests that arrive meanwhile must not wait for all of them. */
const ENCODE_AT_ONCE_CHARS = 64 * 1024
const CHARS_AN_EVENT = 100

/** Lines of JSONCompactEachRow a table. */
export async function toRows(events: readonly Event[]): Promise<Map<Table, string[]>> {
  const tables = new Map<Table, string[]>()
  let encodedChars = 0
  for (const event of events) {
    encodedChars += event.kind === 'exception' ? event.exception.length + CHARS_AN_EVENT : CHARS_AN_EVENT
    if (encodedChars > ENCODE_AT_ONCE_CHARS) {
      await nextTurn()
      encodedChars = 0
    }
    pushRows(tables, event)
  }
  return tables
}

function pushRows(tables: Map<Table, string[]>, event: Event): void {
  const { account, process, meta } = event
  const at = toDateTime64(event.stamp)
  const push = (table: Table, ...row: (string | number)[]) => {
    const lines = tables.get(table)
    if (lines === undefined) tables.set(table, [JSON.stringify(row)])
    else lines.push(JSON.stringify(row))
  }
  switch (event.kind) {
    case 'start':
    case 'end':
      push('marks', account, process, meta, event.uid, event.kind, at)
      break
    case 'metrics':
      for (const [name, value] of event.items) push('metrics', account, process, meta, name, value, at)
      break
    case 'exception':
      push('exceptions', account, process, meta, event.exception, fingerprint(event.exception), at)
      break
  }
}

/** `2026-11-20 21:52:42.171920042`: the one form that every version reads in the column's zone, UTC. */
const toDateTime64 = (stamp: Stamp): string => formatStamp(stamp).slice(0, -1).replace('T', ' ')

/** What `nsText` of conditions.ts selects. */
export type Ns = string

export interface StoredException extends Omit<ExceptionRow, 'atNs'> {
  readonly ns: Ns
}

export const fromExceptionRow = ({ ns, ...row }: StoredException): ExceptionRow => ({ atNs: BigInt(ns), ...row })

export interface StoredMetric extends Omit<MetricPoint, 'atNs' | 'value'> {
  readonly ns: Ns
  readonly value: StoredFloat
}

export const fromMetricRow = ({ ns, value, ...row }: StoredMetric): MetricPoint => ({
  atNs: BigInt(ns),
  ...row,
  value: toFloat(value),
})

/** A sum may leave the range of doubles: then it comes as text. */
export type StoredFloat = number | 'inf' | '-inf' | 'nan'

export function toFloat(value: StoredFloat): number {
  if (typeof value === 'number') return value
  return value === 'nan' ? Number.NaN : value === 'inf' ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY
}
