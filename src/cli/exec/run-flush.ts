// Sends all that is pending, and what is added meanwhile, as long as Stint takes it.
import { systemClock } from '../../clock.ts'
import type { CliConfig } from '../config.ts'
import { CliError, type Io } from '../io.ts'
import { oneLine } from '../one-line.ts'
import { takeFlushLock } from './flush-lock.ts'
import { flushPending } from './flush-pending.ts'
import { openPendingEvents } from './pending-events.ts'

export interface FlushOptions {
  /** Also events that were meant for another address. */
  readonly anyUrl: boolean
  readonly isSilent: boolean
}

/** Throws CliError when something is left that should have been sent. */
export async function runFlush(config: CliConfig, { anyUrl, isSilent }: FlushOptions, io: Io): Promise<void> {
  const { url, keyHeader, apiKey, stateDir } = config
  const clock = systemClock
  const say = (line: string) => (isSilent ? undefined : io.stderr.write(`stint: ${oneLine(line)}\n`))
  const pending = openPendingEvents(stateDir, () => crypto.randomUUID())
  const list = () => pending.list(anyUrl ? undefined : url)
  const total = { sent: 0, dropped: 0 }

  const lock = list().length > 0 ? takeFlushLock(stateDir, process.pid, clock) : undefined
  if (lock === undefined && list().length > 0)
    throw new CliError(isSilent ? '' : 'another stint is sending them just now')
  let why: string | undefined
  if (lock !== undefined) {
    const options = {
      pending,
      target: { url, keyHeader, key: apiKey },
      fetch: io.fetch,
      anyUrl,
      lock,
      clock,
      onDropped: say,
    }
    const signal = new AbortController().signal
    try {
      for (let before = -1; why === undefined && total.sent + total.dropped > before && list().length > 0; ) {
        before = total.sent + total.dropped
        const { sent, dropped, why: stopped } = await flushPending({ ...options, signal })
        total.sent += sent
        total.dropped += dropped
        why = stopped
      }
    } finally {
      lock.release()
    }
  }
  const left = list().reduce((sum, file) => sum + (pending.read(file, clock.wallUs())?.events.length ?? 0), 0)
  const figures = `${total.sent} sent, ${total.dropped} dropped, ${left} left`
  if (why !== undefined) throw new CliError(isSilent ? '' : `${figures}: ${oneLine(why)}`)
  if (!isSilent) io.stdout.write(`${figures}\n`)
}
