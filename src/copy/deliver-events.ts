// Delivers events to a sink with the same splitting, bisecting and waiting as shipping from the spool. What the sink
// will never take is reported instead of buried: it is still in the source.
import type { Clock } from '../clock.ts'
import type { Destination, Event } from '../event/event.ts'
import type { Logger } from '../log.ts'
import { createBackoff, pause } from '../ship/backoff.ts'
import { createDelivery } from '../ship/deliver-batch.ts'
import type { Sink, WriteResult } from '../store/sink.ts'
import { CopyError } from './places.ts'

const RETRY_CAP_MS = 5_000
/** A store that is away this long ends the copy, which can be continued. */
const GIVE_UP_RETRY_US = 600_000_000
/** A store that needs its operator is mostly found at the first write. */
const GIVE_UP_WAIT_US = 20_000_000
/** A metric counts one per name. */
const MAX_LINES = 10_000
const WRITE_EVENTS = 10_000

export interface DeliverOptions {
  readonly destination: Destination
  readonly sink: Sink
  readonly clock: Clock
  readonly log: Logger
  readonly signal: AbortSignal
  /** Says why nothing moves, and that it does again (undefined). */
  onPause(reason: string | undefined): void
}

export interface Deliver {
  /** Resolves when all are stored, expired or refused. Throws CopyError, or the signal's reason. */
  (events: readonly Event[]): Promise<void>
  /** Totals until now. */
  tally(): { readonly refused: number; readonly expired: number; readonly reason: string | undefined }
}

/** Creates the tables or the bucket. Throws CopyError when the store is not ready. */
export async function prepareSink(options: DeliverOptions): Promise<void> {
  await persist(options, async () => {
    const result = await options.sink.prepare()
    return result.kind === 'stored' ? undefined : result
  })
}

export function createDeliver(options: DeliverOptions): Deliver {
  const { destination, sink, log } = options
  let [refused, expired] = [0, 0]
  let reason: string | undefined
  let maxLines = MAX_LINES
  const meter = {
    delivered() {},
    expired(points: number) {
      expired += points
    },
    dead() {},
    deliverySeconds() {},
    batch() {},
  }
  const deadLetters = {
    bury(letters: readonly { readonly reason: string }[]) {
      refused += letters.length
      reason ??= letters[0]?.reason
    },
  }

  async function deliver(events: readonly Event[]): Promise<void> {
    const batch = { events, records: events.map(() => ''), unreadable: [] }
    const delivery = createDelivery({ destination, batch, sink, deadLetters, log, meter, maxLines })
    await persist(options, async () => {
      for (;;) {
        const outcome = await delivery.step()
        if (outcome === 'done') return undefined
        if (typeof outcome === 'object') return outcome
        options.signal.throwIfAborted()
      }
    })
    maxLines = Math.min(MAX_LINES, Math.ceil(delivery.maxLines * 1.125))
  }

  return Object.assign(
    async (events: readonly Event[]) => {
      for (let from = 0; from < events.length; from += WRITE_EVENTS)
        await deliver(events.slice(from, from + WRITE_EVENTS))
    },
    { tally: () => ({ refused, expired, reason }) },
  )
}

/** Repeats `work` until it answers undefined: at once a fault of the store is only a pause. */
async function persist(
  { sink, clock, signal, onPause }: DeliverOptions,
  work: () => Promise<Exclude<WriteResult, { kind: 'stored' }> | undefined>,
): Promise<void> {
  const backoff = createBackoff()
  const beganUs = clock.monotonicUs()
  let isPaused = false
  for (;;) {
    signal.throwIfAborted()
    const fault = await work()
    if (fault === undefined) break
    const giveUpUs = fault.kind === 'retry' ? GIVE_UP_RETRY_US : GIVE_UP_WAIT_US
    if (clock.monotonicUs() - beganUs > giveUpUs)
      throw new CopyError(`${sink.store} does not take the events: ${fault.reason}`)
    isPaused = true
    onPause(`${sink.store}: ${fault.reason}`)
    const asked = fault.kind === 'retry' ? (fault.afterMs ?? 0) : 0
    await pause(Math.max(backoff.nextMs(RETRY_CAP_MS), Math.min(asked, 60_000)), signal)
  }
  if (isPaused) onPause(undefined)
}
