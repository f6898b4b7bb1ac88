// An alert as it is judged. It is stored with the alert as JSON, so that a restart knows what ends it.

/** A run that an alert is about, within its process and meta. */
export interface EpisodeRun {
  readonly uid: string
  readonly startedUs: number
}

/** A downtime lasts this much longer: callers try again. */
export const SETTLES_US = 30e6
/** The end of a downtime that lasts. */
export const OPEN_US = 9e15

/** A stretch in which events may have been lost. */
export interface Downtime {
  readonly fromUs: number
  /** With the time in which callers find back; far in the future while it lasts. */
  readonly toUs: number
  /** The silent node that may hold events of that time; absent: all of Stint was down. */
  readonly node?: number
  /** Only the events of this account were refused; absent: of all. */
  readonly account?: string
  /** The account is suspended: nothing of it fires meanwhile. */
  readonly isSuspended?: true
  /** Nothing was lost: the stores have starts of before that were not read yet. */
  readonly isUnread?: true
  /** It delays nothing beyond this time. If it is `toUs`, all events of that time are known then, and none is lost. */
  readonly waitsUs?: number
}

/** Of one account. */
export type RefusedTime = Downtime & { readonly account: string }

/** Times are µs since the epoch. */
export interface Episode {
  readonly sinceUs: number
  /** Only if it had ended when it was noticed. */
  readonly untilUs?: number
  /** The uid of the run that caused it; '' for a run without uid, absent if no run did. */
  readonly uid?: string
  /** The start of that run, if it is known. */
  readonly startedUs?: number
  /** The duration (µs), the metric's value, or the number of failures in a row. */
  readonly figure?: number
  /** The limit (µs) that the duration exceeds. */
  readonly limit?: number
  /** `failed`: the kind of the failure that made it fire. */
  readonly cause?: 'failed' | 'abandoned' | 'exception'
  /** `failed`, abandoned: the start that followed, with no end between; absent after MAX_RUN. */
  readonly followedUs?: number
  /** `failed`: when its run failed. Only alerts of 1.1. */
  readonly failedUs?: number
  /** `long`: how its run ended. `late`: an end whose start is not known was the sign of life. */
  readonly endedAs?: 'completed' | 'failed' | 'started again'
  /** `late`: the due time that passed, and the earliest start that counts for it. */
  readonly dueUs?: number
  readonly fromUs?: number
  /** `late`: the last start, or the time from which the watch counts. */
  readonly silentUs?: number
  /** `late`: the last start that is known, or end without one. */
  readonly lastUs?: number
  /** The downtime in which a start or an end may have been lost. */
  readonly lost?: Downtime
  /** `long`: all runs that it is about, if there are several. */
  readonly runs?: readonly EpisodeRun[]
  /** `long`: so many more open runs are not remembered individually. */
  readonly others?: number
  /** `long`, only alerts of 1.1: another run started after the downtime. */
  readonly isFollowed?: boolean
}
