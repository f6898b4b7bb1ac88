// The alert rules for a Prometheus of your own say what Grafana's say.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { YAML } from 'bun'
import { missing } from '../support/needs.ts'
import { ROOT, readRepo } from '../support/readme.ts'

const RULES = 'src/deploy/prometheus-stint-rules.yml'

interface GrafanaRule {
  readonly for?: string
  readonly labels: { readonly severity: string }
  readonly data: readonly { readonly model: { readonly expr?: string; readonly conditions?: readonly Condition[] } }[]
}
interface Condition {
  readonly evaluator: { readonly params: readonly [number] }
}

test('the eight rules of Grafana are those of Prometheus', () => {
  const grafana: readonly GrafanaRule[] = JSON.parse(readRepo('src/deploy/grafana/alerting/rules.json')).groups.flatMap(
    ({ rules }: { rules: readonly GrafanaRule[] }) => rules,
  )
  const { groups } = YAML.parse(readRepo(RULES)) as {
    groups: { rules: { expr: string; for?: string; labels: { severity: string } }[] }[]
  }
  const expected = grafana.map(({ data, labels, for: wait = '0s' }) => ({
    expr: `(${data.find(({ model }) => model.expr)!.model.expr}) > ${data.find(({ model }) => model.conditions)!.model.conditions![0]!.evaluator.params[0]}`,
    ...{ for: wait, severity: labels.severity },
  }))
  expect(expected).toHaveLength(8)
  expect(groups[0]!.rules.map(({ expr, for: wait = '0s', labels }) => ({ expr, for: wait, ...labels }))).toEqual(
    expected,
  )
})

test.skipIf(missing('prometheus') !== undefined)('promtool accepts them', () => {
  const { exitCode, stderr } = Bun.spawnSync(['promtool', 'check', 'rules', join(ROOT, RULES)])
  expect([exitCode, stderr.toString()]).toEqual([0, ''])
})
