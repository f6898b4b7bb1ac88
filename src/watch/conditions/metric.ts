// `metric`: a figure of a metric over a window is above or below a number.

import { spanUs } from '../../process/span.ts'
import type { CreateWatch } from '../../wire/watches.ts'
import type { ConditionOf } from './condition.ts'
import { crosses, type MetricRule } from './metric-rule.ts'
import { spanFaults } from './span-faults.ts'
import { formatSpan, minute, subjectName } from './wording.ts'

type Given = NonNullable<CreateWatch['metric']>

/** A gauge has sixty parts, whatever its window is; longer ones say little about now. */
const MAX_WINDOW_US = 86_400e6

export const metric: ConditionOf<Given, MetricRule> = {
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
  summarizeEnd: (alert, untilUs, _, given) =>
    `${subjectName(alert)}: ${given?.name ?? 'the metric'} is back in range at ${minute(untilUs)}, ` +
    `after ${formatSpan(untilUs - alert.sinceUs)}`,
}
