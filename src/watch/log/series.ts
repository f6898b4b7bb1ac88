// What the marks and exceptions of one process and meta add up to, in the order of the log. JSON in the table:
// * Bounded: MAX_OPEN open runs (the oldest stay, because they fire) and ends without a start (the newest stay), the
//   last 60 settled runs, MAX_LATE failures that wait.
// * What is paired stays paired; an event that came before changes nothing.
import type { SettledRun } from '../../process/usual.ts'
import type { Mark } from './judge-interface.ts'

/** A run whose end has not come, with what its limits depend on. */
export interface OpenRun {
  readonly startedUs: number
  /** Nothing is due before: it came late, so the marks after it may follow. */
  readonly restUs?: number
  /** The stamps were ahead of its own time by so much when it began; absent: it was stamped, or they do not lead. */
  readonly leadUs?: number
  /** The median of the completed runs when it started; absent with fewer than 5. */
  readonly usualUs?: number
  /** See unfinished.ts; absent for the first start of a chain. */
  readonly chain?: Chain
}

/** Starts of a uid without an end between. */
export interface Chain {
  readonly firstUs: number
  /** So many of them in a row, each a minute or more after the one before. */
  readonly starts: number
}

/** A run that its end has just settled. */
export interface EndedRun extends SettledRun {
  readonly uid: string
  readonly usualUs?: number
}

/** What is kept of a settled run; its whole uid would be most of the row. */
export interface Kept extends SettledRun {
  /** A hash; 0 without uid. */
  readonly tag: number
}

/** A failure that came late, and is judged when its backlog may have come. */
interface WaitingFailure {
  readonly uid?: string
  /** Absent if it is not known. */
  readonly startedUs?: number
  readonly atUs: number
  /** `abandoned`: never finished, see unfinished.ts; `atUs` is the start that followed. */
  readonly cause: 'failed' | 'exception' | 'abandoned'
  /** Its notification may follow then. */
  readonly restUs: number
}

/** The memory of one process and meta. */
export interface Series {
  newestStartUs: number
  /** The same by the wall clock, see `wallOf`. */
  wallUs: number
  /** See OpenRun; of the newest start. */
  restUs: number
  /** The newest arrival. */
  lastUs: number
  /** By uid. */
  open: Map<string, OpenRun>
  /** So many open runs have no room. */
  others: number
  /** Ends whose start is not known (yet), by uid. */
  orphans: Map<string, { readonly endedUs: number; readonly failed: boolean }>
  /** In the order of the log. */
  settled: Kept[]
  /** See failure-row.ts. */
  row: number
  rowWithExceptions: number
  isBare: boolean
  okUs: number
  failedUs: number
  exceptionUs: number
  /** The newest failures of the row with exceptions. */
  failures: RowFailure[]
  /** Failures that came late, until the rest of their backlog may have come. */
  late: WaitingFailure[]
  /** The newest exception. */
  exception: { readonly atUs: number; readonly uid?: string; readonly headline: string } | null
  /** Exceptions that came, see seen.ts. */
  seen: number[]
  /** Runs that ended, or were followed, while a silent node was waited for: `long` is judged when it is back. */
  held: HeldRun[]
}

/** A run that is over, and whose limit is still to be judged. */
interface HeldRun {
  readonly uid: string
  readonly startedUs: number
  readonly restUs: number
  readonly leadUs?: number
  /** Its first mark after the start. */
  readonly endedUs: number
}

/** A failure as far as it matters to which run it belongs. */
export interface RowFailure {
  readonly atUs: number
  /** `part`: of a run of which an exception is in the row; it counts among failed runs alone. */
  readonly kind: 'run' | 'exception' | 'part'
  /** A hash of the uid; 0 without one. */
  readonly tag: number
  /** Of a run; 0 if it is not known. */
  readonly startedUs: number
}

export const MAX_OPEN = 1000
export const MAX_LATE = 100

export const createSeries = (): Series => ({
  newestStartUs: 0,
  restUs: 0,
  lastUs: 0,
  open: new Map(),
  others: 0,
  orphans: new Map(),
  settled: [],
  row: 0,
  rowWithExceptions: 0,
  isBare: true,
  okUs: 0,
  failedUs: 0,
  exceptionUs: 0,
  failures: [],
  late: [],
  wallUs: 0,
  exception: null,
  seen: [],
  held: [],
})

export const tagOf = (uid: string): number => (uid === '' ? 0 : Bun.hash.crc32(uid) || 1)

/**
 * The time of a start by the wall clock, while the stamps lead it by so much: one that was stamped at its arrival has
 * the lead in it, one that brings its own time has not.
 */
export const wallOf = ({ atUs, arrivedUs }: Pick<Mark, 'atUs' | 'arrivedUs'>, leadUs: number): number =>
  Math.min(atUs, arrivedUs - leadUs)

/**
 * How far a start's own time is behind the stamps because these lead: no more than it was sent before its arrival. Zero
 * for one that was stamped.
 */
export const behindOf = ({ atUs, arrivedUs }: Pick<Mark, 'atUs' | 'arrivedUs'>, leadUs: number): number =>
  Math.min(leadUs, arrivedUs - atUs)

const PROMPT_US = 1e6
const LATE_US = 60e6
const REST_US = 60e6

/**
 * Nothing that an event causes is judged before this time. Not before its arrival; after one that came late, the rest
 * of its backlog may follow. Zero for one that came within a second, before anything can be due.
 */
export function restOf({ atUs, arrivedUs }: Pick<Mark, 'atUs' | 'arrivedUs'>): number {
  const lateUs = arrivedUs - atUs
  if (lateUs <= PROMPT_US) return 0
  return lateUs > LATE_US ? arrivedUs + REST_US : arrivedUs
}
