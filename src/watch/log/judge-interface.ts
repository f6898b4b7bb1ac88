// The watches as a machine over the log: its inputs are events and times, in one order. What is due before an event is
// judged before it, so the alerts depend on the log alone: not on restarts, lag or batches. Pure: no clock, no promise.
//
//   advance(us)            fires what became due before `us`; stops after MAX_CHANGES: store them and call it again
//   applyMark(account, …)  folds an event that arrived at or after the last `advance`; fires and ends alerts
//
// To store, in one transaction: positions, `judgedUs()`, `takeDirty()` and what `emit` was given. To start again from
// it: `addDowntime` for each, `load` all rows, then `setWatches` for each account with the stored `judgedUs`.
import type { Condition } from '../../wire/conditions.ts'
import type { ConditionRules } from '../conditions/conditions.ts'
import type { Downtime, Episode } from './episode.ts'

/** A part of a watch. Times are µs since the epoch. */
export interface JudgedWatch {
  readonly id: string
  /** Exact, or with `*`. */
  readonly process: string
  /** Null: all together for `late` and `metric`, each for the others. */
  readonly meta: string | null
  readonly rules: ConditionRules
  /** The condition counts from then on: created, changed, resumed; the end of its pause, also if it is to come. */
  sinceUs(condition: Condition): number
  matches(process: string): boolean
}

/** An alert as the judge sees it. */
export interface JudgedAlert {
  readonly watch: string
  readonly condition: Condition
  /** The subject within the watch: two alerts of one instance never fire at the same time. */
  readonly instance: string
  /** The subject, once per watch: instance with due time, run or failure. */
  readonly identity: string
  readonly process: string
  readonly meta: string | null
  readonly episode: Episode
}

/** The end of an alert by a person, or because nothing arrived: the condition counts again from then on. */
export interface EndedByHand {
  readonly watch: string
  readonly instance: string
  readonly atUs: number
  /** Only a start makes `late` fire again. */
  readonly isExpired: boolean
}

/** For the texts. */
export interface Facts {
  /** The first line of the exception of a failed run. */
  readonly exception?: string
  /** The median of the last completed runs (µs). */
  readonly usualUs?: number
}

export type Change = { readonly account: string; readonly alert: JudgedAlert; readonly facts: Facts } & (
  | {
      readonly kind: 'open'
      /** It is over already: one notification. */
      readonly untilUs?: number
      /** Its exception may follow within this time; the notification waits for it (`explain`), the alert does not. */
      readonly awaitsUs?: number
    }
  /** The exception of its run arrived: `facts` are complete now. */
  | { readonly kind: 'explain' }
  | {
      readonly kind: 'end'
      readonly untilUs: number
      readonly endedBy: 'event' | 'expired'
      /** With what is known at its end: `figure`, `endedAs`. */
      readonly ended: Episode
    }
)

interface Event {
  readonly process: string
  /** '' = without meta. */
  readonly meta: string
  /** Its own time. One later than its arrival counts as its arrival. */
  readonly atUs: number
  readonly arrivedUs: number
}

/** A start or an end as it is judged. */
export interface Mark extends Event {
  readonly kind: 'start' | 'end' | 'failed'
  /** '' = without uid. */
  readonly uid: string
}

/** An exception as it is judged: by its first line alone. */
export interface RaisedException extends Event {
  /** Absent = unknown. */
  readonly uid?: string
  /** Its first line, up to 500 characters. */
  readonly headline: string
  /** Its group is ignored or was resolved after it: it is no failure. */
  readonly isIgnored?: boolean
  /** A hash of its stamp and content; absent: its time, uid and headline identify it. */
  readonly id?: number
}

/** The metrics of one request as they are judged. */
export interface Point extends Event {
  /** A hash of its stamp, meta and uid; absent: it is not compared with others. */
  readonly id?: number
  readonly items: readonly (readonly [name: string, value: number])[]
}

/** A row of `watch_state`, the judge's memory; null deletes it. */
export interface StateRow {
  readonly account: string
  /** JSON: [process, meta] of a series, [watch, process] of a gauge, [watch] of a seed. */
  readonly name: string
  readonly state: string | null
}

/** What became due, but waits because a downtime may have hidden its event. */
export interface Waiting {
  readonly account: string
  readonly watch: string
  readonly condition: Condition
  readonly process: string
  /** When it became due. */
  readonly sinceUs: number
  readonly judgedAtUs: number
  readonly lost: Downtime
}

/** The machine, as the engine and the preview drive it: inputs in one order, then the rows and alerts to store. */
export interface WatchJudge {
  /** Fires what became due before `us`. False: it stopped after MAX_CHANGES; store them, then call it again. */
  advance(us: number): boolean
  /** The stamps lead the wall clock, which `late` follows, by so much. Call it before `setWatches` and `advance`. */
  setLead(us: number): void
  /** What became due before is judged: store it with the state. */
  judgedUs(): number
  /** Call `advance` no later than this; undefined = nothing is planned. */
  nextUs(): number | undefined

  applyMark(account: string, mark: Mark): void
  applyException(account: string, exception: RaisedException): void
  applyPoint(account: string, point: Point): void
  /** Would an exception of it fire an alert now? Only then it matters whether its group is ignored. */
  asksGroup(account: string, process: string, meta: string): boolean
  isWatched(account: string): boolean

  /**
   * Sets the watches of an account and its alerts: at the start, after a change, after alerts were ended elsewhere.
   * `judgedUs`: at the start the stored one; otherwise absent.
   */
  setWatches(
    account: string,
    set: {
      readonly watches: readonly JudgedWatch[]
      readonly firing: readonly JudgedAlert[]
      readonly byHand: readonly EndedByHand[]
    },
    judgedUs?: number,
  ): void
  /** With all of its state; nothing is left to store. */
  removeAccount(account: string): void
  /** Replaces the one with the same `fromUs`, node and account, so one that lasts can be extended. */
  addDowntime(downtime: Downtime): void

  /**
   * The stores may have starts of these watches that are not seeded yet; undefined: they are known. `sinceUs`: of that
   * time and later. A `late` that knows of no start waits for them, an hour at most.
   */
  setUnread(account: string, watches: ReadonlySet<string> | undefined, sinceUs: number | undefined): void

  /** Before `setWatches`. */
  load(row: StateRow): void
  /**
   * Marks from a store, in any order; call `setWatches` before. Runs that were settled by `quietUntilUs` fire nothing.
   * `keepsOpen`: runs without an end are open runs; false: their ends may be on their way.
   */
  seed(account: string, marks: readonly Mark[], options: { quietUntilUs: number; keepsOpen: boolean }): void
  /** What changed since the last call; keep it until it is stored. */
  takeDirty(): readonly StateRow[]
  dirtyCount(): number
  /** An alert was not stored, as its watch was changed: by the changed one it may open again. Then `setWatches`. */
  omit(watch: string, identity: string): void

  waiting(): readonly Waiting[]
  /** Processes that are not judged, or not with each meta, because the account has MAX_SERIES series. */
  dropped(account: string): readonly string[]
}

export interface JudgeOptions {
  readonly maxRunUs: number
  /** Called during `advance`, `apply…`, `seed` and `setWatches`. */
  emit(change: Change): void
  /** Is an alert with this identity stored? Alerts that fire, and those since the last `takeDirty`, are known here. */
  isKnown(watch: string, identity: string): boolean
}

/** `advance` stops after so many. */
export const MAX_CHANGES = 50
/** Of an account. */
export const MAX_SERIES = 10_000
