// The runs of an account that touch a short stretch, and single ones, as far as they are remembered.
import { belongsTo } from '../process/belongs-to.ts'
import { rest, spend } from '../turns.ts'
import type { TimingState } from '../wire/timings.ts'
import type { Account } from './account.ts'
import { isOpen, type LiveRun } from './marks.ts'
import type { Moment } from './raised.ts'
import { countRuns, type Row, runsOf, touches } from './row.ts'

/** A run as the page of an alert shows it: with its subject and its state. */
export interface FoundRun {
  readonly process: string
  /** '' = without. */
  readonly meta: string
  readonly uid: string
  readonly state: TimingState
  /** Undefined without a start or an end. */
  readonly startUs: number | undefined
  readonly endUs: number | undefined
}

/** So many runs of a row are looked at in a step. */
const STEP_RUNS = 32

/** The runs that touched a stretch. */
interface RunsAround {
  readonly runs: readonly FoundRun[]
  /** No other run of the account touched the stretch. */
  readonly isWhole: boolean
}

export async function runsAround({ processes, omitted }: Account, fromUs: number, toUs: number): Promise<RunsAround> {
  const runs: FoundRun[] = []
  let isWhole = omitted === 0
  for (const { rows } of processes.values())
    for (const row of rows.values()) {
      if (row.cutUs >= fromUs) isWhole = false
      if (spend(1 + countRuns(row) / STEP_RUNS)) await rest()
      if (!touches(row, fromUs, toUs)) continue
      for (const run of runsOf(row)) if (isWithin(run, fromUs, toUs)) runs.push(toFound(row, run))
    }
  return { runs, isWhole }
}

const isWithin = ({ startUs, endUs, settledUs }: LiveRun, fromUs: number, toUs: number): boolean => {
  const lastUs = Number.isNaN(endUs) ? (settledUs === Infinity ? Infinity : startUs) : endUs
  return (Number.isNaN(startUs) ? endUs : startUs) <= toUs && lastUs >= fromUs
}

/** The run with this start, or without one this failed end. */
export function findKnown(
  account: Account | undefined,
  { process, meta, uid, startUs, endUs }: Omit<FoundRun, 'state'>,
): FoundRun | undefined {
  const row = account?.processes.get(process)?.rows.get(meta)
  const isIt = (run: LiveRun) =>
    run.uid === uid && (startUs === undefined ? run.failed && run.endUs === endUs : run.startUs === startUs)
  const found = row && runsOf(row).find(isIt)
  return found && row && toFound(row, found)
}

/** The exceptions of a run, or those of exactly this time: the line that says what happened in place of their text. */
export function raisedBy(
  account: Account | undefined,
  { process, meta }: Pick<FoundRun, 'process' | 'meta'>,
  run: FoundRun | undefined,
  atUs: number,
) {
  const span = run && {
    uid: orNull(run.uid),
    startUs: run.startUs ?? run.endUs!,
    endUs: endOf(run),
    isBare: isBare(run),
  }
  const isOwn = (moment: Moment) => (span === undefined ? moment.atUs === atUs : belongsTo(moment, span, [span]))
  const moments = account?.processes.get(process)?.raised?.get(meta)?.moments ?? []
  return moments.filter(isOwn).map(({ uid, atUs: us, group: { headline: exception, fingerprint } }) => {
    return { process, meta, uid: uid ?? '', atNs: BigInt(us) * 1000n, exception, fingerprint }
  })
}

const orNull = (uid: string): string | null => (uid === '' ? null : uid)
const isBare = ({ startUs }: FoundRun): boolean => startUs === undefined
/** Of one that never finished nothing is known. */
const endOf = ({ state, startUs, endUs }: FoundRun): number =>
  endUs ?? (state === 'running' ? Number.POSITIVE_INFINITY : startUs!)

function toFound({ process, meta }: Row, run: LiveRun): FoundRun {
  const { uid, startUs, endUs, failed } = run
  const [hasNoStart, isEnded] = [Number.isNaN(startUs), !Number.isNaN(endUs)]
  return {
    process,
    meta,
    uid,
    startUs: hasNoStart ? undefined : startUs,
    endUs: isEnded ? endUs : undefined,
    state: isOpen(run) ? 'running' : !isEnded ? 'abandoned' : failed ? 'failed' : hasNoStart ? 'orphan' : 'completed',
  }
}
