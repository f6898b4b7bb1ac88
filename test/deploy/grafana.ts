// What Grafana does to a panel's query before a store sees it, and to the store's answer before the panel does, as far as our dashboards rely on it.
//   variables    @grafana/scenes formatRegistry.ts (regex, percentencode; an `All` value is regex-formatted by nobody but percent-encoded)
//   Flux         pkg/tsdb/influxdb/flux/macros.go and builder.go
//   shared       public/app/plugins/datasource/dashboard/datasource.ts: the source panel's frames before its transformations
//   transforms   packages/grafana-data/src/transformations/transformers/filter.ts and organize.ts
//   ClickHouse   the plugin's pkg/macros/macros.go, and LongToWide of grafana-plugin-sdk-go
import { InfluxDB } from '@influxdata/influxdb-client'
import { textOf } from '../../src/secret.ts'
import type { ClickHouseAddress, EmbeddedAddress, ServerAddress } from '../../src/store/clickhouse/client.ts'
import { openClickHouseClient } from '../../src/store/clickhouse/client.ts'
import type { InfluxBucket } from '../support/influxd.ts'

/** A busy machine is no failure. */
const TIMEOUT_MS = 600_000

/** A custom value for `All`, which Grafana leaves as it is in all but the URL formats. */
export interface AllValue {
  readonly all: string
}

export interface View {
  readonly fromMs: number
  readonly toMs: number
  readonly intervalMs: number
  /** A list: several chosen values, or one of a variable that can have several. */
  readonly variables: Readonly<Record<string, string | readonly string[] | AllValue>>
}

export interface Field {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly values: readonly unknown[]
}

/** A frame a table or series; times are in ns, as bigint. */
export type Frame = readonly Field[]

const VARIABLE = /\$\{(\w+)(?::(\w+))?\}/g

const escapeRegex = (text: string) => text.replace(/[\\^$*+?.()|[\]{}/]/g, '\\$&')

function format(value: View['variables'][string], as: string | undefined, text: string): string {
  const isAll = typeof value === 'object' && 'all' in value
  const many = isAll ? [value.all] : typeof value === 'string' ? [value] : value
  const plain = Array.isArray(value) ? `{${many.join(',')}}` : many[0]!
  switch (as) {
    case undefined:
      return plain
    case 'regex':
      if (isAll) return plain
      return many.length === 1 ? escapeRegex(many[0]!) : `(${many.map(escapeRegex).join('|')})`
    case 'percentencode':
      return encodeURIComponent(plain).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
    default:
      throw new Error(`${text}: a format that no dashboard should need`)
  }
}

/** What the browser puts in. */
export function replaceVariables(query: string, { fromMs, toMs, variables }: View): string {
  const known: View['variables'] = { __from: String(fromMs), __to: String(toMs), ...variables }
  return query.replace(VARIABLE, (text, name: string, as?: string) => {
    const value = known[name]
    if (value === undefined) throw new Error(`${text}: there is no such variable`)
    return format(value, as, text)
  })
}

/** What Grafana's server puts in: any `x.bucket` and the like, whatever the x. */
export function interpolateFlux(query: string, bucket: string, { fromMs, toMs, intervalMs }: View): string {
  const values: Record<string, string> = {
    timeRangeStart: new Date(fromMs).toISOString(),
    timeRangeStop: new Date(toMs).toISOString(),
    windowPeriod: goDuration(intervalMs),
    bucket: JSON.stringify(bucket),
    defaultBucket: JSON.stringify(bucket),
    organization: '"an organization"',
  }
  return query
    .replace(/([a-zA-Z]+)\.([a-zA-Z]+)/g, (text, _, name: string) => values[name] ?? text)
    .replaceAll('$__interval_ms', String(intervalMs))
    .replaceAll('$__interval', goDuration(intervalMs))
}

interface Transformation {
  readonly id: string
  readonly options: {
    readonly include?: { readonly pattern: string }
    readonly renameByName?: Readonly<Record<string, string>>
  }
}

/** Frames without any field that is left are dropped. */
const transform = (frames: readonly Frame[], { id, options }: Transformation): Frame[] => {
  switch (id) {
    case 'filterFieldsByName':
      return frames
        .map((frame) => frame.filter((field) => new RegExp(options.include!.pattern).test(displayName(field))))
        .filter((frame) => frame.length > 0)
    case 'organize':
      return frames.map((frame) =>
        frame.map((field) => ({ ...field, name: options.renameByName![displayName(field)] ?? field.name })),
      )
    case 'merge': // rows of one process may stay apart: a test reads each
      return [...frames]
    default:
      throw new Error(`${id}: a transformation that no dashboard should need`)
  }
}

