// `failed`: n failures in a row, in the order in which they were settled. A failed or abandoned run is a failure, with
// `exceptions` also an exception; the next completed run ends the row. A changed rule keeps the row.
import { exceedsAt } from './downtime.ts'
import type { Blind, Episode, Judgement } from './episode.ts'
import type { Run } from './runs.ts'

export interface FailedRule {
  readonly after: number
  readonly exceptions: boolean
}

export interface WatchException {
  readonly atUs: number
  /** Absent = unknown. */
  readonly uid?: string
}

interface Step {
  readonly atUs: number
  readonly run?: Run
  readonly exception?: WatchException
  readonly lost?: Blind | undefined
}

/** For one process and meta. Episodes are in order. */
export function judgeFailed(
  rule: FailedRule,
  runs: readonly Run[],
  exceptions: readonly WatchException[],
  judgement: Judgement,
): Episode[] {
  const { knownUs, sinceUs, countsFromUs = sinceUs } = judgement
  const steps = toSteps(runs, rule.exceptions ? exceptions : [], judgement).filter(
    ({ atUs }) => atUs > countsFromUs && atUs <= knownUs,
  )
  const episodes: Episode[] = []
  let row = 0
  let thrown: WatchException[] = []
  let current: Episode | undefined
  const count = ({ atUs, run, exception, lost }: Step, cause: NonNullable<Episode['cause']>) => {
    row++
    if (current !== undefined || row < rule.after || atUs <= sinceUs) return
    const own = exception && failedRunOf(exception, runs, knownUs)
    const { uid } = own ?? run ?? exception ?? {}
    current = {
      sinceUs: atUs,
      cause: own === undefined ? cause : 'failed',
      figure: row,
      ...(uid !== undefined && { uid }),
      ...(run && { startedUs: run.startedUs }),
      ...(own && { startedUs: own.startedUs, failedUs: own.settledUs }),
      ...(lost && { lost }),
    }
  }
  for (const step of steps) {
    const { run, exception } = step
    if (exception !== undefined) {
      thrown.push(exception)
      count(step, 'exception')
    } else if (run?.state === 'completed') {
      if (thrown.some((it) => mayBelong(it, run))) continue // the run itself raised it, so its completion is no success
      if (current !== undefined) episodes.push({ ...current, untilUs: step.atUs })
      row = 0
      thrown = []
      current = undefined
    } else count(step, run?.state === 'failed' ? 'failed' : 'abandoned')
  }
  return current === undefined ? episodes : [...episodes, current]
}

/** The completed run that ends an alert which began at `sinceUs`; `exception`: the one that it is about. */
export function endOfFailed(
  runs: readonly Run[],
  exceptions: readonly WatchException[],
  alert: { readonly sinceUs: number; readonly exception?: WatchException },
): Run | undefined {
  const thrown = [
    ...exceptions.filter(({ atUs }) => atUs > alert.sinceUs),
    ...(alert.exception ? [alert.exception] : []),
  ]
  return runs
    .filter(({ state, settledUs }) => state === 'completed' && settledUs > alert.sinceUs)
    .sort((a, b) => a.settledUs - b.settledUs)
    .find((run) => !thrown.some((it) => it.atUs <= run.settledUs && mayBelong(it, run)))
}

/** In the order in which they were settled. An exception at exactly the time of an end counts as before it. */
function toSteps(runs: readonly Run[], exceptions: readonly WatchException[], judgement: Judgement): Step[] {
  const settled = runs.flatMap((run): Step[] => {
    const { state, settledUs } = run
    if (state === 'completed' || state === 'failed') return [{ atUs: settledUs, run }]
    const abandoned = state === 'abandoned' ? toAbandoned(run, runs, judgement) : undefined
    return abandoned === undefined ? [] : [abandoned]
  })
  return [...settled, ...exceptions.map((exception): Step => ({ atUs: exception.atUs, exception }))].sort(
    (a, b) => a.atUs - b.atUs || Number(a.run !== undefined) - Number(b.run !== undefined),
  )
}

const mayBelong = ({ atUs, uid }: WatchException, run: Run): boolean =>
  atUs >= run.startedUs && (uid === undefined || uid === run.uid)

/** The failed run that raised an exception; undefined if it has not failed yet, or others may have raised it. */
function failedRunOf(exception: WatchException, runs: readonly Run[], knownUs: number): Run | undefined {
  const [own, ...others] = runs.filter((run) => mayBelong(exception, run) && exception.atUs <= run.settledUs)
  return own?.state === 'failed' && own.settledUs <= knownUs && others.length === 0 ? own : undefined
}

/**
 * A run abandoned only because of another start is no failure. If its end may be lost in a downtime, it is one MAX_RUN
 * after the downtime, unless a later run has completed.
 */
function toAbandoned(run: Run, runs: readonly Run[], { blind, maxRunUs }: Judgement): Step | undefined {
  const { startedUs, settledUs, isDoubtful, hiddenUs } = run
  if (isDoubtful) return undefined
  const { atUs, lost } = exceedsAt({ startedUs, hiddenUs }, maxRunUs, blind)
  if (lost === undefined) return { atUs: settledUs, run }
  const isFollowed = runs.some((it) => it.state === 'completed' && it.startedUs > startedUs && it.settledUs <= atUs)
  return isFollowed ? undefined : { atUs, run, lost }
}
