// One condition of a watch, from its part of the request to the texts of its alerts. Each file of this folder is one
// condition; conditions.ts is the table of all, which the compiler compares with the names in wire/alerts.ts.
import type { Fault } from '../../problem.ts'
import type { Condition as Name } from '../../wire/conditions.ts'
import type { Series } from '../evaluate/memory.ts'
import type { MetricPart } from '../evaluate/watch-source.ts'
import type { Episode } from '../log/episode.ts'
import type { Blind, Judgement } from '../rules/episode.ts'
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
  /** A check that cannot be judged, from its limit on; absent, or in the future, if every due time is judged. */
  readonly unjudged?: { readonly sinceUs: number; readonly untilUs: number; readonly blind: Blind } | undefined
}

export const keyOf = (...parts: readonly (string | number | undefined)[]): string => JSON.stringify(parts)

/** Given: the member of the request. Rule: the same in the numbers that are judged. */
interface Texts<Given, Rule> {
  /** Fills in omitted members. */
  complete?(given: Given): Given
  /** What the schema cannot express. Pointers start with the condition's name. */
  faults?(given: Given, limits: { readonly maxRunUs: number }): Fault[]
  toRule(given: Given): Rule
  /** The span in which an alert is expected after its cause; watches with short spans are evaluated more often. */
  spanUs?(rule: Rule): number
  /** Between two starts; an alert does not expire within twice this time. */
  intervalUs?(rule: Rule, fromUs: number): number
  /** Without these it would be judged wrongly, so its alerts stay as they are; `starts`: all that nodes hold. */
  needs?(rule: Rule): readonly ('exceptions' | 'starts')[]
  /** Identifies an episode within its instance. */
  stampOf(episode: Episode): string | number
  /** Whether an alert fires by the changed rule as well. */
  stillHolds(rule: Rule, alert: FiredAlert, nowUs: number, before: Rule): boolean
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
  /** The run that it is about. */
  readonly uid: string | null
  readonly startedUs: number | null
  /** Null for alerts of earlier versions. */
  readonly episode: Episode | null
}

/** The part of a watch that is judged. */
export interface WatchScope {
  readonly process: string
  readonly isPattern: boolean
  readonly meta: string | null
}

/** How the last alert of an instance ended without an event of its own. */
export interface ByHand {
  readonly atUs: number
  /** Only a later start makes it fire again. */
  readonly isExpired: boolean
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
  endedByHand(key: string): ByHand | undefined
}

/** The judgement of an instance: what a person resolved does not count again. */
export function judgementOf(view: MarksView, key: string, judgement = view.known.marks): Judgement {
  const atUs = view.endedByHand(key)?.atUs ?? Number.NEGATIVE_INFINITY
  const { sinceUs, countsFromUs = sinceUs } = judgement
  return { ...judgement, sinceUs: Math.max(sinceUs, atUs), countsFromUs: Math.max(countsFromUs, atUs) }
}

export interface MarkCondition<Given, Rule> extends Texts<Given, Rule> {
  readonly reads: 'marks'
  /** Exceptions are read, too. */
  readonly readsExceptions?: true
  /** An episode that has ended is still reported if its events arrive within this time; 10 minutes when absent. */
  readonly reportedWithinUs?: number
  judge(rule: Rule, view: MarksView): Omit<Instance, 'condition'>[]
  /** When the event that ends an alert happened; undefined before. `own`: the series of its process and meta. */
  endOf(rule: Rule, alert: FiredAlert, own: readonly Series[], view: MarksView): number | undefined
}

export interface MetricsView {
  readonly meta: string | null
  /** The parts of the window, of the scope's processes and the rule's metric. */
  readonly parts: readonly MetricPart[]
  /** Whether a point came since the watch counts: a change alone fires nothing. A question to the store for a while. */
  hasNews(process: string): Promise<boolean>
  readonly firing: readonly FiredAlert[]
  /** By process; kept and changed between evaluations. */
  readonly states: Map<string, MetricState>
  readonly knownUs: number
}

export interface MetricCondition<Given, Rule extends MetricsAsked> extends Texts<Given, Rule> {
  readonly reads: 'metrics'
  /** Rejects when the store does not answer. */
  judge(rule: Rule, view: MetricsView): Promise<Omit<Instance, 'condition'>[]>
}

/** Conditions with the same window share a question to the store. */
export interface MetricsAsked {
  readonly name: string
  readonly windowUs: number
}
