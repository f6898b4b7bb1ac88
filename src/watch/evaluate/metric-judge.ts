// Judges the `metric` conditions of an account. Watches with the same window share one question to the store.
import { type MetricState, stepMetric } from '../rules/metric.ts'
import type { WatchRules } from '../watch.ts'
import { type Instance, keyOf } from './judge-watch.ts'
import type { Moment, ReadyWatch } from './moment.ts'
import type { MetricPart, WatchSource } from './watch-source.ts'

/** Rejects when the store does not answer. */
export type MetricJudge = (one: ReadyWatch, moment: Moment) => Promise<Instance[]>

/** The states of one account between evaluations, by watch and process. */
export type MetricStates = Map<string, Map<string, MetricState>>

/** For one evaluation; changes the states. `watches`: all watches with a metric. */
export function createMetricJudge(
  source: WatchSource,
  account: string,
  watches: readonly ReadyWatch[],
  states: MetricStates,
): MetricJudge {
  const answers = new Map<string, Promise<MetricPart[]>>()
  const groups = Map.groupBy(watches, groupOf)

  function ask(one: ReadyWatch, { pointsKnownUs }: Moment): Promise<MetricPart[]> {
    const group = groupOf(one)
    const known = answers.get(group)
    if (known !== undefined) return known
    const same = groups.get(group) ?? [one]
    const { meta } = one.watch.spec
    const process = only(same.map(({ watch }) => (watch.spec.process.includes('*') ? undefined : watch.spec.process)))
    const name = only(same.map(({ rules }) => rules.metric?.name))
    const answer = source.aggregateMetrics({
      account,
      fromUs: pointsKnownUs - one.rules.metric!.windowUs,
      toUs: pointsKnownUs,
      ...(meta !== null && { meta }),
      ...(process !== undefined && { process }),
      ...(name !== undefined && { name }),
    })
    answers.set(group, answer)
    return answer
  }

  return async (one, moment) => {
    const { rules, watch, alerts } = one
    const rule = rules.metric!
    const parts = (await ask(one, moment)).filter(({ name, process }) => name === rule.name && rules.matches(process))
    const figures = new Map(
      [...Map.groupBy(parts, ({ process }) => process)].map(([p, own]) => [p, figureOf(rule, own)]),
    )
    const firing = alerts.filter(({ condition, resolvedUs }) => condition === 'metric' && resolvedUs === null)
    const own = states.get(watch.id) ?? new Map<string, MetricState>()
    states.set(watch.id, own)
    const processes = new Set([...figures.keys(), ...firing.map(({ process }) => process), ...own.keys()])
    return [...processes].map((process): Instance => {
      const since = firing.find((alert) => alert.process === process)?.sinceUs
      const before = own.get(process) ?? (since === undefined ? {} : { crossedUs: since, firingUs: since })
      const state = stepMetric(rule, before, figures.get(process), moment.pointsKnownUs)
      own.set(process, state)
      const { firingUs, value } = state
      return {
        key: keyOf('metric', process),
        condition: 'metric',
        process,
        meta: watch.spec.meta === '' ? null : watch.spec.meta,
        episodes: firingUs === undefined ? [] : [{ sinceUs: firingUs, ...(value !== undefined && { figure: value }) }],
      }
    })
  }
}

const groupOf = ({ watch, rules }: ReadyWatch): string => keyOf(rules.metric!.windowUs, watch.spec.meta ?? undefined)

/** The value that all have in common, if any. */
function only(values: readonly (string | undefined)[]): string | undefined {
  return values.every((value) => value === values[0]) ? values[0] : undefined
}

/** The figure of a window's parts, which start at different times. */
function figureOf({ of }: NonNullable<WatchRules['metric']>, parts: readonly MetricPart[]): number {
  switch (of) {
    case 'last':
      return parts.reduce((newest, part) => (part.atUs > newest.atUs ? part : newest)).last
    case 'min':
      return Math.min(...parts.map(({ min }) => min))
    case 'max':
      return Math.max(...parts.map(({ max }) => max))
    case 'mean': {
      const count = parts.reduce((sum, part) => sum + part.count, 0)
      return parts.reduce((sum, part) => sum + part.mean * (part.count / count), 0)
    }
    default:
      return of satisfies never
  }
}
