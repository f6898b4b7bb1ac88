// `bun run dashboards [--max-run 24h]`: writes the generated files. They are committed; test/deploy/dashboards.test.ts fails when they are stale.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { readConfig } from '../../config.ts'
import { renderAlertRules } from './alert-rules.ts'
import { createFluxQueries } from './flux-queries.ts'
import { overviewDashboard } from './overview-dashboard.ts'
import type { PointQueries } from './point-queries.ts'
import { processDashboard } from './process-dashboard.ts'
import { createSqlQueries } from './sql-queries.ts'
import { stintDashboard } from './stint-dashboard.ts'

/**
 * Dashboards and alert rules, once for points in InfluxDB and once for points in ClickHouse: texts by path under src/deploy/grafana. `maxRunNs` is MAX_RUN of the
 * Stint that writes.
 */
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

if (import.meta.main) {
  const { values } = parseArgs({ options: { 'max-run': { type: 'string' } } })
  const { maxRunUs } = readConfig(values['max-run'] === undefined ? {} : { MAX_RUN: values['max-run'] })

  for (const [name, text] of renderDashboards(BigInt(maxRunUs) * 1000n)) {
    const path = join(import.meta.dir, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
}
