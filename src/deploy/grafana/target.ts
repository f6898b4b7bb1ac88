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

export interface Target {
  readonly datasource: DataSource
  readonly [property: string]: unknown
}

export const fluxTarget = (query: string): Target => ({ datasource: INFLUXDB, query })

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

// Pieces of the panels' SQL. In place of bound parameters stand the macros of Grafana's ClickHouse plugin; tables are those of the data source's database.
export const FROM_NS = 'toUnixTimestamp64Nano($__fromTime_ms)'
export const TO_NS = 'toUnixTimestamp64Nano($__toTime_ms)'
export const NOW_NS = "toUnixTimestamp64Nano(now64(9, 'UTC'))"
export const EVERY_NS = '($__interval_s * 1000000000)'
export const IN_RANGE = ['at >= $__fromTime_ms', 'at < $__toTime_ms']

/** An expression in ns since the epoch as a time. */
export const toTime = (ns: string): string => `fromUnixTimestamp64Nano(toInt64(${ns}), 'UTC')`

export const series = (sql: string): Target => sqlTarget(sql, 'time series')
export const table = (sql: string): Target => sqlTarget(sql, 'table')
