// The state of a process and of each of its metas, from its newest runs, exceptions, starts and alerts. Pure.
//
// A meta is judged by its last settled run: a failure counts until a run of the same meta completes, even while the next
// one runs. The worst meta decides, of several alike the one to which it happened last.
import type { Alert } from '../../wire/alerts.ts'
import { PROCESS_STATES, type ProcessState } from '../../wire/process-state.ts'
import { quantile } from '../quantile.ts'
import type { Rhythm } from '../rhythm.ts'
import { type BoardRun, isOver } from './board-run.ts'

/** The newest exception of a group that nobody has resolved or ignores. */
export interface Raised {
  readonly meta: string | null
  readonly ms: number
  readonly example: string
  readonly fingerprint: string
}

/** What is known of one meta. */
export interface MetaFacts {
  readonly meta: string | null
  /** Newest first. */
  readonly runs: readonly BoardRun[]
  readonly raised: readonly Raised[]
  /** Those that fire. */
  readonly alerts: readonly Pick<Alert, 'condition' | 'since'>[]
  readonly lastStartMs: number | undefined
  /** Absent below five gaps or an hour, and where a watch decides or another meta has taken its place. */
  readonly rhythm?: Rhythm | undefined
  /** The usual duration, ms; undefined if unknown. */
  readonly usualMs: number | undefined
}

export interface Judgement {
  readonly state: ProcessState
  readonly meta: string | null
  readonly sinceMs: number | undefined
  /** The run that decides. */
  readonly run: BoardRun | undefined
  readonly raised: Raised | undefined
}

const LATEST = 20
const FEWEST = 5
const OVERDUE_TIMES = 2
/** Twice 3 ms is no reason for concern. */
const OVERDUE_LEAST_MS = 1_000
/** An exception may arrive so long after the end of its run. */
const GRACE_MS = 60_000

/** The median of the last 20 completed runs, undefined below five. `runs`: newest first. */
export function usualOf(runs: readonly BoardRun[]): number | undefined {
  const lengths = runs.flatMap(({ state, ms }) => (state === 'completed' && ms !== null ? [ms] : [])).slice(0, LATEST)
  return lengths.length < FEWEST ? undefined : quantile(lengths, 0.5)
}

export const worstOf = (judged: readonly Judgement[]): Judgement =>
  judged.toSorted(
    (a, b) => PROCESS_STATES.indexOf(a.state) - PROCESS_STATES.indexOf(b.state) || (b.sinceMs ?? 0) - (a.sinceMs ?? 0),
  )[0] ?? { state: 'no_runs', meta: null, sinceMs: undefined, run: undefined, raised: undefined }

export function judgeMeta(facts: MetaFacts, nowMs: number): Judgement {
  const { meta, raised } = facts
  const found = [...findStates(facts, nowMs)].map(
    ([state, sinceMs, run, why]): Judgement => ({ state, meta, sinceMs, run, raised: why }),
  )
  const worst = worstOf(found)
  if (worst.raised !== undefined || worst.run === undefined) return { ...worst, meta }
  const { startMs, endMs } = worst.run
  const isTrouble = worst.state === 'failed' || worst.state === 'never_finished' || worst.state === 'exceptions'
  const own = isTrouble ? raised.find(({ ms }) => ms >= startMs && ms <= endMs + GRACE_MS) : undefined
  return { ...worst, meta, raised: own }
}

type Found = readonly [
  state: ProcessState,
  sinceMs: number | undefined,
  run?: BoardRun | undefined,
  raised?: Raised | undefined,
]

function* findStates(
  { runs, raised, alerts, rhythm, lastStartMs, usualMs }: MetaFacts,
  nowMs: number,
): Generator<Found> {
  const settled = runs.find(isOver)
  const running = runs.filter(({ state }) => state === 'running')
  if (settled?.state === 'failed') yield ['failed', settled.endMs, settled]
  if (settled?.state === 'abandoned') yield ['never_finished', settled.startMs, settled]
  const isLate = alerts.some(({ condition }) => condition === 'late')
  // a run that still runs may be why the next one has not started
  if (isLate || (rhythm !== undefined && rhythm.lateMs < nowMs && running.length === 0))
    yield ['silent', lastStartMs, runs[0]]
  if (settled !== undefined && (settled.exceptions ?? 0) > 0) yield ['exceptions', settled.endMs, settled]
  const raising = running.find(({ exceptions }) => (exceptions ?? 0) > 0)
  if (raising !== undefined) yield ['exceptions', raising.startMs, raising]
  const open = raised.find(({ ms }) => !runs.some(({ state, endMs }) => state === 'completed' && endMs >= ms))
  if (open !== undefined) yield ['exceptions', open.ms, undefined, open]
  const other = alerts.find(({ condition }) => condition !== 'late')
  if (other !== undefined) yield ['firing', Date.parse(other.since), settled]
  const overdue = running.findLast(({ startMs }) => isOverdue(nowMs - startMs, usualMs))
  if (overdue !== undefined) yield ['overdue', overdue.startMs, overdue]
  if (running[0] !== undefined) yield ['running', running[0].startMs, running[0]]
  const orphan = runs.find(({ state }) => state === 'orphan')
  const done = settled ?? orphan
  if (done !== undefined) yield ['completed', done.endMs, done]
  yield ['no_runs', undefined]
}

const isOverdue = (takenMs: number, usual: number | undefined): boolean =>
  usual !== undefined && takenMs > OVERDUE_TIMES * usual && takenMs - usual >= OVERDUE_LEAST_MS
