// Judges the conditions of an account that read metrics. Watches with the same window share one question to the store.
import type { Instance, MetricsAsked } from '../conditions/condition.ts'
import { keyOf } from '../conditions/condition.ts'
import { CONDITIONS, ruled } from '../conditions/conditions.ts'
import type { MetricState } from '../rules/metric.ts'
import type { Judged } from './judge-watch.ts'
import { type Moment, type ReadyWatch, sinceOf } from './moment.ts'
import type { MetricPart, WatchSource } from './watch-source.ts'

/** Rejects when the store does not answer. */
export type MetricJudge = (one: ReadyWatch, moment: Moment) => Promise<Judged>

/** The states of one account between evaluations, by watch and condition; those of what it was before do not count. */
export type MetricStates = Map<string, { readonly of: string; readonly byProcess: Map<string, MetricState> }>

interface Asked {
  readonly one: ReadyWatch
  readonly rule: MetricsAsked
}

/** For one evaluation; changes the states. `watches`: all watches that read metrics. */
export function createMetricJudge(
  source: WatchSource,
  account: string,
  watches: readonly ReadyWatch[],
  states: MetricStates,
): MetricJudge {
  const answers = new Map<string, Promise<MetricPart[]>>()
  const groups = Map.groupBy(watches.flatMap(askedBy), groupOf)

  function ask(asked: Asked, { pointsKnownUs }: Moment): Promise<MetricPart[]> {
    const group = groupOf(asked)
    const known = answers.get(group)
    if (known !== undefined) return known
    const same = groups.get(group) ?? [asked]
    const answer = askStore(same, pointsKnownUs - asked.rule.windowUs, pointsKnownUs)
    answers.set(group, answer)
    return answer
  }

  /** `same` have their meta in common. */
  function askStore(same: readonly Asked[], fromUs: number, toUs: number): Promise<MetricPart[]> {
    const { meta } = same[0]!.one.watch.spec
    const processes = same.map(({ one: { watch } }) => watch.spec.process)
    const process = only(processes.map((name) => (name.includes('*') ? undefined : name)))
    const name = only(same.map(({ rule }) => rule.name))
    return source.aggregateMetrics({
      ...{ account, fromUs, toUs },
      ...(meta !== null && { meta }),
      ...(process !== undefined && { process }),
      ...(name !== undefined && { name }),
    })
  }

  return async (one, moment) => {
    const { rules, watch, alerts } = one
    const instances: Instance[] = []
    for (const [condition, rule] of ruled(rules)) {
      const entry = CONDITIONS[condition]
      if (entry.reads !== 'metrics') continue
      const asked = rule as MetricsAsked
      const isOwn = ({ name, process }: MetricPart) => name === asked.name && rules.matches(process)
      const parts = (await ask({ one, rule: asked }, moment)).filter(isOwn)
      const { pointsKnownUs } = moment
      const sinceUs = sinceOf(one, moment, condition)
      let news: Promise<MetricPart[]> | undefined
      const askNews = async () => {
        if (sinceUs <= pointsKnownUs - asked.windowUs) return parts
        if (sinceUs >= pointsKnownUs) return []
        return (await askStore([{ one, rule: asked }], sinceUs, pointsKnownUs)).filter(isOwn)
      }
      const hasNews = async (process: string) => {
        news ??= askNews()
        return (await news).some((it) => it.process === process)
      }
      const key = keyOf(watch.id, condition)
      const known = states.get(key)
      const { process, meta } = watch.spec
      const of = keyOf(process, meta ?? undefined, watch.changed[condition])
      const own = known?.of === of ? known.byProcess : new Map<string, MetricState>()
      states.set(key, { of, byProcess: own })
      const found = await entry.judge(asked, {
        meta,
        parts,
        hasNews,
        firing: alerts.filter((alert) => alert.condition === condition && alert.resolvedUs === null),
        states: own,
        knownUs: pointsKnownUs,
      })
      instances.push(...found.map((it) => ({ ...it, condition })))
    }
    // a metric whose figure is in range has an instance without an episode
    const isInRange = (alert: Pick<Instance, 'condition' | 'process'>) =>
      instances.find((it) => it.condition === alert.condition && it.process === alert.process)?.episodes.length === 0
    return { instances, endOf: (alert) => (isInRange(alert) ? moment.pointsKnownUs : undefined) }
  }
}

const askedBy = (one: ReadyWatch): Asked[] =>
  ruled(one.rules).flatMap(([name, rule]) =>
    CONDITIONS[name].reads === 'metrics' ? [{ one, rule: rule as MetricsAsked }] : [],
  )

const groupOf = ({ one, rule }: Asked): string => keyOf(rule.windowUs, one.watch.spec.meta ?? undefined)

/** The value that all have in common, if any. */
function only(values: readonly (string | undefined)[]): string | undefined {
  return values.every((value) => value === values[0]) ? values[0] : undefined
}
