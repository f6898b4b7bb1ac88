// `bun run dashboards [--max-run 24h]`: writes the generated files. They are committed; dashboards.test.ts checks.
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
 * The alert rules, and the dashboards for points in InfluxDB and in ClickHouse: texts by path under src/deploy/grafana.
 * `maxRunNs` is MAX_RUN of the Stint that writes.
 */
export const renderDashboards = (maxRunNs: bigint): ReadonlyMap<string, string> =>
  new Map([
    ...renderFor('influxdb', createFluxQueries(maxRunNs)),
    ...renderFor('clickhouse', createSqlQueries(maxRunNs)),
    ['alerting/rules.json', toJson(renderAlertRules(overviewOf(createSqlQueries(maxRunNs))))],
  ])

const overviewOf = (queries: PointQueries) => overviewDashboard('stint-overview', queries)

function renderFor(store: string, queries: PointQueries): [path: string, text: string][] {
  return [
    [`dashboards/${store}/overview.json`, toJson(overviewOf(queries))],
    [`dashboards/${store}/process.json`, toJson(processDashboard('stint-process', queries))],
    [`dashboards/${store}/stint.json`, toJson(stintDashboard('stint-itself'))],
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
