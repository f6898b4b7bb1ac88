// `metric`: the figure of the window, judged with each point. `for` counts from the first point across. Without points
// nothing changes, so what was across stays across.

import { crosses, type MetricRule } from '../conditions/metric-rule.ts'
import { type Desk, factsOf } from './desk.ts'
import { keyOf } from './firing.ts'
import { figureOf, foldPoint } from './gauge.ts'
import { identityOf, noteSeen } from './seen.ts'
import { type MetricSubject, sinceOf } from './subjects.ts'

const instanceOfMetric = (process: string): string => keyOf('metric', process)

interface Reading {
  readonly value: number
  readonly atUs: number
  readonly arrivedUs: number
  /** See Point. */
  readonly id: number | undefined
}

export function notePoint(
  desk: Desk,
  subject: MetricSubject,
  rule: MetricRule,
  { value, atUs, arrivedUs, id }: Reading,
): void {
  const { watch, account, process, gauge } = subject
  if (id !== undefined) {
    gauge.seen ??= []
    if (noteSeen(gauge.seen, identityOf(id, `${id} ${value}`))) return
  }
  desk.touchMetric(subject)
  foldPoint(rule, gauge, value, atUs, arrivedUs)
  const instance = instanceOfMetric(process)
  const figure = figureOf(rule, gauge, arrivedUs)
  if (figure === undefined) return
  gauge.figure = figure
  if (!crosses(rule, figure)) {
    gauge.crossedUs = null
    const alert = desk.firing.find(watch.id, instance)
    if (alert !== undefined)
      desk.firing.end(account.name, alert, factsOf(account, process, watch.meta), { atUs, ended: { figure } })
    return
  }
  const sinceUs = sinceOf(account, watch, 'metric', instance)
  // a change, a resumption or an end by hand needs a new point
  if (atUs <= sinceUs) return
  if (gauge.crossedUs === null || gauge.crossedUs <= sinceUs) {
    gauge.crossedUs = arrivedUs
    gauge.crossedAtUs = atUs
  }
  judgeMetric(desk, subject, arrivedUs)
}

/** Fires when it has been across for long enough. */
export function judgeMetric(desk: Desk, subject: MetricSubject, us: number): void {
  const { watch, account, process, gauge } = subject
  const rule = watch.rules.metric
  if (subject.plannedUs <= us) subject.plannedUs = Number.POSITIVE_INFINITY
  if (rule === undefined || gauge.crossedUs === null || subject.isGone) return
  const instance = instanceOfMetric(process)
  if (gauge.crossedUs <= sinceOf(account, watch, 'metric', instance)) return
  if (desk.firing.find(watch.id, instance) !== undefined) return
  const sinceUs = gauge.crossedUs + rule.forUs
  if (sinceUs > us) {
    if (sinceUs >= subject.plannedUs) return
    subject.plannedUs = sinceUs
    desk.heap.push(sinceUs, { kind: 'for', subject })
    return
  }
  const alert = { watch: watch.id, condition: 'metric', instance, process, meta: watch.meta } as const
  const identity = keyOf(instance, sinceUs)
  const episode = { sinceUs: (gauge.crossedAtUs ?? gauge.crossedUs) + rule.forUs, figure: gauge.figure }
  desk.firing.open(account.name, { ...alert, identity, episode }, factsOf(account, process, watch.meta))
}
