// Reports one command to Stint: its start at once, its end and failure when they come.
import { basename } from 'node:path'
import { type Backlog, openBacklog } from '../../client/backlog.ts'
import type { Clock } from '../../clock.ts'
import { toUid } from '../../wire/run-id.ts'
import { type CliConfig, readCliConfig } from '../config.ts'
import type { Io } from '../io.ts'
import { oneLine } from '../safe-text.ts'
import { createDelivery, type DeliveryReport } from './deliver-events.ts'
import { endEvents, hasSucceeded, type JobIdentity, startEvent } from './job-events.ts'
import type { ExecCall } from './parse-exec-call.ts'
import type { Ending } from './run-job.ts'
import { createBatchSender, formatEvent } from './send-batch.ts'

const WAIT_S = 10
/** A timer's longest time is 2³¹ ms. */
const WAIT_MAX_S = 24 * 86_400

/** Sends the start. Times are µs of the wall clock. Never throws. */
export function reportJob(call: ExecCall, startedUs: number, clock: Clock, io: Io) {
  const say = (line: string) => void io.stderr.write(`stint: ${oneLine(line)}\n`)
  const { config, fault } = readUsableConfig(io)
  if (config === undefined) return { end: async () => say(`${fault}; the command was not timed`) }

  const [name] = call.command
  const job: JobIdentity = {
    process: call.process ?? basename(name),
    ...(call.meta !== undefined && { meta: call.meta }),
    uid: call.uid === undefined ? crypto.randomUUID() : toUid(call.uid),
  }
  const { url, keyHeader, apiKey: key, backlogHomes } = config
  const target = { url, keyHeader, key, ...(fault !== undefined && { keyFault: fault }) }
  const backlog = openBacklog(backlogHomes, url, key ?? '')
  const sender = createBatchSender(target, io.fetch, clock)
  const delivery = createDelivery({ sender, backlog, clock })
  delivery.start(formatEvent(startEvent(job, startedUs)))
  return {
    /** Resolves when Stint has the events, or they are kept; at once after `hurry` is aborted. */
    async end(ending: Ending, endedUs: number, hurry: AbortSignal): Promise<void> {
      // what knows reasons takes longer to load than many jobs run
      const isRead = (ending.stdoutTail ?? '') !== '' && !hasSucceeded(ending, call.ok ?? [])
      const saysWhy = isRead ? (await import('../../wire/headline.ts')).saysWhy : undefined
      const events = endEvents(job, { startedUs, endedUs }, name, ending, call.ok, saysWhy).map(formatEvent)
      const waitMs = Math.min(call.wait ?? WAIT_S, WAIT_MAX_S) * 1000
      const line = describeReport(await delivery.finish(events, waitMs, hurry), backlog)
      if (line !== undefined) say(line)
    },
  }
}

/** One line; undefined if Stint has all. */
function describeReport({ kept, lost, lostBecause, displaced, reasons }: DeliveryReport, { home }: Backlog) {
  const parts = [...reasons]
  if (kept > 0) parts.push(`${count(kept, 'event')} kept, sent later`)
  if (lost > 0) parts.push(`${count(lost, 'event')} lost: ${describeUnwritable(home, lostBecause)}`)
  if (displaced > 0) parts.push(`removed the oldest ${count(displaced, 'file')} of kept events to make room`)
  return parts.length === 0 ? undefined : parts.join('; ')
}

const count = (n: number, what: string) => `${n} ${what}${n === 1 ? '' : 's'}`

export function describeUnwritable(home: string, error: unknown): string {
  const why = (error as NodeJS.ErrnoException).code ?? error
  return `cannot write ${home} (${why}); set XDG_STATE_HOME to a directory that this user may write`
}

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
