// Judges a watch by a known history → its instances (subjects that fire independently), their episodes, alert ends.
import type { Condition } from '../../wire/conditions.ts'
import type { ByHand, FiredAlert, Instance, KnownMarks, MarksView } from '../conditions/condition.ts'
import { CONDITIONS, type ConditionRules, ruled } from '../conditions/conditions.ts'
import { findRuns, type Run } from '../rules/runs.ts'
import type { Series } from './memory.ts'

/** The part of a watch that is judged by marks. */
export interface WatchView {
  readonly process: string
  readonly isPattern: boolean
  readonly meta: string | null
  readonly rules: ConditionRules & { matches(process: string): boolean }
  endedByHand?(key: string): ByHand | undefined
}

export interface Judged {
  readonly instances: readonly Instance[]
  /** The time of the event that ends an alert; undefined until it happens. */
  endOf(alert: FiredAlert & { readonly condition: Condition }): number | undefined
}

/** All conditions that read marks. `knownFor`: a condition that was changed counts from then on. */
export function judgeMarks(
  watch: WatchView,
  series: Iterable<Series>,
  knownFor: (condition: Condition) => KnownMarks,
  maxRunUs: number,
): Judged {
  const { process, isPattern, meta, rules, endedByHand = () => undefined } = watch
  const own = [...series].filter((it) => rules.matches(it.process) && (meta === null || it.meta === meta))
  const runsOf = rememberRuns(maxRunUs)
  const scope = { process, isPattern, meta }
  const viewOf = (condition: Condition): MarksView => ({ scope, own, known: knownFor(condition), runsOf, endedByHand })
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
