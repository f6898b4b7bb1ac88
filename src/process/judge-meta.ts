// The state of a process and of each of its metas, from its newest runs, exceptions, starts and alerts. Pure; µs.
//
// A meta is judged by the run that settled last: a failure counts until a run of the same meta completes, even while
// the next one runs. The worst meta decides, of several alike the one to which it happened last.
import { PROCESS_STATES, type ProcessState } from '../wire/process-state.ts'
import type { TimingState } from '../wire/timings.ts'
import { belongsTo, type Raised, type RunSpan } from './belongs-to.ts'
import type { Rhythm } from './rhythm.ts'
import { limitOf, OVERDUE_TIMES } from './usual.ts'

/** `endUs`: Infinity while it runs; `startUs` when it never finished or has no start. */
export interface JudgedRun extends RunSpan {
  readonly state: TimingState
  /** Its end; of one that never finished when that was sure: with the next start, or after MAX_RUN. */
  readonly settledUs: number
  readonly hasException: boolean
}

/** What is known of one meta. */
interface MetaFacts<R extends JudgedRun, E extends Raised> {
  readonly meta: string | null
  /** Newest first. */
  readonly runs: readonly R[]
  /** The newest exceptions of groups that nobody has resolved or ignores. */
  readonly raised: readonly E[]
  /** Those that fire. */
  readonly alerts: readonly { readonly condition: string; readonly since: string }[]
  readonly lastStartUs: number | undefined
  /** Absent below five gaps or an hour, and where a watch decides or another meta has taken its place. */
  readonly rhythm?: Rhythm | undefined
  readonly usualUs: number | undefined
}

export interface Judgement<R extends JudgedRun, E extends Raised> {
  readonly state: ProcessState
  readonly meta: string | null
  readonly sinceUs: number | undefined
  /** The run that decides. */
  readonly run: R | undefined
  readonly raised: E | undefined
}

const NOTHING = { state: 'no_runs', meta: null, sinceUs: undefined, run: undefined, raised: undefined } as const

export const worstOf = <R extends JudgedRun, E extends Raised>(judged: readonly Judgement<R, E>[]): Judgement<R, E> =>
  judged.toSorted(
    (a, b) => PROCESS_STATES.indexOf(a.state) - PROCESS_STATES.indexOf(b.state) || (b.sinceUs ?? 0) - (a.sinceUs ?? 0),
  )[0] ?? NOTHING

/** `knownUs`: every event of before is known. */
export function judgeMeta<R extends JudgedRun, E extends Raised>(
  facts: MetaFacts<R, E>,
  knownUs: number,
): Judgement<R, E> {
  const { meta, raised, runs } = facts
  const worst = worstOf(
    [...findStates(facts, knownUs)].map(
      ([state, sinceUs, run, why]): Judgement<R, E> => ({ state, meta, sinceUs, run, raised: why }),
    ),
  )
  const { run } = worst
  if (worst.raised !== undefined || run === undefined) return worst
  const isTrouble = worst.state === 'failed' || worst.state === 'never_finished' || worst.state === 'exceptions'
  const own = isTrouble ? raised.find((it) => belongsTo(it, run, runs)) : undefined
  return { ...worst, raised: own }
}

type Found<R, E> = readonly [
  state: ProcessState,
  sinceUs: number | undefined,
  run?: R | undefined,
  raised?: E | undefined,
]

/** It completed, failed or never finished. */
export const isOver = ({ state }: Pick<JudgedRun, 'state'>): boolean => state !== 'running' && state !== 'orphan'

function* findStates<R extends JudgedRun, E extends Raised>(
  { runs, raised, alerts, rhythm, lastStartUs, usualUs }: MetaFacts<R, E>,
  knownUs: number,
): Generator<Found<R, E>> {
  const settled = lastSettled(runs)
  const running = runs.filter(({ state }) => state === 'running')
  if (settled?.state === 'failed') yield ['failed', settled.endUs, settled]
  if (settled?.state === 'abandoned') yield ['never_finished', settled.startUs, settled]
  const isLate = alerts.some(({ condition }) => condition === 'late')
  // a run that still runs may be why the next one has not started
  if (isLate || (rhythm !== undefined && rhythm.lateMs * 1000 < knownUs && running.length === 0))
    yield ['silent', lastStartUs, runs[0]]
  if (settled?.hasException) yield ['exceptions', settled.endUs, settled]
  const raising = running.find(({ hasException }) => hasException)
  if (raising !== undefined) yield ['exceptions', raising.startUs, raising]
  const open = raised.find(({ atUs }) => !runs.some(({ state, endUs }) => state === 'completed' && endUs >= atUs))
  if (open !== undefined) yield ['exceptions', open.atUs, undefined, open]
  const other = alerts.find(({ condition }) => condition !== 'late')
  if (other !== undefined) yield ['firing', Date.parse(other.since) * 1000, settled]
  const overdue = running.findLast(({ startUs }) => isOverdue(knownUs - startUs, usualUs))
  if (overdue !== undefined) yield ['overdue', overdue.startUs, overdue]
  if (running[0] !== undefined) yield ['running', running[0].startUs, running[0]]
  const done = settled ?? runs.find(({ state }) => state === 'orphan')
  if (done !== undefined) yield ['completed', done.endUs, done]
  yield ['no_runs', undefined]
}

function lastSettled<R extends JudgedRun>(runs: readonly R[]): R | undefined {
  let last: R | undefined
  for (const run of runs) if (isOver(run) && (last === undefined || run.settledUs > last.settledUs)) last = run
  return last
}

export const isOverdue = (takenUs: number, usualUs: number | undefined): boolean =>
  usualUs !== undefined && takenUs > limitOf(OVERDUE_TIMES, usualUs)
