// Which run an exception belongs to. Pure; times in µs.
//
//   with a uid      the newest run of that uid that had started, up to 60 s after its end: requests overtake each other
//   without one     each run of its process and meta that is open then
//   a failed end without a start has those with its uid from 60 s before it to 60 s after it
//
// query/count-exceptions.ts counts by the same rule among the runs of a page.

/** When a run was open; of the same process and meta as the exception. */
export interface RunSpan {
  /** null = without. */
  readonly uid: string | null
  readonly startUs: number
  /** Infinity while it runs. */
  readonly endUs: number
  /** A failed end without a start, at both times. */
  readonly isBare?: boolean
}

/** An exception, as far as its run depends on it. */
export interface Raised {
  readonly atUs: number
  readonly uid: string | null
}

/** An exception with a uid may be that much later than its run. */
export const BELATED_US = 60e6

/** `runs`: in any order, among them those of the same uid that started later. */
export function belongsTo({ atUs, uid }: Raised, run: RunSpan, runs: readonly RunSpan[]): boolean {
  if (uid === null) return run.isBare !== true && atUs >= run.startUs && atUs <= run.endUs
  if (run.uid !== uid || atUs < fromOf(run) || atUs > run.endUs + BELATED_US) return false
  return !runs.some((it) => it.uid === uid && it.startUs > run.startUs && it.startUs <= atUs)
}

const fromOf = ({ startUs, isBare }: RunSpan): number => (isBare === true ? startUs - BELATED_US : startUs)

/** The newest run that it belongs to. */
export function findRun<R extends RunSpan>(exception: Raised, runs: readonly R[]): R | undefined {
  let found: R | undefined
  for (const run of runs)
    if ((found === undefined || run.startUs > found.startUs) && belongsTo(exception, run, runs)) found = run
  return found
}
