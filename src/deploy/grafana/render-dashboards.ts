// Every generated file of src/deploy/grafana and its text: dashboards and alert rules, once for points in InfluxDB and once for points in ClickHouse.
import { renderAlertRules } from './alert-rules.ts'
import { createFluxQueries } from './flux-queries.ts'
import { overviewDashboard } from './overview-dashboard.ts'
import type { PointQueries } from './point-queries.ts'
import { processDashboard } from './process-dashboard.ts'
import { createSqlQueries } from './sql-queries.ts'
import { stintDashboard } from './stint-dashboard.ts'

/** By path under src/deploy/grafana. `maxRunNs` is MAX_RUN of the Stint that writes. */
export const renderDashboards = (maxRunNs: bigint): ReadonlyMap<string, string> =>
  new Map([
    ...renderFor('influxdb', createFluxQueries(maxRunNs)),
    ...renderFor('clickhouse', createSqlQueries(maxRunNs)),
  ])

function renderFor(store: string, queries: PointQueries): [path: string, text: string][] {
  const overview = overviewDashboard('stint-overview', queries)
  return [
    [`dashboards/${store}/overview.json`, toJson(overview)],
    [`dashboards/${store}/process.json`, toJson(processDashboard('stint-process', queries))],
    [`dashboards/${store}/stint.json`, toJson(stintDashboard('stint-itself'))],
    [`alerting/${store}/rules.json`, toJson(renderAlertRules(queries, overview))],
  ]
}

const toJson = (value: object): string => `${JSON.stringify(value, null, 2)}\n`
