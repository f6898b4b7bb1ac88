// One query of a panel, and where it is asked. The uids are those of provisioning/datasources/stint.yaml.

export interface DataSource {
  readonly type: string
  readonly uid: string
}

export const INFLUXDB: DataSource = { type: 'influxdb', uid: 'stint-influxdb' }
export const CLICKHOUSE: DataSource = { type: 'grafana-clickhouse-datasource', uid: 'stint-clickhouse' }
const PROMETHEUS: DataSource = { type: 'prometheus', uid: 'stint-prometheus' }

/** The version of the plugin that docker-compose.yml installs. */
const CLICKHOUSE_PLUGIN = '4.14.0'

/** Grafana's own: the answer of another panel of the dashboard, before its transformations. */
export const DASHBOARD: DataSource = { type: 'datasource', uid: '-- Dashboard --' }

export interface Target {
  readonly datasource: DataSource
  /** Of an answer for several panels: the fields of this one, by a regular expression on the whole name. */
  readonly only?: string
  /** The same by the beginning of the names, which a table drops. */
  readonly prefix?: string
  readonly [property: string]: unknown
}

export const fluxTarget = (query: string): Target => ({ datasource: INFLUXDB, query })

/** A part of what the panel of that title reads. */
export const sharedTarget = (panel: string, part: Pick<Target, 'only' | 'prefix'>): Target => ({
  datasource: DASHBOARD,
  panel,
  ...part,
})

/** `time series`: columns time, label and value, in order of time. */
const sqlTarget = (rawSql: string, form: 'table' | 'time series'): Target => ({
  datasource: CLICKHOUSE,
  editorType: 'sql',
  format: form === 'table' ? 1 : 0,
  pluginVersion: CLICKHOUSE_PLUGIN,
  queryType: form === 'table' ? 'table' : 'timeseries',
  rawSql,
})

/** `legend` names a series by its labels: `{{kind}}`. */
export const promTarget = (expr: string, legend: string): Target => ({
  datasource: PROMETHEUS,
  editorMode: 'code',
  expr,
  legendFormat: legend,
  range: true,
})

// Pieces of the panels' SQL. Macros of Grafana's ClickHouse plugin replace parameters; tables are the data source's.
export const FROM_NS = 'toUnixTimestamp64Nano($__fromTime_ms)'
export const TO_NS = 'toUnixTimestamp64Nano($__toTime_ms)'
export const NOW_NS = "toUnixTimestamp64Nano(now64(9, 'UTC'))"
export const EVERY_NS = '($__interval_s * 1000000000)'
export const IN_RANGE = ['at >= $__fromTime_ms', 'at < $__toTime_ms']

/** An expression in ns since the epoch as a time. */
export const toTime = (ns: string): string => `fromUnixTimestamp64Nano(toInt64(${ns}), 'UTC')`

export const series = (sql: string): Target => sqlTarget(sql, 'time series')
export const table = (sql: string): Target => sqlTarget(sql, 'table')

// The dashboards' variables, and how a caller's text in them stays text. Process and meta names come from everyone who
// has a key, and values also from a page's address, so Grafana itself escapes each in the format that is safe there.
//   Flux  `${process:regex}` between slashes: escapes slash and backslash too; several values become (a|b).
//   SQL   `${process:percentencode}` between quotes, decoded by ClickHouse: letters, digits, -_.~%; several {a,b}.
// Stint strips `%` from every process and meta (event/fields.ts), so a text with one can have a meaning of its own.

/** Matches every value a variable can have, and is no process or meta. The value of `All`. */
export const ALL = '[^%]*'

/** The value that means: without meta. */
export const WITHOUT_META = '%without%'

export const VARIABLES = ['account', 'process', 'meta', 'metric'] as const
export type Variable = (typeof VARIABLES)[number]

/** Offered in place of `$__`, with which macros begin: see flux-parts.ts. */
export const DOLLAR = '%24__'

/** A SQL expression: the variable's value. */
export const sqlText = (variable: Variable): string =>
  `replaceAll(decodeURLComponent('\${${variable}:percentencode}'), '${DOLLAR}', concat('$', '__'))`

/** The rows of a query with each process as the lists of values offer it. */
export const offerProcesses = (sql: string): string =>
  `SELECT * REPLACE (replaceAll(process, concat('$', '__'), '${DOLLAR}') AS process)\nFROM (\n${sql}\n)`

/** What a panel shows: events of the chosen processes with all their metas, or also of the chosen meta. */
export type Scope = 'processes' | 'process'

/**
 * A SQL condition. Grafana writes `{a,b}` for several values and for one such name: it is split unless a process has
 * the whole text as its name. (No other format of Grafana separates values and is safe in SQL.)
 */
function sqlProcess(): string {
  const value = sqlText('process')
  const inner =
    `if(startsWith(${value}, '{') AND endsWith(${value}, '}'), substring(${value}, 2, length(${value}) - 2), ` +
    `${value})`
  const named = ['marks_raw', 'metrics_raw', 'exceptions_raw']
    .map((table) => `SELECT process FROM ${table} WHERE process = ${inner} AND position(${inner}, ',') > 0`)
    .join(' UNION ALL ')
  const parts = `if(${inner} = ${value} OR ${inner} IN (${named}), [], splitByChar(',', ${inner}))`
  return `(${value} = '${ALL}' OR process IN (SELECT arrayJoin(arrayConcat([${value}, ${inner}], ${parts}))))`
}

/** SQL conditions, to be joined by AND. */
export function sqlScope(scope: Scope): string[] {
  const conditions = [`(${sqlText('account')} = '${ALL}' OR account = ${sqlText('account')})`, sqlProcess()]
  if (scope === 'processes') return conditions
  const meta = sqlText('meta')
  return [...conditions, `(${meta} = '${ALL}' OR meta = if(${meta} = '${WITHOUT_META}', '', ${meta}))`]
}
