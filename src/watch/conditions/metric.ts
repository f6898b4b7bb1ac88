// `metric`: a figure of a metric over a window is above or below a number.
import type { CreateWatch } from '../../wire/watches.ts'
import type { MetricPart } from '../evaluate/watch-source.ts'
import { crosses, type MetricRule, stepMetric } from '../rules/metric.ts'
import { type Instance, keyOf, type MetricCondition } from './condition.ts'
import { spanFaults, spanUs } from './span.ts'
import { formatSpan, minute, subjectName } from './wording.ts'

type Given = NonNullable<CreateWatch['metric']>

/** How much of the past evaluations keep in memory. */
const MAX_WINDOW_US = 86_400e6

export const metric: MetricCondition<Given, MetricRule> = {
  reads: 'metrics',
  faults: ({ window, above, below, for: lasting }) => [
    ...spanFaults('/metric/window', window, MAX_WINDOW_US + 1, 'must be at most 1d'),
    ...spanFaults('/metric/for', lasting),
    ...((above === undefined) === (below === undefined)
      ? [{ pointer: '/metric', detail: 'must have either above or below' }]
      : []),
  ],
  toRule({ name, of, window, above, below, for: lasting }) {
    const [side, than] = above === undefined ? (['below', below ?? 0] as const) : (['above', above] as const)
    return { name, of, side, than, windowUs: spanUs(window), forUs: lasting === undefined ? 0 : spanUs(lasting) }
  },
  spanUs: ({ windowUs }) => windowUs,
  stampOf: ({ sinceUs }) => sinceUs,
  async judge(rule, { meta, parts, hasNews, firing, states, knownUs }) {
    const figures = new Map(
      [...Map.groupBy(parts, ({ process }) => process)].map(([process, own]) => [process, figureOf(rule, own)]),
    )
    const processes = new Set([...figures.keys(), ...firing.map(({ process }) => process), ...states.keys()])
    const instances: Omit<Instance, 'condition'>[] = []
    for (const process of processes) {
      const since = firing.find((alert) => alert.process === process)?.sinceUs
      const before = states.get(process) ?? (since === undefined ? {} : { crossedUs: since, firingUs: since })
      const figure = figures.get(process)
      const isNew = before.crossedUs === undefined && figure !== undefined && crosses(rule, figure)
      const state = stepMetric(rule, before, isNew && !(await hasNews(process)) ? undefined : figure, knownUs)
      states.set(process, state)
      const { firingUs, value } = state
      instances.push({
        key: keyOf('metric', process),
        process,
        meta: meta === '' ? null : meta,
        episodes: firingUs === undefined ? [] : [{ sinceUs: firingUs, ...(value !== undefined && { figure: value }) }],
      })
    }
    return instances
  },
  stillHolds: (rule, { episode }, _, before) =>
    rule.name === before.name &&
    rule.of === before.of &&
    rule.windowUs === before.windowUs &&
    episode?.figure !== undefined &&
    crosses(rule, episode.figure),
  summarize(subject, given, { figure = 0 }) {
    const rule = metric.toRule(given)
    // As short as it can be while it is on the same side of the limit.
    const shown = [6, 9, 12, 15].map((digits) => Number(figure.toPrecision(digits)))
    const text = shown.find((rounded) => crosses(rule, rounded) === crosses(rule, figure)) ?? figure
    const { name, of, window } = given
    return `${subjectName(subject)}: ${name} is ${rule.side} ${rule.than} (${of} of ${window}: ${text})`
  },
  summarizeEnd: (alert, untilUs) =>
    `${subjectName(alert)}: the metric is back at ${minute(untilUs)}, after ${formatSpan(untilUs - alert.sinceUs)}`,
}

/** The figure of a window's parts, which start at different times. */
function figureOf({ of }: MetricRule, parts: readonly MetricPart[]): number {
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
