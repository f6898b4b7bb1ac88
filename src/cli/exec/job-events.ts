// What is told of a job: its two marks with one uid and the job's own clock, and an exception when it failed.
import { basename } from 'node:path'
import type { Ending } from './run-job.ts'

/** One request to /v1: its path there and its body. */
export interface OutgoingEvent {
  readonly kind: 'start' | 'end' | 'exception'
  readonly body: Readonly<Record<string, string>>
}

export interface JobIdentity {
  readonly process: string
  readonly meta?: string
  readonly uid: string
}

/** An end is later than its start by the clock that does not step, so that a job of ten seconds measures ten seconds. */
export interface JobSpan {
  readonly startedUs: number
  readonly endedUs: number
}

export const startEvent = (job: JobIdentity, startedUs: number): OutgoingEvent => ({
  kind: 'start',
  body: { ...job, at: formatUs(startedUs) },
})

/** The end, and the exception of a job that failed. */
export function endEvents(job: JobIdentity, span: JobSpan, command: string, ending: Ending): OutgoingEvent[] {
  // Three moments that differ: the exception lies within the run, and nothing shares the stamp of a mark.
  const endedUs = Math.max(span.endedUs, span.startedUs + 2)
  const end: OutgoingEvent = { kind: 'end', body: { ...job, at: formatUs(endedUs) } }
  if (ending.exitCode === 0) return [end]
  const { uid, ...rest } = job
  const exception = describeFailure(command, ending)
  return [end, { kind: 'exception', body: { ...rest, exception, at: formatUs(endedUs - 1) } }]
}

/** Without the command's arguments: they may hold secrets. */
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
