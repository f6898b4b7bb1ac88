// The interface for asking questions. All times are event times (`time(stamp)`) in epoch ns; a range is [fromNs, toNs).
// Several events may share a time, so every row carries its place; wire has its JSON. All methods throw StoreError.
import type { EndText, MarkName } from '../event/event.ts'
import type { ProcessRow } from './process-row.ts'
import type { RaisedRow } from './raised-rows.ts'
import type { StartTimes } from './start-times.ts'

/** The store is down, refuses the credentials, or gave up; `isTooSlow`: it is up, but the question takes too long. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly isTooSlow: boolean

  constructor(message: string, options: ErrorOptions & { readonly isTooSlow?: boolean } = {}) {
    super(message, options)
    this.isTooSlow = options.isTooSlow ?? false
  }
}

/** The account that asks, and whether it still waits for the answer. */
export interface Asker {
  readonly account: string
  /** Aborted once nobody waits for the answer: work that has not begun is skipped. */
  readonly signal?: AbortSignal | undefined
  /** Asks about a short time: it may run beside a long statement of the same account. */
  readonly isShort?: boolean
}

/** One name, or any of several; an empty list selects nothing. */
export type Names = string | readonly string[]

export interface Selection extends Asker {
  readonly fromNs: bigint
  readonly toNs: bigint
  readonly process?: Names | undefined
  /** '' = only without meta; absent = any. */
  readonly meta?: string | undefined
  /** Bounds the memory of an answer without pages: the newest processes, or any rows. The caller refuses a full one. */
  readonly maxRows?: number
}

/** The position of a row in an answer: newest first, then in an order that the store chooses. No two rows share one. */
export interface Place {
  readonly ns: bigint
  /** Tells rows of one time apart. Only the store that gave it can read it; other text is some place of that time. */
  readonly tie: string
}

export interface Page {
  readonly limit: number
  /** The last row of the page before. */
  readonly after?: Place | undefined
}

export type TimingState = 'completed' | 'failed' | 'running' | 'abandoned' | 'orphan'

/** Marks of one name pair with each other; '' = without meta, without uid. */
export interface RunName {
  readonly process: string
  readonly meta: string
  readonly uid: string
}

/** A pair of marks and its state, by the rule of store/pair-marks.ts; wire's `Timing` is its JSON. */
export interface TimingRow extends RunName {
  readonly state: TimingState
  /** Absent for an end without a start. */
  readonly startedNs?: bigint
  /** Only of completed and failed timings and orphans. */
  readonly endedNs?: bigint
  /** That of its first mark. */
  readonly place: Place
}

/** Where its place in an answer does not matter. */
export type PlainTiming = Omit<TimingRow, 'place'>

/** `uid`: only of this run; '' = only without uid; absent = any. */
export interface RunSelection extends Selection {
  readonly uid?: string | undefined
}

export interface TimingSelection extends RunSelection {
  readonly maxRunNs: bigint
  readonly nowNs: bigint
  /** Omits marks that came later: a later time and an even stamp (lane 0). Not set on most first pages. */
  readonly asOfNs?: bigint
  /** Marks from then on do not count; at or after `toNs`. The states are those of that moment if `nowNs` is, too. */
  readonly knownToNs?: bigint
}

export type TimingQuestion = TimingSelection & { readonly states?: readonly TimingState[]; readonly slowest?: boolean }

/** A series; neither: none is asked for. */
export interface Buckets {
  /** Equally long buckets from the epoch on. */
  readonly everyNs?: bigint
  /** The bounds of other buckets, in whole seconds, ascending; they cover the range and win over `everyNs`. */
  readonly bounds?: readonly bigint[]
}

/**
 * `newest`: rows carry the newest runs, too. `quantiles`: these as well, each from 0 to 1. With `knownToNs` a running
 * timing that began before the range counts, too (in the bucket of `fromNs`), and a series says `atOnce`.
 */
interface SummarySelection extends TimingSelection, Buckets {
  readonly byMeta: boolean
  readonly newest?: boolean
  readonly quantiles?: readonly number[]
}

