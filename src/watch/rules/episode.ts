// The types of the rules, which turn the history of a process into episodes: the stretches in which its alert fires.
// Rules are pure. Times are µs since the epoch; a stretch includes its start and excludes its end.

/** One stretch in which an alert fires. */
export interface Episode {
  readonly sinceUs: number
  /** Its end; absent while it lasts. */
  readonly untilUs?: number
  /** The uid of the run that caused it; '' for a run without uid, absent if no run did. */
  readonly uid?: string
  /** The start of the run that caused it. */
  readonly startedUs?: number
  /** A figure for the summary: the duration (µs), the metric's value, or the number of failures in a row. */
  readonly figure?: number
  /** A figure to compare with: the limit (µs). */
  readonly limit?: number
  /** For `failed`: the kind of the last failure. */
  readonly cause?: 'failed' | 'abandoned' | 'exception'
  /** For `failed`: when its run failed, if an exception of the run began it. */
  readonly failedUs?: number
  /** For `long`: how its run is known to have ended. */
  readonly endedAs?: 'completed' | 'failed' | 'started again'
  /** For `late`: the due time that passed, and the earliest start that counts for it. */
  readonly dueUs?: number
  readonly fromUs?: number
  /** For `late`: the last start, or the beginning of the watch. */
  readonly silentUs?: number
  /** The downtime in which an end may have been lost. */
  readonly lost?: Blind
  /** All open runs whose end may have been lost in it, and whether another run started after it. */
  readonly runs?: readonly RunName[]
  readonly isFollowed?: boolean
}

/** Identifies a run within its process and meta. */
export interface RunName {
  readonly uid: string
  readonly startedUs: number
}

/** The time and knowledge with which a history is judged. */
export interface Judgement {
  /** Everything that happened before it is known. Usually a second ago; earlier while the spool is behind. */
  readonly knownUs: number
  /** Only later events can fire: the watch was created, changed or resumed at this time. */
  readonly sinceUs: number
  /** What happened before it does not count: `sinceUs` without changes of the condition. Absent: `sinceUs`. */
  readonly countsFromUs?: number
  /** Runs that are older are not paired with an end. */
  readonly maxRunUs: number
  /** When Stint accepted no events, in order and without overlaps. */
  readonly blind: readonly Blind[]
}

/** The clock was set back, noticed at `sinceUs`: the times from there to `untilUs` come a second time. */
export interface Rewind {
  readonly sinceUs: number
  readonly untilUs: number
}

/** A stretch in which Stint was down or accepted no events, so that events may be lost. */
export interface Blind {
  readonly fromUs: number
  readonly toUs: number
  /** The clock jumped ahead, so the time did not pass; known only to the process that noticed it. */
  readonly isJump?: boolean
}
