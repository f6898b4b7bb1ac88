// What one condition of a watch brings along, from its part of the request to the texts of its alerts. Each file of this folder is one
// condition; conditions.ts is the table of all, which the compiler holds against the names in wire/alerts.ts.
import type { Fault } from '../../problem.ts'
import type { Condition as Name } from '../../wire/alerts.ts'
import type { Series } from '../evaluate/memory.ts'
import type { MetricPart } from '../evaluate/watch-source.ts'
import type { Episode, Judgement } from '../rules/episode.ts'
import type { MetricState } from '../rules/metric.ts'
import type { Run } from '../rules/runs.ts'

/** A subject that can fire independently, with its episodes. */
export interface Instance {
  /** The same at every evaluation. */
  readonly key: string
  readonly condition: Name
  readonly process: string
  readonly meta: string | null
  readonly episodes: readonly Episode[]
}

export const keyOf = (...parts: readonly (string | number | undefined)[]): string => JSON.stringify(parts)

/** Given: the member of the request. Rule: the same in the numbers that are judged. */
interface Texts<Given, Rule> {
  /** Fills in omitted members. */
  complete(given: Given): Given
  /** What the schema cannot express. Pointers start with the condition's name. */
  faults(given: Given, limits: { readonly maxRunUs: number }): Fault[]
  toRule(given: Given): Rule
  /** The span in which an alert is expected after its cause; watches with short spans are evaluated more often. */
  spanUs?(rule: Rule): number
  /** One line. */
  summarize(subject: Subject, given: Given, episode: Episode): string
  summarizeEnd(alert: FiredAlert, untilUs: number, episode: Episode | undefined): string
}

export interface Subject {
  readonly process: string
  readonly meta: string | null
}

export interface FiredAlert extends Subject {
  readonly sinceUs: number
  /** The start of the run that it is about. */
  readonly startedUs: number | null
}

/** The part of a watch that is judged. */
export interface WatchScope {
  readonly process: string
  readonly isPattern: boolean
  readonly meta: string | null
}

export interface KnownMarks {
  readonly marks: Judgement
  /** May be further behind; absent: unknown. */
  readonly exceptions: Judgement | undefined
  /** Episodes that ended before do not matter. */
  readonly floorUs: number
}

export interface MarksView {
  readonly scope: WatchScope
  /** The series of the scope. */
  readonly own: readonly Series[]
  readonly known: KnownMarks
  runsOf(series: Series, knownUs: number): readonly Run[]
}

export interface MarkCondition<Given, Rule> extends Texts<Given, Rule> {
  readonly reads: 'marks'
  /** Exceptions are read, too. */
  readonly readsExceptions?: true
  /** Something is missing without which it would be judged wrongly: its alerts stay as they are. */
  isUnknown?(rule: Rule, missing: { readonly hasExceptions: boolean; readonly hasSilentNodes: boolean }): boolean
  /** An episode that has ended is still reported if its events arrive within this time; 10 minutes when absent. */
  readonly reportedWithinUs?: number
  judge(rule: Rule, view: MarksView): Omit<Instance, 'condition'>[]
}

export interface MetricsView {
  readonly meta: string | null
  /** The parts of the window, of the scope's processes and the rule's metric. */
  readonly parts: readonly MetricPart[]
  readonly firing: readonly FiredAlert[]
  /** By process; kept and changed between evaluations. */
  readonly states: Map<string, MetricState>
  readonly knownUs: number
}

export interface MetricCondition<Given, Rule extends MetricsAsked> extends Texts<Given, Rule> {
  readonly reads: 'metrics'
  judge(rule: Rule, view: MetricsView): Omit<Instance, 'condition'>[]
}

/** Conditions with the same window share a question to the store. */
export interface MetricsAsked {
  readonly name: string
  readonly windowUs: number
}
