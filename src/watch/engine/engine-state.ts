// What the engine is given and remembers between its steps (engine.ts), in one record.
import { createJudge } from '../log/judge.ts'
import type { StateRow, WatchJudge } from '../log/judge-interface.ts'
import type { WatchStore } from '../storage/create-watch-store.ts'
import type { Judged } from '../storage/feed-statements.ts'
import type { AlertChange } from '../storage/watch-store.ts'
import { createAlertBook } from './alert-book.ts'
import type { Seed } from './seed.ts'

/** PostgreSQL gives a transaction 5 s, and an alert takes some ten statements. */
const CHANGES_AT_ONCE = 50
const ROWS_AT_ONCE = 1000

/** Records of all spools in the order of their arrival. */
export interface Inputs {
  /** Reads what is new; true if there is more. */
  read(): Promise<boolean>
  /** The arrival of the next record; undefined when the next one is not known yet. */
  peekUs(): number | undefined
  take(): string
  /** Every record that arrived before is read. */
  knownUs(): number
  /** What was taken since the last call. */
  taken(): Taken
  /** Since when it left a stretch out, because it was gone or too long; undefined if it did not since the last call. */
  skippedUs(): number | undefined
  /** It is durable. */
  settle(taken: Taken): Promise<void>
}

export type Taken = Pick<Judged, 'positions' | 'passed' | 'taken'>

export interface EngineOptions {
  readonly store: WatchStore
  readonly inputs: Inputs
  readonly seed: Seed
  /** The wall clock, by which notifications are delivered. */
  nowUs(): number
  /** The stamp clock, by which events arrive. */
  logUs(): number
  monotonicUs(): number
  /** The stamp clock leads the wall clock by so much; absent: it never does. */
  leadUs?(): number
  readonly maxRunUs: number
  /** Nobody is reminded of its alerts; absent: of none. */
  isHeld?(account: string): boolean
  publicUrl(): string
  /** Hands a record to the judge. */
  apply(judge: WatchJudge, record: string, arrivedUs: number): Promise<void> | void
  /** Called after alerts changed. */
  onChanged(): void
}

/** What was judged since the last commit. */
interface Batch {
  readonly changes: AlertChange[]
  readonly rows: StateRow[]
  /** Accounts without watches. */
  readonly dropped: string[]
  /** What the stores know of since then is judged. */
  seededUs?: number
}

/** What the engine is given, and what it remembers. */
export interface EngineState extends EngineOptions {
  readonly book: ReturnType<typeof createAlertBook>
  readonly judge: WatchJudge
  isLoaded: boolean
  /** Everything that arrived before it is judged; never goes back. */
  clockUs: number
  /** The clock at the last commit, and as the database has it unless it was set to an earlier state. */
  committedUs: number
  storedUs: number
  batch: Batch
  /** A commit that failed is repeated as it was. */
  pending: Judged | undefined
  /** Accounts that are read again before anything more is judged. */
  readonly outdated: Set<string>
  /** What the stores know of since then is not judged completely; undefined once it is. */
  seedFromUs: number | undefined
  /** What arrived before this process began is judged by the lead of that time: in between the stamps stood still. */
  former: { readonly untilUs: number; readonly leadUs: number } | undefined
  /** Monotonic: of the last look for reminders, and of the last commit. */
  lookedUs: number
  savedUs: number
}

const emptyBatch = (): Batch => ({ changes: [], rows: [], dropped: [] })

export function createState(options: EngineOptions): EngineState {
  const book = createAlertBook(options.store)
  const judge = createJudge({
    maxRunUs: options.maxRunUs,
    emit: (change) => state.batch.changes.push(...book.apply(change, momentOf(state))),
    isKnown: book.isKnown,
  })
  const state: EngineState = {
    ...options,
    book,
    judge,
    isLoaded: false,
    clockUs: 0,
    committedUs: 0,
    storedUs: 0,
    batch: emptyBatch(),
    pending: undefined,
    outdated: new Set(),
    seedFromUs: undefined,
    former: undefined,
    lookedUs: Number.NEGATIVE_INFINITY,
    savedUs: Number.NEGATIVE_INFINITY,
  }
  return state
}

/** Empties the batch: what one commit stores. */
export function takeBatch(state: EngineState): Judged {
  const { judge, batch } = state
  const rows = new Map([...batch.rows, ...judge.takeDirty()].map((row) => [`${row.account} ${row.name}`, row]))
  const judged = {
    judgedUs: state.clockUs,
    leadUs: state.former?.leadUs ?? state.leadUs?.() ?? 0,
    beforeUs: state.storedUs,
    seedUs: state.seedFromUs,
    seededUs: batch.seededUs,
    ...state.inputs.taken(),
    changes: batch.changes,
    dropped: batch.dropped,
    state: [...rows.values()],
  }
  state.batch = emptyBatch()
  return judged
}

export const momentOf = (state: EngineState) => ({ nowUs: state.nowUs(), publicUrl: state.publicUrl() })

/** Nothing but time was judged since the last commit. */
export const isClean = ({ batch, judge }: EngineState) =>
  batch.changes.length + batch.rows.length + judge.dirtyCount() === 0
/** One commit takes no more. */
export const isFull = ({ batch, judge }: EngineState) =>
  batch.changes.length >= CHANGES_AT_ONCE || judge.dirtyCount() >= ROWS_AT_ONCE
