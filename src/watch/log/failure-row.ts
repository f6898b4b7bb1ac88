// The failures of a series since its last success, as two rows: of failed runs, and with exceptions.
//
//   joins   a failed run, one that never finished, a failed end without a start, an exception; unless a success is
//           known that ended after it, of an exception one that began after it. In the row with exceptions a run
//           and its exception count once
//   ends    a completed run that ended after the last failure, and for exceptions began after the last one; in a row
//           that failed ends without a start made (bare) also an end without a start that does not say failed
import { belongsTo, findRun, type RunSpan } from '../../process/belongs-to.ts'
import { type RowFailure, type Series, tagOf } from './series.ts'

/** As many failures as a watch may ask for. */
const FAILURES_KEPT = 100

export interface RowEnd {
  /** Of the row of failed runs. */
  readonly ofRuns: boolean
  /** Of the row with exceptions. */
  readonly ofAll: boolean
}

interface RowEntry {
  readonly atUs: number
  readonly kind: 'run' | 'bare' | 'exception'
  /** Absent: unknown. */
  readonly uid?: string
  /** The start of the failed run. */
  readonly startedUs?: number
}

/** `over`: a later success is known. `runs`: it adds nothing to the row with exceptions. */
type Joined = 'over' | 'runs' | 'both' | 'nothing'

export function countFailure(series: Series, { atUs, kind, uid = '', startedUs = 0 }: RowEntry): Joined {
  const isException = kind === 'exception'
  if (isException) series.exceptionUs = Math.max(series.exceptionUs, atUs)
  if (isException ? endedAfter(series, atUs) : atUs < series.okUs) return 'over'
  const failure: RowFailure = { atUs, kind: isException ? 'exception' : 'run', tag: tagOf(uid), startedUs }
  const isPart = series.failures.some((it) =>
    isException
      ? it.kind !== 'exception' && isOfRun(series, failure, it)
      : it.kind === 'exception' && isOfRun(series, it, failure),
  )
  if (isException && isPart) return 'nothing'
  if (!isException) {
    series.failedUs = Math.max(series.failedUs, atUs)
    series.isBare = kind === 'bare' && (series.row === 0 || series.isBare)
    series.row++
  }
  if (!isPart) series.rowWithExceptions++
  series.failures.push(isPart ? { ...failure, kind: 'part' } : failure)
  series.failures.splice(0, series.failures.length - FAILURES_KEPT)
  return isPart ? 'runs' : 'both'
}

/** Is a completed run known that began after an exception? */
const endedAfter = ({ settled }: Series, atUs: number): boolean =>
  settled.some(({ failed, startedUs }) => !failed && startedUs > atUs)

const nameOf = (tag: number): string | null => (tag === 0 ? null : String(tag))

/** Is this the run of the exception, of all that are known? */
export function isOfRun(
  { open, settled }: Series,
  exception: Pick<RowFailure, 'atUs' | 'tag'>,
  { atUs, tag, startedUs }: Pick<RowFailure, 'atUs' | 'tag' | 'startedUs'>,
): boolean {
  const isBare = startedUs === 0
  const own = { uid: nameOf(tag), startUs: isBare ? atUs : startedUs, endUs: atUs, isBare }
  const raised = { atUs: exception.atUs, uid: nameOf(exception.tag) }
  if (!belongsTo(raised, own, [own])) return false
  const others: RunSpan[] = settled.map((it) => ({ uid: nameOf(it.tag), startUs: it.startedUs, endUs: it.endedUs }))
  for (const [uid, run] of open)
    others.push({ uid: nameOf(tagOf(uid)), startUs: run.startedUs, endUs: Number.POSITIVE_INFINITY })
  return findRun(raised, [own, ...others]) === own
}

/** How many failures in a row a watch has that counts since `sinceUs`. */
export function rowOf({ row, rowWithExceptions, failures }: Series, withExceptions: boolean, sinceUs: number): number {
  const count = withExceptions ? rowWithExceptions : row
  if (sinceUs === 0 || count === 0) return count
  const own = failures.filter(({ kind }) => kind !== (withExceptions ? 'part' : 'exception')).slice(-count)
  const before = own.filter(({ atUs }) => atUs <= sinceUs).length
  // those that are not kept are older
  return before === 0 ? count : own.length - before
}

export function countSuccess(series: Series, { startedUs, endedUs }: { startedUs: number; endedUs: number }): RowEnd {
  const ofRuns = endedUs > series.failedUs
  return endRow(series, endedUs, { ofRuns, ofAll: ofRuns && startedUs > series.exceptionUs })
}

export function countBareSuccess(series: Series, endedUs: number): RowEnd {
  const ofRuns = series.row > 0 && series.isBare && endedUs > series.failedUs
  if (!ofRuns) return { ofRuns: false, ofAll: false }
  const isRuns = series.failures.every(({ kind }) => kind === 'run')
  return endRow(series, endedUs, { ofRuns, ofAll: isRuns && series.rowWithExceptions === series.row })
}

function endRow(series: Series, endedUs: number, ends: RowEnd): RowEnd {
  if (ends.ofAll) {
    series.rowWithExceptions = 0
    series.failures = []
  }
  if (ends.ofRuns) series.row = 0
  series.okUs = Math.max(series.okUs, endedUs)
  return ends
}
