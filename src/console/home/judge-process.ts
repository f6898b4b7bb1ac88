// How a process is doing, from its newest runs. Each meta is judged by its last settled run: a failed one stays bad news until the same
// meta completes, also while the next run is under way. The worst meta decides.
import type { Run } from '../timeline/run.ts'
import { isOverdue, usualMsFor } from '../timeline/usual.ts'

/** Worst first. `quiet`: no run is known. */
export const VERDICTS = ['failed', 'unfinished', 'exceptions', 'overdue', 'running', 'fine', 'quiet'] as const
export type Verdict = (typeof VERDICTS)[number]

export interface Judgement {
  readonly verdict: Verdict
  /** The newest run that has a start, else the newest at all. */
  readonly last: Run | undefined
  /** The usual duration for `last`, ms; undefined below five completed runs. */
  readonly usualMs: number | undefined
}

/** `runs` of one process, newest first. */
export function judgeProcess(runs: readonly Run[], nowMs: number): Judgement {
  const last = runs.find(({ state }) => state !== 'orphan') ?? runs[0]
  if (last === undefined) return { verdict: 'quiet', last, usualMs: undefined }
  const verdicts = [...Map.groupBy(runs, ({ meta }) => meta).values()].map((same) => judgeMeta(same, runs, nowMs))
  const verdict = VERDICTS.find((known) => verdicts.includes(known)) ?? 'fine'
  return { verdict, last, usualMs: usualMsFor(last, runs) }
}

function judgeMeta(same: readonly Run[], all: readonly Run[], nowMs: number): Verdict {
  const settled = same.find(({ state }) => state === 'completed' || state === 'failed' || state === 'abandoned')
  if (settled?.state === 'failed') return 'failed'
  if (settled?.state === 'abandoned') return 'unfinished'
  if ((settled?.exceptions ?? 0) > 0) return 'exceptions'
  const running = same.filter(({ state }) => state === 'running')
  if (running.some(({ exceptions }) => (exceptions ?? 0) > 0)) return 'exceptions'
  if (running.some((run) => isOverdue(run, usualMsFor(run, all), nowMs))) return 'overdue'
  return running.length > 0 ? 'running' : 'fine'
}
