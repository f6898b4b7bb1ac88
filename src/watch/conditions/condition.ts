// One condition of a watch, from its part of the request to the texts of its alerts. Each file of this folder is one
// condition; conditions.ts is the table of all, which the compiler compares with the names in wire/conditions.ts. What
// fires and ends it is in ../log.
import type { Fault } from '../../problem.ts'
import type { Episode } from '../log/episode.ts'

/** Given: the member of the request. Rule: the same in the numbers that are judged. */
export interface ConditionOf<Given, Rule> {
  /** Fills in omitted members. */
  complete?(given: Given): Given
  /** What the schema cannot express. Pointers start with the condition's name. */
  faults?(given: Given, limits: { readonly maxRunUs: number }): Fault[]
  toRule(given: Given): Rule
  /** Whether an alert fires by the changed rule as well. */
  stillHolds(rule: Rule, alert: FiredAlert, nowUs: number, before: Rule): boolean
  /** One line, whose times are all in one zone. */
  summarize(subject: Subject, given: Given, episode: Episode): string
  /** `given` is null if the watch no longer has the condition. */
  summarizeEnd(alert: FiredAlert, untilUs: number, episode: Episode | undefined, given: Given | null): string
}

export interface Subject {
  readonly process: string
  readonly meta: string | null
}

/** The part of a stored alert that a condition reads. */
export interface FiredAlert extends Subject {
  readonly sinceUs: number
  /** The run that it is about. */
  readonly uid: string | null
  readonly startedUs: number | null
  /** Null for alerts of earlier versions. */
  readonly episode: Episode | null
}
