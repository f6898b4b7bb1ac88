// `stint exec`: the command first; everything about Stint happens beside it, and nothing about Stint keeps the command from running or ending.
import { basename } from 'node:path'
import { isatty } from 'node:tty'
import { type Clock, systemClock } from '../../clock.ts'
import { type CliConfig, readCliConfig } from '../config.ts'
import type { Io } from '../io.ts'
import { oneLine } from '../one-line.ts'
import { createDelivery, type DeliveryReport } from './deliver-events.ts'
import { takeFlushLock } from './flush-lock.ts'
import { flushPending } from './flush-pending.ts'
import { endEvents, type JobIdentity, startEvent } from './job-events.ts'
import { openPendingEvents, type PendingEvents } from './pending-events.ts'
import { type Ending, runJob } from './run-job.ts'
import type { Target } from './send-event.ts'
import { startFlusher } from './start-flusher.ts'

export interface ExecOptions {
  readonly process?: string
  readonly meta?: string
  readonly uid?: string
}

type Command = readonly [name: string, ...args: string[]]

/** Ends this process as the command ended. */
export async function runExec(command: Command, options: ExecOptions, io: Io): Promise<never> {
  const clock = systemClock
  const startedUs = clock.wallUs()
  const sinceUs = clock.monotonicUs()
  const job = runJob({ command, env: io.env, clock, stderrIsTerminal: isatty(2) })

  const identity: JobIdentity = {
    process: options.process ?? basename(command[0]),
    ...(options.meta !== undefined && { meta: options.meta }),
    uid: options.uid ?? crypto.randomUUID(),
  }
  const say = (line: string) => io.stderr.write(`stint: ${oneLine(line)}\n`)
  const { config, fault } = readWhatCanBeRead(io)
  const telling = config && tell(config, io, clock, say)
  telling?.begin(startEvent(identity, startedUs))

  const ending = await job.ended
  if (ending.failure !== undefined) say(`${command[0]}: ${ending.failure}`)
  const span = { startedUs, endedUs: startedUs + ending.endedUs - sinceUs }
  await telling?.end(endEvents(identity, span, command[0], ending))
  if (fault !== undefined) say(config === undefined ? `${fault}; the command was not timed` : fault)
  return leave(ending, job.letGo, io)
}

/** Everything about Stint of one command. */
function tell({ url, keyHeader, apiKey, stateDir }: CliConfig, io: Io, clock: Clock, say: (line: string) => void) {
  const leaving = new AbortController()
  const target: Target = { url, keyHeader, key: apiKey }
  const pending = openPendingEvents(stateDir, () => crypto.randomUUID())
  const delivery = createDelivery({ target, fetch: io.fetch, pending, clock, signal: leaving.signal })
  let release = () => {}

  /** Stint is there: what it has missed can go. */
  async function sendBacklog(): Promise<void> {
    pending.sweep(clock.wallUs())
    const lock = pending.list(url).length > 0 ? takeFlushLock(stateDir, process.pid, clock) : undefined
    if (lock === undefined) return
    release = lock.release
    await flushPending({
      pending,
      target,
      fetch: io.fetch,
      signal: leaving.signal,
      anyUrl: false,
      lock,
      onDropped: say,
    })
    lock.release()
  }

  return {
    begin(event: ReturnType<typeof startEvent>): void {
      void delivery
        .send(event)
        .then((outcome) => (outcome.is === 'stored' && !leaving.signal.aborted ? sendBacklog() : undefined))
        .catch((error: Error) => say(`pending events cannot be sent: ${error.message}`))
    },
    async end(events: ReturnType<typeof endEvents>): Promise<void> {
      const report = await delivery.finish(events)
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

/** A key that cannot be read hinders only the sending; without an address nothing can be kept either. */
function readWhatCanBeRead({ env }: Io): { readonly config?: CliConfig; readonly fault?: string } {
  try {
    return { config: readCliConfig(env) }
  } catch (error) {
    const fault = (error as Error).message
    try {
      return { config: readCliConfig({ ...env, STINT_API_KEY_FILE: undefined }), fault }
    } catch {
      return { fault }
    }
  }
}

/** Signals whose usual effect is an end without a core dump, so that we can end by them too. */
const FATAL: ReadonlySet<string> = new Set(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL', 'SIGUSR1', 'SIGUSR2', 'SIGALRM'])
const DEATH_MS = 20

/** A shell stops its script when a command was ended by Ctrl-C: it must see that it was, not just a number. */
async function leave({ signal, exitCode }: Ending, letGo: () => void, io: Io): Promise<never> {
  letGo()
  if (signal !== undefined && FATAL.has(signal)) {
    process.kill(process.pid, signal)
    await Bun.sleep(DEATH_MS) // process 1 of a container is not ended by it
  }
  return io.exit(exitCode)
}
