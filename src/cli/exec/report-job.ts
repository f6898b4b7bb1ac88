// Reports one command to Stint: its start at once, its end and failure when they come. A backlog of earlier events is
// sent by another process.
import { basename } from 'node:path'
import type { Clock } from '../../clock.ts'
import { type CliConfig, readCliConfig } from '../config.ts'
import type { Io } from '../io.ts'
import { oneLine } from '../safe-text.ts'
import { createDelivery, type DeliveryReport } from './deliver-events.ts'
import { startFlush } from './flush.ts'
import { endEvents, type JobIdentity, startEvent } from './job-events.ts'
import type { ExecCall } from './parse-exec-call.ts'
import { openPendingEvents } from './pending-events.ts'
import type { Ending } from './run-job.ts'

export interface JobReport {
  /** Resolves soon, whatever Stint does. */
  end(ending: Ending, endedUs: number): Promise<void>
}

/** Sends the start. Times are µs of the wall clock. Never throws. */
export function reportJob(call: ExecCall, startedUs: number, clock: Clock, io: Io): JobReport {
  const say = (line: string) => void io.stderr.write(`stint: ${oneLine(line)}\n`)
  const { config, fault } = readUsableConfig(io)
  if (config === undefined) return { end: async () => say(`${fault}; the command was not timed`) }

  const [name] = call.command
  const job: JobIdentity = {
    process: call.process ?? basename(name),
    ...(call.meta !== undefined && { meta: call.meta }),
    uid: call.uid ?? crypto.randomUUID(),
  }
  const { url, keyHeader, apiKey: key, stateDir } = config
  const target = { url, keyHeader, key, ...(fault !== undefined && { keyFault: fault }) }
  const pending = openPendingEvents(stateDir, () => crypto.randomUUID())
  const delivery = createDelivery({ target, fetch: io.fetch, pending, clock })

  function flushBacklog(isAway = false): void {
    try {
      if (pending.list(url).length > 0) startFlush(stateDir, clock, io.env, isAway)
    } catch {
      // An unreadable directory was reported when an event could not be kept there.
    }
  }

  void delivery.send(startEvent(job, startedUs)).then(({ is }) => is === 'stored' && flushBacklog())
  return {
    async end(ending, endedUs) {
      const report = await delivery.finish(endEvents(job, { startedUs, endedUs }, name, ending, call.ok))
      flushBacklog(report.isAway)
      const line = describeReport(report)
      if (line !== undefined) say(line)
    },
  }
}

/** One line; undefined if all went well or is only late. */
function describeReport({ kept, lost, displaced, reasons }: DeliveryReport): string | undefined {
  const parts = [...reasons]
  if (lost > 0) parts.push(`${count(lost, 'event')} lost`)
  if (kept > 0 && reasons.length > 0) parts.push(`${count(kept, 'event')} kept, sent later`)
  if (displaced > 0) parts.push(`removed the oldest ${count(displaced, 'file')} of kept events to make room`)
  return parts.length === 0 ? undefined : parts.join('; ')
}

const count = (n: number, what: string) => `${n} ${what}${n === 1 ? '' : 's'}`

/** Without a usable key events are kept; without an address not even that is possible. */
function readUsableConfig({ env }: Io): { readonly config?: CliConfig; readonly fault?: string } {
  try {
    return { config: readCliConfig(env) }
  } catch (error) {
    const fault = (error as Error).message
    try {
      return { config: readCliConfig(env, { withoutKey: true }), fault }
    } catch {
      return { fault }
    }
  }
}
