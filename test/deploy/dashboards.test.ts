// The dashboards and alert rules of src/deploy/grafana name data sources, metrics and labels that exist.
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parser } from '@prometheus-io/lezer-promql'
import { Glob, YAML } from 'bun'
import { readConfig } from '../../src/config.ts'
import { createMetrics } from '../../src/metrics.ts'
import { problemTable } from '../../src/problem.ts'
import { fluxExpression } from '../../src/store/influx/client.ts'
import { classifyMarks, pairNeighbours } from '../store/influx/flux-pairing.ts'
import { sectionUnder } from '../support/readme.ts'

const GRAFANA = join(import.meta.dir, '../../src/deploy/grafana')
const read = (path: string) => readFileSync(join(GRAFANA, path), 'utf8')
const files = [...new Glob('{dashboards,alerting}/**/*.json').scanSync(GRAFANA)].sort()

const dashboardsThatPair = files.filter((name) => /overview|process/.test(name))
const MAX_RUN = '$' + '{max_run_ns}'

describe('a dashboard that pairs marks', () => {
  test.each(dashboardsThatPair)('%s has the default MAX_RUN in one constant', (file) => {
    const ns = String(readConfig({}).maxRunUs * 1000)
    const { panels, templating } = JSON.parse(read(file))
    const constant = templating.list.find(({ name }: { name: string }) => name === 'max_run_ns')
    expect([constant.type, constant.query, constant.current.value]).toEqual(['constant', ns, ns])
    expect(JSON.stringify(panels)).toContain(MAX_RUN)
    expect(JSON.stringify(panels)).not.toContain(ns)
  })

  test('pairs in the Flux that the contract of pairing proves equal to the rule', () => {
    const now = '$' + '{now}'
    const maxRun = fluxExpression(MAX_RUN)
    const proved = [pairNeighbours(false), classifyMarks(maxRun, fluxExpression(`(${now} - ${MAX_RUN})`))]
    const queries = dashboardsThatPair
      .flatMap((file) =>
        JSON.parse(read(file)).panels.flatMap(({ targets }: { targets: { query?: string }[] }) => targets),
      )
      .flatMap(({ query }) => (query?.includes('difference(columns: ["before"') ? [query] : []))
    expect(queries.length).toBe(3)
    for (const query of queries.filter((text) => text.includes(now)))
      for (const piece of proved) expect(query).toContain(String(piece))
  })
})

const datasources = (YAML.parse(read('provisioning/datasources/stint.yaml')) as { datasources: DataSource[] })
  .datasources

interface DataSource {
  readonly uid: string
  readonly type: string
}

/** Every object of a JSON document. */
function* objectsOf(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield value as Record<string, unknown>
  for (const member of Object.values(value)) yield* objectsOf(member)
}

const objects = files.flatMap((file) => [...objectsOf(JSON.parse(read(file)))])

test('every queried data source is provisioned', () => {
  const known = datasources.map(({ type, uid }) => ({ type, uid }))
  const builtIn = [{ type: 'datasource', uid: '-- Mixed --' }, { type: 'datasource', uid: '-- Dashboard --' }, { type: '__expr__', uid: '__expr__' }, { type: 'grafana', uid: '-- Grafana --' }] // biome-ignore format: short
  const asked = objects.flatMap(({ datasource }) => (datasource === undefined ? [] : [datasource]))
  expect(asked.length).toBeGreaterThan(50)
  for (const datasource of asked) expect([...known, ...builtIn]).toContainEqual(datasource as DataSource)
  for (const { datasourceUid } of objects)
    if (datasourceUid !== undefined)
      expect([...known, ...builtIn].map(({ uid }) => uid)).toContain(datasourceUid as string)
})

describe('the queries to Prometheus', () => {
  const exprs = [...new Set(objects.flatMap(({ expr }) => (typeof expr === 'string' ? [expr] : [])))]
  const plain = (expr: string) => expr.replaceAll('$__rate_interval', '1m')

  /** Names and labels that Stint's own registry has, and `up`, which is Prometheus' own; a histogram has three names and `le`. */
  async function readMetrics(): Promise<Map<string, Set<string>>> {
    const { registry } = createMetrics()
    const known = new Map<string, Set<string>>([
      ['up', new Set()],
      // of /api/prometheus
      ['stint_alert_firing', new Set(['watch', 'condition', 'process'])],
      ['stint_runs_24h', new Set(['process', 'meta', 'state'])],
    ])
    for (const metric of await registry.getMetricsAsArray()) {
      const { labelNames = [], name, type } = metric as unknown as { labelNames?: string[]; name: string; type: string }
      const names = type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name]
      for (const each of names) known.set(each, new Set([...labelNames, ...(each.endsWith('_bucket') ? ['le'] : [])]))
    }
    for (const labels of known.values()) for (const ofTarget of ['job', 'instance']) labels.add(ofTarget)
    return known
  }

  const nodes = (expr: string, type: string): string[] => {
    const found: string[] = []
    parser.parse(expr).iterate({
      enter: (node) => {
        if (node.name === type) found.push(expr.slice(node.from, node.to))
      },
    })
    return found
  }

  test.each(exprs)('%s', async (text) => {
    const expr = plain(text)
    let faults = 0
    parser.parse(expr).iterate({
      enter: (node) => {
        if (node.type.isError) faults++
      },
    })
    expect(faults).toBe(0)

    const known = await readMetrics()
    const [name, ...others] = new Set(nodes(expr, 'Identifier').filter((identifier) => known.has(identifier)))
    expect(others).toEqual([])
    expect(name).toBeDefined()
    for (const label of nodes(expr, 'LabelName')) expect([...known.get(name!)!]).toContain(label)
  })

  test('legends name labels that the query keeps', () => {
    const targets = objects.filter(
      ({ expr, legendFormat }) => typeof expr === 'string' && typeof legendFormat === 'string',
    )
    expect(targets.length).toBeGreaterThan(20)
    for (const { expr, legendFormat } of targets)
      for (const [, label] of (legendFormat as string).matchAll(/\{\{(\w+)\}\}/g))
        expect(nodes(plain(expr as string), 'GroupingLabels').join(' ')).toContain(label!)
  })
})