export interface TimingSummaryRow extends Readonly<Record<Exclude<TimingState, 'completed'>, number>> {
  readonly process: string
  /** With `byMeta`. */
  readonly meta?: string
  /** The start of the bucket; only in a series. */
  readonly atNs?: bigint
  /** Completed timings; the figures are theirs, too (ms; null without any). */
  readonly count: number
  readonly meanMs: number | null
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  readonly p99Ms: number | null
  readonly maxMs: number | null
  /** One per `quantiles`, in that order; only where they are asked for. */
  readonly quantilesMs?: readonly (number | null)[]
  readonly newest?: NewestRuns
  /** How many timings ran at the same moment, at most (store/at-once.ts). */
  readonly atOnce?: number
}

/** The newest among the timings of a row; each absent without such a timing. */
export interface NewestRuns {
  /** The latest start. */
  readonly startNs?: bigint
  /** The latest end of a completed, and of a failed one. */
  readonly completedNs?: bigint
  readonly failedNs?: bigint
  /** The length of the one that ended last; of several that ended at once, the one that started last. */
  readonly durationNs?: bigint
}

interface Sent extends RunName {
  readonly atNs: bigint
  readonly place: Place
}

export interface MetricPointRow extends Sent {
  readonly name: string
  readonly value: number
}

export type MetricSelection = RunSelection & { readonly name?: Names | undefined }

/** One row per process, name and bucket, with `byMeta` also per meta. */
export interface MetricRowSelection extends MetricSelection, Buckets {
  readonly byMeta?: boolean
}

export interface MetricSummaryRow extends Readonly<Record<'count' | 'mean' | 'min' | 'max' | 'sum' | 'last', number>> {
  readonly atNs: bigint
  readonly process: string
  readonly meta?: string
  readonly name: string
}

/** One exception with its text and the group that it belongs to. */
export interface ExceptionRow extends Sent {
  readonly exception: string
  readonly fingerprint: string
}

export type TextRow = Sent & { readonly text: string }

/** What tells groups of exceptions apart. */
export interface GroupKey {
  readonly fingerprint: string
  readonly process: string
}

export interface ExceptionSelection extends RunSelection {
  readonly fingerprint?: string | undefined
  /** The text contains each of these, in any case. */
  readonly words?: readonly string[] | undefined
  /** Exceptions of these groups alone. */
  readonly only?: readonly GroupKey[]
  readonly without?: readonly GroupKey[]
}

/** The first and the last exception of a group within a selection. */
export interface GroupSpan extends GroupKey {
  readonly firstNs: bigint
  readonly lastNs: bigint
}

/** An exception without its text: when it was raised, and by which run. */
export type ExceptionMoment = RunName & Pick<ExceptionRow, 'atNs'>

export interface MomentsQuestion extends Omit<Selection, 'maxRows'> {
  /** Only of these; absent = of all. */
  readonly subjects?: readonly { readonly process: string; readonly meta: string }[]
  readonly without?: readonly GroupKey[]
  /** At most so many of one subject, and of all. */
  readonly limitEach: number
  readonly limit: number
}

/** A group of exceptions within a selection, with its figures. */
export interface ExceptionGroupRow extends GroupSpan {
  readonly count: number
  /** Different metas and uids among those with a uid. */
  readonly runs: number
  /** The newest one's ('' = without), and its text: a long one without its middle, unless one fingerprint is asked. */
  readonly meta: string
  readonly example: string
  /** That of its newest exception, or with `byCount` the number of exceptions; the tie is `groupTie`. */
  readonly place: Place
  /** Only in a series: oldest bucket first, without empty ones. */
  readonly counts?: readonly { readonly atNs: bigint; readonly count: number }[]
}

/** Asks for the newest `each` moments of each group, and for its counts by hour since `countFromNs`. */
export interface RaisedQuestion extends Selection {
  readonly countFromNs: bigint
  readonly each: number
  readonly maxRows: number
}

/** `byMeta`: one row per process and meta. */
export type ProcessSelection = Selection & { readonly byMeta?: boolean }

