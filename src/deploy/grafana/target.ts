// One query of a panel, and where it is asked. The uids are those of provisioning/datasources/stint.yaml.

export interface DataSource {
  readonly type: string
  readonly uid: string
}

export const INFLUXDB: DataSource = { type: 'influxdb', uid: 'stint-influxdb' }
export const CLICKHOUSE: DataSource = { type: 'grafana-clickhouse-datasource', uid: 'stint-clickhouse' }
export const PROMETHEUS: DataSource = { type: 'prometheus', uid: 'stint-prometheus' }

/** The version of the plugin that docker-compose.yml installs. */
const CLICKHOUSE_PLUGIN = '4.14.0'

export interface Target {
  readonly datasource: DataSource
  readonly [property: string]: unknown
}

export const fluxTarget = (query: string): Target => ({ datasource: INFLUXDB, query })

/** `time series`: columns time, label and value, in order of time. */
export const sqlTarget = (rawSql: string, form: 'table' | 'time series'): Target => ({
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
