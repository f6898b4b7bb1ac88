// The failures of a series since its last success.
//
//   joins   a failed run, an abandoned one, a failed end without a start, an exception; unless a later success is known
//   ends    a completed run that ended after the last failure, and for exceptions began after the last one; in a row that
//           failed ends without a start made (bare) also an end without a start that does not say failed
import type { Series } from './series.ts'

/** As many failures as a watch may ask for. */
const FAILURES_KEPT = 100

export interface RowEnd {
  /** Of the row of failed runs. */
  readonly ofRuns: boolean
  /** Of the row with exceptions. */
  readonly ofAll: boolean
}

/** False: a later success is known. `keeps`: the times of the newest so many are kept. */
export function countFailure(
  series: Series,
  atUs: number,
  kind: 'run' | 'bare' | 'exception',
  keeps: number = FAILURES_KEPT,
): boolean {
  const isException = kind === 'exception'
  if (isException) series.exceptionUs = Math.max(series.exceptionUs, atUs)
  if (atUs < series.okUs) return false
  if (!isException) {
    series.failedUs = Math.max(series.failedUs, atUs)
    series.isBare = kind === 'bare' && (series.row === 0 || series.isBare)
    series.row++
  }
  series.rowWithExceptions++
  series.failures.push([atUs, isException])
  series.failures.splice(0, series.failures.length - keeps)
  return true
}

/** How many failures in a row a watch has that counts since `sinceUs`. */
export function rowOf(series: Series, withExceptions: boolean, sinceUs: number): number {
  const row = withExceptions ? series.rowWithExceptions : series.row
  if (sinceUs === 0 || row === 0) return row
  const own = series.failures.filter(([, isException]) => withExceptions || !isException)
  const before = own.filter(([atUs]) => atUs <= sinceUs).length
  // those that are not kept are older
  return before === 0 ? row : own.length - before
}

export function countSuccess(series: Series, { startedUs, endedUs }: { startedUs: number; endedUs: number }): RowEnd {
  const ofRuns = endedUs > series.failedUs
  return endRow(series, endedUs, { ofRuns, ofAll: ofRuns && startedUs > series.exceptionUs })
}

export function countBareSuccess(series: Series, endedUs: number): RowEnd {
  const ofRuns = series.row > 0 && series.isBare && endedUs > series.failedUs
  if (!ofRuns) return { ofRuns: false, ofAll: false }
  return endRow(series, endedUs, { ofRuns, ofAll: series.rowWithExceptions === series.row })
}

function endRow(series: Series, endedUs: number, ends: RowEnd): RowEnd {
  if (ends.ofAll) {
    series.rowWithExceptions = 0
    series.failures = []
  } else if (ends.ofRuns) {
    series.failures = series.failures.filter(([, isException]) => isException)
    series.rowWithExceptions -= series.row
  }
  if (ends.ofRuns) series.row = 0
  series.okUs = Math.max(series.okUs, endedUs)
  return ends
}