/** A mark as a store returns it. */
export interface StoredMark extends RunName {
  readonly mark: MarkName
  /** Its time; several marks may share it. */
  readonly ns: bigint
}

/** A mark that can be told apart from others: `restNs` is the rest of its stamp. */
export type FoundMark = StoredMark & { readonly restNs: number }

/** Marks of all metas; each question about them has a limit of its own. */
export type MarkSelection = Omit<Selection, 'meta' | 'maxRows'>

/** `byMeta`: also the last timing of each process and meta that is over. */
export interface LatestSelection extends TimingSelection {
  readonly each: number
  readonly maxRows: number
  readonly byMeta?: boolean
}

export interface PointSource {
  /** Whether pages of all, completed or failed timings rarely read the whole window: its marks need not be counted. */
  readonly pagesStopEarly?: true
  /** Newest first, at most `maxRows`, about `perSeries` per process and meta. A mark sent twice may come twice. */
  findMarks(q: MarkSelection & { perSeries?: number | undefined; readonly maxRows: number }): Promise<FoundMark[]>
  /** How often each process and meta starts, in any order. */
  findStartTimes(q: MarkSelection & { readonly each: number }): Promise<StartTimes[]>
  /**
   * Follows the rule of store/pair-marks.ts over `marksWindow`, newest first by first mark; `states` absent = any.
   * `slowest`: only completed and failed ones, longest first, then newest; the `ns` of a place is then the length.
   */
  findTimings(q: TimingQuestion, page: Page): Promise<TimingRow[]>
  /** Timings that match, newest first, from one pass over the marks; absent where reading pages costs less. */
  findMatching?(q: TimingSelection, page: Page, matches: (timing: PlainTiming) => boolean): Promise<TimingRow[]>
  /** By the rule of store/latest.ts and in its order. */
  findLatest(q: LatestSelection): Promise<TimingRow[]>
  /** Follows the rule of test/support/summarize-timings.ts; in any order. */
  summarizeTimings(q: SummarySelection): Promise<TimingSummaryRow[]>
  /** No range holds more marks than this; from figures that cost nothing. Undefined: not known. */
  boundMarks?(asker: Asker): Promise<number | undefined>
  /** Marks in the range, from a push-down count. */
  countMarks(q: Selection): Promise<number>
  /** Newest first; metrics of one event by name. */
  findMetrics(q: MetricSelection, page: Page): Promise<MetricPointRow[]>
  /** Oldest first. */
  aggregateMetrics(q: MetricRowSelection): Promise<MetricSummaryRow[]>
  /** The newest point of each process, meta and name, in any order; the range is read in whole seconds. */
  findNewestMetrics(q: Selection): Promise<Omit<MetricPointRow, 'place' | 'uid'>[]>
  findPointProcesses(q: ProcessSelection): Promise<ProcessRow[]>
  close(): Promise<void>
}

export interface ExceptionSource {
  /** Newest first; so are the two below. */
  findExceptions(q: ExceptionSelection, page: Page): Promise<ExceptionRow[]>
  findMoments(q: MomentsQuestion): Promise<ExceptionMoment[]>
  findTexts(kind: EndText, q: RunSelection, page: Page): Promise<TextRow[]>
  /** Most recent first; with `byCount` most exceptions first. */
  groupExceptions(q: ExceptionSelection & Buckets, page: Page & { byCount?: boolean }): Promise<ExceptionGroupRow[]>
  /** The groups of each process and meta, most recent first. */
  findRaised(q: RaisedQuestion): Promise<RaisedRow[]>
  /** Without texts and pages, in any order. */
  findGroupSpans(q: ExceptionSelection): Promise<GroupSpan[]>
  /** One row per process and meta, in any order. */
  countExceptions(q: ExceptionSelection): Promise<(Pick<Sent, 'process' | 'meta'> & { readonly count: number })[]>
  /** With events of any of its kinds. */
  findExceptionProcesses(q: ProcessSelection): Promise<ProcessRow[]>
  close(): Promise<void>
}
