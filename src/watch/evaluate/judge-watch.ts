// Judges a watch by a known history → its instances (subjects that fire independently), their episodes, alert ends.
import type { Condition } from '../../wire/conditions.ts'
import type { FiredAlert, Instance, MarksView } from '../conditions/condition.ts'
import { CONDITIONS, ruled } from '../conditions/conditions.ts'
import { isPattern } from '../process-pattern.ts'
import { findRuns, type Run } from '../rules/runs.ts'
import type { Memory, Series } from './memory.ts'
import { byHandOf, floorOf, type Moment, type ReadyWatch, sinceOf } from './moment.ts'

export interface Judged {
  readonly instances: readonly Instance[]
  /** The time of the event that ends an alert; undefined until it happens. */
  endOf(alert: FiredAlert & { readonly condition: Condition }): number | undefined
}

/** All conditions that read marks. A condition that was changed counts from then on. */
export function judgeMarks(one: ReadyWatch, memory: Memory, moment: Moment, hasExceptions: boolean): Judged {
  const { rules } = one
  const { process, meta } = one.watch.spec
  const { pointsKnownUs, exceptionsKnownUs, maxRunUs, blind } = moment
  const all = isPattern(process) ? memory.series() : memory.seriesOf(process)
  const own = [...all].filter((it) => rules.matches(it.process) && (meta === null || it.meta === meta))
  const same = {
    ...{ scope: { process, isPattern: isPattern(process), meta }, own },
    ...{ runsOf: rememberRuns(maxRunUs), endedByHand: byHandOf(one, moment) },
  }
  const viewOf = (condition: Condition): MarksView => {
    const [sinceUs, countsFromUs] = [sinceOf(one, moment, condition), sinceOf(one, moment)]
    const marks = { knownUs: pointsKnownUs, sinceUs, countsFromUs, maxRunUs, blind }
    const exceptions = hasExceptions ? { ...marks, knownUs: Math.min(pointsKnownUs, exceptionsKnownUs) } : undefined
    return { ...same, known: { marks, exceptions, floorUs: floorOf(one, moment) } }
  }
  return {
    instances: ruled(rules).flatMap(([condition, rule]) => {
      const entry = CONDITIONS[condition]
      if (entry.reads !== 'marks') return []
      return entry.judge(rule, viewOf(condition)).map((found) => ({ ...found, condition }))
    }),
    endOf(alert) {
      const { condition } = alert
      const entry = CONDITIONS[condition]
      if (entry.reads !== 'marks' || rules[condition] === undefined) return undefined
      const ofProcess = own.filter((it) => it.process === alert.process)
      const ofAlert = condition === 'late' ? ofProcess : ofProcess.filter((it) => it.meta === (alert.meta ?? ''))
      return entry.endOf(rules[condition], alert, ofAlert, viewOf(condition))
    },
  }
}

/** Pairs the marks of a series once for all conditions. */
function rememberRuns(maxRunUs: number) {
  const found = new Map<Series, Map<number, readonly Run[]>>()
  return (series: Series, knownUs: number): readonly Run[] => {
    const own = found.get(series) ?? new Map<number, readonly Run[]>()
    found.set(series, own)
    const runs = own.get(knownUs) ?? findRuns(series.marks, knownUs, maxRunUs)
    own.set(knownUs, runs)
    return runs
  }
}