describe('the alert rules', () => {
  const { groups } = JSON.parse(read('alerting/rules.json'))
  const rules = groups.flatMap(({ rules }: { rules: object[] }) => rules)
  const ruleOf = (uid: string) => rules.filter((rule: { uid: string }) => rule.uid === uid)

  test('are the eight that operators need', () => {
    expect(rules.map(({ uid }: { uid: string }) => uid)).toEqual([
      'stint-watch-firing',
      'stint-runs-never-end',
      'stint-watches-unread',
      'stint-away',
      'stint-refuses',
      'stint-dead-letters',
      'stint-destination-parked',
      'stint-spool-old',
    ])
  })

  test('contain no dollar sign, which Grafana would expand as an environment variable', () => {
    expect(JSON.stringify(rules)).not.toContain('$')
  })

  test('leave the judgement of jobs to watches, and ask no store', () => {
    for (const { data } of rules) expect(data[0].datasourceUid).toBe('stint-prometheus')
  })

  test('about watches show their states on a panel of either overview', () => {
    const [{ dashboardUid, panelId }] = ruleOf('stint-watch-firing')
    for (const store of ['influxdb', 'clickhouse']) {
      const { uid, panels } = JSON.parse(read(`dashboards/${store}/overview.json`))
      const { title } = panels.find(({ id }: { id: number }) => id === panelId)
      expect([uid, title]).toEqual([dashboardUid, 'Processes'])
    }
  })

  test('judge the last value of what they ask', () => {
    for (const { condition, data } of rules) {
      const [query, reduce, threshold] = data
      expect(condition).toBe(threshold.refId)
      expect(reduce.model).toMatchObject({ type: 'reduce', expression: query.refId, reducer: 'last' })
      expect(threshold.model).toMatchObject({ type: 'threshold', expression: reduce.refId })
      expect(threshold.model.conditions[0].evaluator).toMatchObject({ type: 'gt', params: [expect.any(Number)] })
    }
  })

  test('report a missing Stint, the only rule that fires without data', () => {
    const { scrape_configs } = YAML.parse(readFileSync(join(GRAFANA, '../prometheus.yml'), 'utf8')) as {
      scrape_configs: { job_name: string }[]
    }
    const [job] = scrape_configs.map(({ job_name }) => job_name)
    const away = ruleOf('stint-away')
    expect(away).toHaveLength(1)
    for (const { data, noDataState, for: holdsFor, annotations } of away) {
      // `bool`: without it there would be no data, hence an alert, while all is well.
      expect(data[0].model.expr).toBe(`max by (instance) (up{job="${job}"} < bool 1)`)
      expect({ noDataState, holdsFor }).toEqual({ noDataState: 'Alerting', holdsFor: '120s' })
      expect(JSON.stringify(annotations)).not.toContain('{{') // no data, no labels
    }
    const others = rules.filter((rule: object) => !away.includes(rule))
    expect(new Set(others.map(({ noDataState }: { noDataState: string }) => noDataState))).toEqual(new Set(['OK']))
  })

  test('fire for a Stint that cannot store events, not for clients that send invalid events or too many', () => {
    const refuses = ruleOf('stint-refuses')
    expect(refuses).toHaveLength(1)
    for (const { data } of refuses) {
      const reasons = /reason=~"([^"]+)"/.exec(data[0].model.expr)![1]!.split('|')
      expect(reasons.sort()).toEqual(['disk_failed', 'disk_low', 'spool_full'])
      for (const reason of reasons) expect(Object.keys(problemTable)).toContain(reason)
    }
  })

  test('are in the README with the metric they query', () => {
    const table = sectionUnder('src/deploy/README.md', 'Alerts')
    for (const { data } of rules) {
      const { expr } = data[0].model
      const named = expr.match(/\b(up|stint_\w+|spool_full|disk_low|disk_failed)\b/g)!
      for (const name of named) expect(table).toContain(`\`${name}\``)
    }
  })
})
