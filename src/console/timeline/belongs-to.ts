// Which run an exception belongs to.
import type { Run } from './run.ts'

export interface ExceptionMark {
  readonly atMs: number
  readonly process: string
  readonly meta: string | null
  readonly uid: string | null
}

/** Requests overtake each other: an exception with a uid may follow its run's end by this much. */
export const LATE_MS = 60_000

/** Whether an exception belongs to a run, and not to a later one of `runs`, which has the same uid. */
export function belongsTo({ atMs, process, meta, uid }: ExceptionMark, run: Run, runs: readonly Run[]): boolean {
  const isSame = (it: Run) => it.process === process && it.meta === meta && (uid === null || it.uid === uid)
  if (!isSame(run) || atMs < run.startMs) return false
  if (atMs <= run.endMs || uid === null) return atMs <= run.endMs
  return atMs <= run.endMs + LATE_MS && !runs.some((it) => isSame(it) && it.startMs > run.startMs && it.startMs <= atMs)
}
