// Judges one watch by a known history → its instances (the subjects that can fire independently) with their episodes.
import type { Instance, KnownMarks, WatchScope } from '../conditions/condition.ts'
import { CONDITIONS, type ConditionRules, ruled } from '../conditions/conditions.ts'
import { findRuns, type Run } from '../rules/runs.ts'
import type { Series } from './memory.ts'

/** The part of a watch that is judged by marks. */
export interface WatchView {
  readonly process: string
  readonly isPattern: boolean
  readonly meta: string | null
  readonly rules: ConditionRules & { matches(process: string): boolean }
}

/** All conditions that read marks. */
export function judgeMarks(watch: WatchView, series: Iterable<Series>, known: KnownMarks): Instance[] {
  const { process, isPattern, meta, rules } = watch
  const own = [...series].filter((it) => rules.matches(it.process) && (meta === null || it.meta === meta))
  const scope: WatchScope = { process, isPattern, meta }
  const view = { scope, own, known, runsOf: rememberRuns(known.marks.maxRunUs) }
  return ruled(rules).flatMap(([condition, rule]) => {
    const entry = CONDITIONS[condition]
    return entry.reads === 'marks' ? entry.judge(rule, view).map((found) => ({ ...found, condition })) : []
  })
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
