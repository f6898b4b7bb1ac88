// The events of one job under `stint exec`: two marks with one uid and the job's own clock, and an exception if the job
// failed.
import { basename } from 'node:path'
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

export const startEvent = (job: JobIdentity, startedUs: number): OutgoingEvent => ({
  kind: 'start',
  body: { ...job, at: formatUs(startedUs) },
})

/** The end, and the exception of a job that failed. `ok`: exit codes other than 0 that count as success. */
export function endEvents(
  job: JobIdentity,
  span: JobSpan,
  command: string,
  ending: Ending,
  ok: readonly number[] = [],
): OutgoingEvent[] {
  // Three different times: the exception lies within the run, and no event shares the time of a mark.
  const endedUs = Math.max(span.endedUs, span.startedUs + 2)
  const output = ending.outputTail?.trimEnd()
  const end = { ...job, ...(output && { output }), at: formatUs(endedUs) }
  if (hasSucceeded(ending, ok)) return [{ kind: 'end', body: end }]
  const exception = describeFailure(command, ending)
  return [
    { kind: 'end', body: { ...end, failed: true } },
    { kind: 'exception', body: { ...job, exception, at: formatUs(endedUs - 1) } },
  ]
}

const hasSucceeded = ({ exitCode, signal, failure }: Ending, ok: readonly number[]): boolean =>
  signal === undefined && failure === undefined && [0, ...ok].includes(exitCode)

/** The text of the exception. Omits the command's arguments: they may hold secrets. */
export function describeFailure(command: string, { exitCode, signal, failure, stderrTail }: Ending): string {
  const how = failure ?? (signal === undefined ? `exited with code ${exitCode}` : `was ended by ${signal}`)
  const said = stderrTail.trimEnd()
  return `${basename(command)}: ${how}${said === '' ? '' : `\n${said}`}`
}

/** RFC 3339 with six digits, from µs since the epoch. */
export function formatUs(us: number): string {
  const whole = Math.round(us)
  const ms = Math.floor(whole / 1000)
  return `${new Date(ms).toISOString().slice(0, -1)}${String(whole - ms * 1000).padStart(3, '0')}Z`
}
