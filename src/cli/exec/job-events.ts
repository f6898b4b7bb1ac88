// The events of one job under `stint exec`: two marks with one uid and the job's own clock, and an exception if the job
// failed.
import { basename } from 'node:path'
import { formatUs } from '../../client/event-times.ts'
import { endOfText } from '../../wire/text-tail.ts'
import type { Ending } from './run-job.ts'
import type { OutgoingEvent } from './send-batch.ts'

export interface JobIdentity {
  readonly process: string
  readonly meta?: string
  readonly uid: string
}

/**
 * Wall-clock µs. The end is computed from a clock that does not step, so that a job of ten seconds measures ten
 * seconds.
 */
interface JobSpan {
  readonly startedUs: number
  readonly endedUs: number
}

/** Beside 12,000 of standard error an exception has room for so many of its output. */
const REASON_CODE_POINTS = 2_000

export const startEvent = (job: JobIdentity, startedUs: number): OutgoingEvent => ({
  kind: 'start',
  body: { ...job, at: formatUs(startedUs) },
})

/**
 * The end, and the exception of a job that failed. `ok`: exit codes other than 0 that count as success; `saysWhy`:
 * whether an exception's text names the fault.
 */
export function endEvents(
  job: JobIdentity,
  span: JobSpan,
  command: string,
  ending: Ending,
  ok: readonly number[] = [],
  saysWhy: (text: string) => boolean = () => true,
): OutgoingEvent[] {
  // Three different times: the exception lies within the run, and no event shares the time of a mark.
  const endedUs = Math.max(span.endedUs, span.startedUs + 2)
  const isFine = hasSucceeded(ending, ok)
  const output = (ending.outputTail ?? (isFine ? undefined : ending.stdoutTail))?.trimEnd()
  const end = { ...job, ...(output && { output }), at: formatUs(endedUs) }
  if (isFine) return [{ kind: 'end', body: end }]
  const exception = describeFailure(command, ending, saysWhy)
  return [
    { kind: 'end', body: { ...end, failed: true } },
    { kind: 'exception', body: { ...job, exception, at: formatUs(endedUs - 1) } },
  ]
}

export const hasSucceeded = ({ exitCode, signal, failure }: Ending, ok: readonly number[]): boolean =>
  signal === undefined && failure === undefined && [0, ...ok].includes(exitCode)

/**
 * The text of the exception: how the command ended, and its standard error; if that names no fault, below the end of
 * its output. Omits the command's arguments: they may hold secrets.
 */
export function describeFailure(
  command: string,
  { exitCode, signal, failure, stderrTail, stdoutTail = '' }: Ending,
  saysWhy: (text: string) => boolean = () => true,
): string {
  const how = failure ?? (signal === undefined ? `exited with code ${exitCode}` : `was ended by ${signal}`)
  const parts = [
    `${basename(command)}: ${how}`,
    endOfText(stdoutTail.trimEnd(), REASON_CODE_POINTS),
    stderrTail.trimEnd(),
  ]
  const [first, , errors] = parts
  const isTold = stdoutTail === '' || saysWhy([first, errors].join('\n'))
  return (isTold ? [first, errors] : parts).filter((part) => part !== '').join('\n')
}
