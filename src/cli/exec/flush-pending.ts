// Sends what is pending, the oldest first, until all is answered or the first answer says that it is of no use now.
import type { Clock } from '../../clock.ts'
import type { FlushLock } from './flush-lock.ts'
import type { PendingEvent, PendingEvents } from './pending-events.ts'
import { type Fetch, sendEvent, type Target } from './send-event.ts'

export interface FlushOptions {
  readonly pending: PendingEvents
  readonly target: Target
  readonly fetch: Fetch
  /** Gives up when it aborts; what is not answered by then stays. */
  readonly signal: AbortSignal
  /** Also events that were meant for another address. */
  readonly anyUrl: boolean
  readonly lock: FlushLock
  readonly clock: Clock
  /** One line for each event that will never be stored. */
  onDropped(line: string): void
}

export interface FlushReport {
  readonly sent: number
  readonly dropped: number
  /** What ended it early. */
  readonly why: string | undefined
}

const TIMEOUT_MS = 10_000

/** Rejects only when the files cannot be read or removed. */
export async function flushPending(options: FlushOptions): Promise<FlushReport> {
  const { pending, target, fetch, signal, anyUrl, lock, clock, onDropped } = options
  let sent = 0
  let dropped = 0
  let why: string | undefined

  /** Whether the event is done with. */
  async function settle(event: PendingEvent): Promise<boolean> {
    const outcome = await sendEvent(event, target, fetch, AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]))
    lock.touch()
    switch (outcome.is) {
      case 'stored':
        sent++
        return true
      case 'refused':
        dropped++
        onDropped(`the ${event.kind} of ${event.body.process} at ${event.body.at} is dropped: ${outcome.why}`)
        return true
      case 'kept':
        why = outcome.why
        return false
    }
  }

  for (const file of pending.list(anyUrl ? undefined : target.url)) {
    const found = pending.read(file, clock.wallUs())
    if (found === undefined) continue
    const rest: PendingEvent[] = []
    if (found.unreadable > 0) onDropped(`${found.unreadable} lines of ${file} are dropped: they are no events`)
    for (const event of found.events) {
      const isOurs = anyUrl || event.url === target.url
      if (why !== undefined || !isOurs || !(await settle(event))) rest.push(event)
    }
    if (rest.length === 0) pending.remove(file)
    else if (rest.length < found.events.length || found.unreadable > 0) pending.replace(file, rest)
    if (why !== undefined) break
  }
  return { sent, dropped, why }
}
