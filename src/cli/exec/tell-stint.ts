// What Stint is told of one command: its start at once, its end and failure when they come, and what Stint missed while it was away.
import { basename } from 'node:path'
import type { Clock } from '../../clock.ts'
import { type CliConfig, readCliConfig } from '../config.ts'
import type { Io } from '../io.ts'
import { oneLine } from '../one-line.ts'
import { createDelivery, type DeliveryReport } from './deliver-events.ts'
import { takeFlushLock } from './flush-lock.ts'
import { flushPending } from './flush-pending.ts'
import { endEvents, type JobIdentity, startEvent } from './job-events.ts'
import type { ExecCall } from './parse-exec-call.ts'
import { openPendingEvents, type PendingEvents } from './pending-events.ts'
import type { Ending } from './run-job.ts'
import { startFlusher } from './start-flusher.ts'

export interface Telling {
  /** Resolves soon, whatever Stint does. */
  end(ending: Ending, endedUs: number): Promise<void>
}

/** Sends the start. Times are µs of the wall clock. Never throws. */
export function tellStint(call: ExecCall, startedUs: number, clock: Clock, io: Io): Telling {
  const say = (line: string) => void io.stderr.write(`stint: ${oneLine(line)}\n`)
  const { config, fault } = readWhatCanBeRead(io)
  if (config === undefined) return { end: async () => say(`${fault}; the command was not timed`) }

  const [name] = call.command
  const job: JobIdentity = {
    process: call.process ?? basename(name),
    ...(call.meta !== undefined && { meta: call.meta }),
    uid: call.uid ?? crypto.randomUUID(),
  }
  const { url, keyHeader, apiKey: key, stateDir } = config
  const target = { url, keyHeader, key, ...(fault !== undefined && { keyFault: fault }) }
  const { fetch } = io
  const leaving = new AbortController()
  const { signal } = leaving
  const pending = openPendingEvents(stateDir, () => crypto.randomUUID())
  const delivery = createDelivery({ target, fetch, pending, clock, signal })
  let release = () => {}

  /** Stint is there: what it has missed can go. */
  async function sendBacklog(): Promise<void> {
    const lock = hasBacklog(pending, url) ? takeFlushLock(stateDir, process.pid, clock) : undefined
    if (lock === undefined) return
    release = lock.release
    await flushPending({ pending, target, fetch, signal, anyUrl: false, lock, clock, onDropped: say })
    lock.release()
  }

  void delivery
    .send(startEvent(job, startedUs))
    .then(({ is }) => (is === 'stored' && !signal.aborted ? sendBacklog() : undefined))
    .catch((error: Error) => say(`kept events cannot be sent: ${error.message}`))

  return {
    async end(ending, endedUs) {
      const report = await delivery.finish(endEvents(job, { startedUs, endedUs }, name, ending))
      leaving.abort()
      release()
      if (!report.isAway && hasBacklog(pending, url)) startFlusher(io.env)
      const line = describeReport(report)
      if (line !== undefined) say(line)
    },
  }
}

const hasBacklog = (pending: PendingEvents, url: string): boolean => {
  try {
    return pending.list(url).length > 0
  } catch {
    return false // told already
  }
}

/** One line, or nothing when all went well, or is only late. */
function describeReport({ kept, lost, displaced, reasons }: DeliveryReport): string | undefined {
  const parts = [...reasons]
  if (lost > 0) parts.push(`${count(lost, 'event')} lost`)
  if (kept > 0 && reasons.length > 0) parts.push(`${count(kept, 'event')} kept, sent later`)
  if (displaced > 0) parts.push(`the oldest ${count(displaced, 'file')} of kept events had to go`)
  return parts.length === 0 ? undefined : parts.join('; ')
}

const count = (n: number, what: string) => `${n} ${what}${n === 1 ? '' : 's'}`

const WITHOUT_KEY = {
  STINT_API_KEY: undefined,
  STINT_API_KEY_FILE: undefined,
  STINT_SERVICE: undefined,
  SERVICE_NAME: undefined,
}

/** A key or a header's name that cannot be read hinders only the sending; without an address nothing can be kept either. */
function readWhatCanBeRead({ env }: Io): { readonly config?: CliConfig; readonly fault?: string } {
  try {
    return { config: readCliConfig(env) }
  } catch (error) {
    const fault = (error as Error).message
    try {
      return { config: readCliConfig({ ...env, ...WITHOUT_KEY }), fault }
    } catch {
      return { fault }
    }
  }
}
