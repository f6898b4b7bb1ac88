// What can be asked of a store. Times are ns since the epoch; a range is [fromNs, toNs). All methods throw StoreError.

/** The store is away, refuses the credentials, or gave up on the question. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
}

/** Whose question it is, and whether it is still waited for. */
export interface Asker {
  readonly account: string
  /** Aborted once nobody waits for the answer: what has not begun is left out. */
  readonly signal?: AbortSignal
}

export interface Selection extends Asker {
  readonly fromNs: bigint
  readonly toNs: bigint
  readonly process?: string
  /** '' = only without meta; absent = any. */
  readonly meta?: string
  /**
   * Of an answer without pages so many rows at most, the most recent processes or else any: the caller refuses a question that reaches it.
   * Without it a long answer would fill the memory.
   */
  readonly maxRows?: number
}

export interface Page {
  readonly limit: number
  /** The place after which to go on, in the order of the answer (newest first). */
  readonly after?: { readonly ns: bigint; readonly name?: string }
}

export type TimingState = 'completed' | 'running' | 'abandoned' | 'orphan'

/** A pair of marks and its state, by the rule of query/pair-marks.ts. */
export interface Timing {
  readonly process: string
  readonly meta: string
  readonly uid: string
  readonly state: TimingState
  /** Absent for an orphan. */
  readonly startedNs?: bigint
  /** Only of completed timings and orphans. */
  readonly endedNs?: bigint
}

export interface TimingSelection extends Selection {
  /** '' = only without uid; absent = any. */
  readonly uid?: string
  readonly maxRunNs: bigint
  readonly nowNs: bigint
  /** Leaves out marks that arrived after this moment: those with a later stamp that is even (lane 0). Set on every page but the first. */
  readonly asOfNs?: bigint
}

export interface TimingSummaryRow {
  readonly process: string
  /** With `byMeta`. */
  readonly meta?: string
  /** With `everyNs`: the start of the bucket. */
  readonly atNs?: bigint
  /** Of completed timings, as are the figures (ms; null when there are none). */
  readonly count: number
  readonly meanMs: number | null
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  readonly p99Ms: number | null
  readonly maxMs: number | null
  readonly running: number
  readonly abandoned: number
  readonly orphan: number
}

export interface MetricPoint {
  readonly atNs: bigint
  readonly process: string
  readonly meta: string
  readonly name: string
  readonly value: number
}

export interface MetricRow {
  readonly atNs: bigint
  readonly process: string
  readonly name: string
  readonly count: number
  readonly mean: number
  readonly min: number
  readonly max: number
  readonly sum: number
  readonly last: number
}

export interface ExceptionRow {
  readonly atNs: bigint
  readonly process: string
  readonly meta: string
  readonly exception: string
  readonly fingerprint: string
}

export interface ExceptionGroup {
  readonly fingerprint: string
  readonly process: string
  readonly count: number
  readonly firstNs: bigint
  readonly lastNs: bigint
  /** The newest text. */
  readonly example: string
  /** With `everyNs`: oldest bucket first, without those that hold none. */
  readonly counts?: readonly { readonly atNs: bigint; readonly count: number }[]
}

export interface ProcessRow {
  readonly process: string
  /** Distinct metas, sorted, '' among them where events came without one; at most 100. */
  readonly metas: readonly string[]
  readonly lastNs: bigint
  readonly kinds: readonly ('mark' | 'metric' | 'exception')[]
}

export interface PointSource {
  /** By the rule of query/pair-marks.ts over the marks of `marksWindow`, newest first by first mark; `after.ns` is a first mark's stamp. */
  findTimings(q: TimingSelection & { readonly state?: TimingState }, page: Page): Promise<Timing[]>
  /** The newest timings of each process, at most `each` per process and `maxRows` in all, newest first. */
  findLatest(q: TimingSelection & { readonly each: number; readonly maxRows: number }): Promise<Timing[]>
  /** By the rule of query/summarize-timings.ts; in any order. */
  summarizeTimings(
    q: TimingSelection & { readonly byMeta: boolean; readonly everyNs?: bigint },
  ): Promise<TimingSummaryRow[]>
  /** Marks in the range, from a push-down count: what a question about timings would read. */
  countMarks(q: Selection): Promise<number>
  /** Newest first, within a stamp by name. */
  findMetrics(q: Selection & { readonly name?: string }, page: Page): Promise<MetricPoint[]>
  /** Oldest first; one row a process, name and bucket. */
  aggregateMetrics(q: Selection & { readonly name?: string; readonly everyNs: bigint }): Promise<MetricRow[]>
  findPointProcesses(q: Selection): Promise<ProcessRow[]>
  close(): Promise<void>
}

export interface ExceptionSource {
  /** Newest first. */
  findExceptions(q: Selection & { readonly fingerprint?: string }, page: Page): Promise<ExceptionRow[]>
  /** Most recent first. */
  groupExceptions(
    q: Selection & { readonly fingerprint?: string; readonly everyNs?: bigint },
    limit: number,
  ): Promise<ExceptionGroup[]>
  findExceptionProcesses(q: Selection): Promise<ProcessRow[]>
  close(): Promise<void>
}
