// `failed`: n failures in a row, ordered by the times at which they were settled. A failed or abandoned run is a failure, with `exceptions` also an
// exception; the next completed run ends the row.
import { type Episode, type Judgement, lastBlind } from './episode.ts'
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

type Step = { readonly atUs: number; readonly run: Run } | { readonly atUs: number; readonly exception: WatchException }

/** For one process and meta. Episodes are in order. */
export function judgeFailed(
  rule: FailedRule,
  runs: readonly Run[],
  exceptions: readonly WatchException[],
  judgement: Judgement,
): Episode[] {
  const { knownUs, sinceUs } = judgement
  const steps: Step[] = [
    ...runs.filter((run) => run.state !== 'running').map((run) => ({ atUs: run.settledUs, run })),
    ...(rule.exceptions ? exceptions.map((exception) => ({ atUs: exception.atUs, exception })) : []),
  ].filter(({ atUs }) => atUs > sinceUs && atUs <= knownUs)
  // An exception at exactly the time of an end counts as before it.
  steps.sort((a, b) => a.atUs - b.atUs || Number('run' in a) - Number('run' in b))

  const episodes: Episode[] = []
  let row = 0
  let thrown: WatchException[] = []
  let current: Episode | undefined
  const count = (atUs: number, cause: NonNullable<Episode['cause']>, run?: Run) => {
    row++
    if (current !== undefined || row < rule.after) return
    current = { sinceUs: atUs, cause, figure: row, ...(run && { uid: run.uid, startedUs: run.startedUs }) }
  }
  for (const step of steps) {
    if ('exception' in step) {
      const { exception } = step
      thrown.push(exception)
      count(step.atUs, 'exception')
      if (current?.sinceUs === step.atUs && exception.uid !== undefined) current = { ...current, uid: exception.uid }
      continue
    }
    const { run } = step
    if (run.state === 'completed') {
      if (thrown.some((exception) => mayBelong(exception, run))) continue // the run itself raised it, so its completion is no success
      if (current !== undefined) episodes.push({ ...current, untilUs: step.atUs })
      row = 0
      thrown = []
      current = undefined
    } else if (run.state === 'failed') count(step.atUs, 'failed', run)
    else if (isCertain(run, judgement)) count(step.atUs, 'abandoned', run)
  }
  return current === undefined ? episodes : [...episodes, current]
}

const mayBelong = ({ atUs, uid }: WatchException, run: Run): boolean =>
  atUs >= run.startedUs && (uid === undefined || uid === run.uid)

/** A run without uid may overlap the next one, and an end may have been lost during a blind stretch. */
const isCertain = (run: Run, { blind }: Judgement): boolean =>
  !run.isDoubtful && lastBlind(blind, run.startedUs, run.settledUs) === undefined
