// Which run an exception belongs to, by the one rule of process/belongs-to.ts.
import { belongsTo as belongs, type RunSpan } from '../../process/belongs-to.ts'
import { isLoneEnd, type Run } from './run.ts'

export interface ExceptionMark {
  readonly atMs: number
  readonly process: string
  readonly meta: string | null
  readonly uid: string | null
}

/** Whether an exception belongs to a run, and not to a later one of `runs`, which has the same uid. */
export function belongsTo({ atMs, process, meta, uid }: ExceptionMark, run: Run, runs: readonly Run[]): boolean {
  const isSame = (it: Run) => it.process === process && it.meta === meta
  return isSame(run) && belongs({ atUs: atMs * 1000, uid }, toSpan(run), runs.filter(isSame).map(toSpan))
}

const toSpan = (run: Run): RunSpan => ({
  uid: run.uid,
  startUs: run.startMs * 1000,
  endUs: run.endMs * 1000,
  isBare: isLoneEnd(run),
})