const displayName = ({ name, labels }: Field): string =>
  [name, ...Object.entries(labels).map(([label, value]) => `{${label}="${value}"}`)].join(' ')

const goDuration = (ms: number): string => (ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`)

export function interpolateSql(sql: string, { fromMs, toMs, intervalMs }: View): string {
  const seconds = Math.max(1, Math.floor(intervalMs / 1000))
  return sql
    .replace(/\$__fromTime_ms\b/g, `fromUnixTimestamp64Milli(${fromMs})`)
    .replace(/\$__toTime_ms\b/g, `fromUnixTimestamp64Milli(${toMs})`)
    .replace(/\$__timeInterval\((\w+)\)/g, `toStartOfInterval(toDateTime($1), INTERVAL ${seconds} second)`)
    .replace(/\$__interval_s\b/g, String(seconds))
}

function refuseLeftovers(query: string): void {
  const left = /\$[_{][^ ]*|\bv\.\w+/.exec(query)
  if (left !== null) throw new Error(`Grafana would not have replaced ${left[0]} in\n${query}`)
}

/** Frames as Grafana's builder makes them: times first; columns of the group key are labels; names change only where there are `_time` and `_value` alone. */
export async function askInflux(
  query: string,
  { url, token, org, bucket }: InfluxBucket,
  view: View,
): Promise<Frame[]> {
  const text = interpolateFlux(replaceVariables(query, view), bucket, view)
  refuseLeftovers(text)
  const tables = new Map<string, { columns: { label: string; dataType: string; group: boolean }[]; rows: string[][] }>()
  await new InfluxDB({ url, token, timeout: TIMEOUT_MS }).getQueryApi(org).collectRows(text, (values, meta) => {
    const columns = meta.columns.map(({ label, dataType, group }) => ({ label, dataType: String(dataType), group }))
    const key = JSON.stringify([columns, values[1]])
    const table = tables.get(key) ?? { columns, rows: [] }
    tables.set(key, table)
    table.rows.push(values.map((value, i) => value || meta.columns[i]!.defaultValue))
    return undefined
  })
  return [...tables.values()].map(({ columns, rows }): Frame => {
    const data = columns.map((column, i) => ({ ...column, i })).slice(2) // behind `result` and `table`
    const [times, others] = [true, false].map((isTime) =>
      data.filter(({ group, dataType }) => !group && dataType.startsWith('dateTime') === isTime),
    ) as [typeof data, typeof data]
    const { _field, ...labels } = Object.fromEntries(
      data.flatMap(({ label, group, i }) => (group && rows[0]![i] !== '' ? [[label, rows[0]![i]!]] : [])),
    )
    const isTimed = times.length === 1 && times[0]!.label === '_time'
    const isSimple = isTimed && others.length === 1 && others[0]!.label === '_value'
    const nameOf = (label: string) => (!isSimple ? label : label === '_time' ? 'Time' : (_field ?? 'Value'))
    return [...times, ...others].map(({ label, dataType, i }) => ({
      name: nameOf(label),
      labels: isTimed && label === '_time' ? {} : labels,
      values: rows.map((row) => parse(row[i]!, dataType)),
    }))
  })
}

function parse(text: string, type: string): unknown {
  if (text === '') return null
  if (type === 'double') return Number(text)
  if (type === 'long') return Number(text)
  return type.startsWith('dateTime') ? toNs(text) : text
}

/** RFC 3339, or ClickHouse's own form of a time in UTC. */
function toNs(text: string): bigint {
  const [, date, time, digits = ''] = /^(\S{10})[T ](\S{8})(?:\.(\d+))?Z?$/.exec(text)!
  return BigInt(Date.parse(`${date}T${time}Z`)) * 1_000_000n + BigInt(digits.padEnd(9, '0'))
}

/** As a dashboard's JSON has it. */
export interface Panel {
  readonly maxDataPoints?: number
  readonly transformations?: readonly Transformation[]
  readonly targets: readonly {
    readonly datasource: { readonly uid: string }
    readonly panelId?: number
    readonly query?: string
    readonly rawSql?: string
    readonly format?: number
    readonly expr?: string
  }[]
}

export interface AskedStores {
  readonly bucket: InfluxBucket
  readonly clickhouse: ClickHouseAddress & { readonly database: string }
}

/** The frames of a panel over the stores; at most 1.5 times the panel's data points in one frame. */
export async function askPanel(
  { targets, maxDataPoints, transformations = [] }: Panel,
  panelOf: (id: number) => Panel,
  stores: AskedStores,
  view: View,
): Promise<Frame[]> {
  const answers: Frame[] = []
  for (const { datasource, query, rawSql, format, panelId } of targets) {
    if (datasource.uid === 'stint-influxdb') answers.push(...(await askInflux(query!, stores.bucket, view)))
    else if (datasource.uid === 'stint-clickhouse')
      answers.push(...(await askClickHouse(rawSql!, format === 0 ? 'time series' : 'table', stores.clickhouse, view)))
    else if (datasource.uid === '-- Dashboard --')
      answers.push(...(await askPanel({ ...panelOf(panelId!), transformations: [] }, panelOf, stores, view)))
    else throw new Error(`${datasource.uid} is not asked here`)
  }
  const most = Math.max(0, ...answers.map(([first]) => first!.values.length))
  const limit = 1.5 * (maxDataPoints ?? 1000)
  if (most > limit) throw new Error(`${most} data points, more than ${limit}`)
  return transformations.reduce<Frame[]>(transform, answers)
}

/** `time series` answers become a series a value column and combination of text columns. */
export async function askClickHouse(
  sql: string,
  form: 'table' | 'time series',
  address: ClickHouseAddress & { readonly database: string },
  view: View,
): Promise<Frame[]> {
  const text = interpolateSql(replaceVariables(sql, view), view)
  refuseLeftovers(text)
  const rows = await ('url' in address ? selectAt(address, text) : selectInEngine(address, text))
  return form === 'table' ? toTable(rows) : toSeries(rows)
}

type Rows = readonly Record<string, unknown>[]

/** One connection, and the data source's database on it, as the plugin has it. */
async function selectInEngine(address: EmbeddedAddress, sql: string): Promise<Rows> {
  const client = await openClickHouseClient(address, TIMEOUT_MS)
  try {
    await client.run(`USE ${address.database}`)
    return await client.select<Record<string, unknown>>(sql)
  } finally {
    await client.close()
  }
}

async function selectAt({ url, user, password, database }: ServerAddress, sql: string): Promise<Rows> {
  const response = await fetch(`${url}/?database=${database}`, {
    ...{ method: 'POST', body: `${sql}\nFORMAT JSON` },
    headers: { authorization: `Basic ${btoa(`${user}:${textOf(password)}`)}` },
  })
  if (!response.ok) throw new Error(await response.text())
  return ((await response.json()) as { data: Rows }).data
}

const TIME = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(\.\d+)?$/
const fromCell = (value: unknown): unknown => (typeof value === 'string' && TIME.test(value) ? toNs(value) : value)

function toTable(rows: readonly Record<string, unknown>[]): Frame[] {
  if (rows.length === 0) return []
  return [Object.keys(rows[0]!).map((name) => ({ name, labels: {}, values: rows.map((row) => fromCell(row[name])) }))]
}

function toSeries(rows: readonly Record<string, unknown>[]): Frame[] {
  const series = new Map<
    string,
    { name: string; labels: Record<string, string>; times: unknown[]; values: unknown[] }
  >()
  let last = 0n
  for (const row of rows) {
    const time = fromCell(row.time) as bigint
    if (time < last) throw new Error('a time series must come in order of time')
    last = time
    const columns = Object.entries(row).filter(([name]) => name !== 'time')
    const labels = Object.fromEntries(columns.filter(([, value]) => typeof value === 'string')) as Record<
      string,
      string
    >
    for (const [name, value] of columns.filter(([, value]) => typeof value !== 'string')) {
      const key = JSON.stringify([name, labels])
      const one = series.get(key) ?? { name, labels, times: [], values: [] }
      series.set(key, one)
      one.times.push(time)
      one.values.push(value)
    }
  }
  return [...series.values()].map(({ name, labels, times, values }) => [
    { name: 'time', labels: {}, values: times },
    { name, labels, values },
  ])
}
