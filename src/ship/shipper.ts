// Carries one destination's events from its spool to its store. Invariants:
// - The order: the store's answer → dead letters durable → position durable. A kill loses nothing, at most repeats.
// - One write at a time. The position moves only when every event of the current batch is decided.
// - No fault of a store or disk ends the loop; only a refusal that a check confirms removes an event undelivered.
// - If the store refuses good events too (a foreign field type in a shard), the destination is parked until the store
//   takes a good event, or the operator gives up what the store refuses up to the spool's present end.
//
//   prepare ──▶ load a batch ──▶ deliver it, a request a step ──▶ advance ──▶ linger ──▶ load …
//      ▲                              │ retry: back off (≤ 5 s, or as the store asks)
//      └────────── wait: parked, tried again from here (≤ 15 s)
import type { Clock } from '../clock.ts'
import type { Destination, Family } from '../event/event.ts'
import type { Logger } from '../log.ts'
import type { Spool } from '../spool/spool.ts'
import type { DeadLetters } from '../state/dead-letters.ts'
import type { Pace, Sink, WriteResult } from '../store/sink.ts'
import { createBackoff, pause } from './backoff.ts'
import { createDelivery, type Delivery, type Hold, type ShipMeter } from './deliver-batch.ts'
import { type Batch, type BatchLimits, loadBatch } from './load-batch.ts'

export interface ShipperOptions {
  readonly destination: Destination
  readonly spool: Spool
  readonly sink: Sink
  readonly deadLetters: DeadLetters
  readonly clock: Clock
  readonly log: Logger
  readonly meter: ShipMeter
  readonly limits?: BatchLimits
  /** In one write; a metric counts one per name. */
  readonly maxLines?: number
  /** Events are collected for this long after a write. */
  readonly lingerMs?: number
  readonly random?: () => number
}

interface ShipperStatus {
  readonly state: 'idle' | 'shipping' | 'retrying' | 'parked'
  /** Why it is retrying or parked. */
  readonly reason?: string
  /** Since when, by the wall clock. */
  readonly sinceUs: number
}

/** The loop's next action: continue, wait for events, or pause. */
export type Next = 'again' | 'idle' | { readonly pauseMs: number }

interface InHand {
  readonly batch: Batch
  readonly delivery: Delivery
  /** Arrival of its oldest event, µs since the epoch; 0 when it is not known. */
  readonly oldestUs: number | undefined
  isDelivered: boolean
}

const RETRY_CAP_MS = 5_000
const PARK_CAP_MS = 15_000
const MAX_ASKED_PAUSE_MS = 60_000
const LINGER_MS = 250
const LIMITS: BatchLimits = { records: 5_000, bytes: 4 * 2 ** 20 }
const MAX_LINES = 10_000

export type Shipper = ReturnType<typeof createShipper>

export function createShipper(options: ShipperOptions) {
  const { destination, spool, sink, clock, log, meter } = options
  const { limits = LIMITS, maxLines: mostLines = MAX_LINES, lingerMs = LINGER_MS } = options
  const backoff = createBackoff(options.random)
  const pace = sink.pace && createPace(sink.pace)
  const nowMs = () => clock.monotonicUs() / 1000
  const stopping = new AbortController()
  let status: ShipperStatus = { state: 'idle', sinceUs: clock.wallUs() }
  let isPrepared = false
  let inHand: InHand | undefined
  /** The batch behind the one in hand, being read and decoded while the store writes: only when a full one waits. */
  let ahead: Promise<Batch | undefined> | undefined
  let maxLines = mostLines
  /** What the operator gave up, until the spool is delivered up to `mark`. */
  const givenUp = new Map<Family, { readonly reason: string; readonly mark: number }>()
  let running: Promise<void> | undefined

  function enter(state: ShipperStatus['state'], reason?: string, err?: unknown): void {
    if (status.state === state && status.reason === reason) return
    const wasHeld = status.state === 'retrying' || status.state === 'parked'
    status = { state, ...(reason !== undefined && { reason }), sinceUs: clock.wallUs() }
    if (reason !== undefined) log.warn({ destination, store: sink.store, state, reason, err }, 'delivery paused')
    else if (wasHeld) log.info({ destination, store: sink.store }, 'delivery resumed')
  }

  function holdUp(hold: Hold): Next {
    if (hold.kind === 'wait') {
      isPrepared = false
      enter('parked', hold.reason, hold.cause)
      return { pauseMs: backoff.nextMs(PARK_CAP_MS) }
    }
    enter('retrying', hold.reason, hold.cause)
    return { pauseMs: Math.max(backoff.nextMs(RETRY_CAP_MS), Math.min(hold.afterMs ?? 0, MAX_ASKED_PAUSE_MS)) }
  }

  async function prepare(): Promise<Next> {
    const result = await sink.prepare()
    if (result.kind !== 'stored') return holdUp(asHold(result))
    isPrepared = true
    return 'again'
  }

  /** Are there full batches behind the position? */
  function holdsBatches(count: number): boolean {
    const { records, bytes } = spool.stats()
    return records >= count * limits.records || bytes >= count * limits.bytes
  }

  async function load(): Promise<InHand | undefined> {
    const readAhead = ahead
    ahead = undefined
    const batch = await during(
      'the spool cannot be read',
      readAhead?.then((found) => found ?? loadBatch(spool, limits)) ?? loadBatch(spool, limits),
    )
    if (!batch) return undefined
    const { oldestUs } = spool.stats()
    if (holdsBatches(2)) {
      ahead = loadBatch(spool, limits, batch.next)
      ahead.catch(() => {}) // the fault is thrown to the caller that takes it
    }
    const delivery = createDelivery({
      ...options,
      batch,
      maxLines,
      givenUp: (family) => givenUp.get(family)?.reason,
    })
    return { batch, delivery, oldestUs, isDelivered: false }
  }

  async function finish({ batch, delivery }: InHand): Promise<Next> {
    await during('the position in the spool cannot be written', spool.advance(batch.next))
    for (const [family, { mark }] of givenUp) if (spool.hasDelivered(mark)) givenUp.delete(family)
    inHand = undefined
    pace?.spend(nowMs())
    maxLines = Math.min(mostLines, Math.ceil(delivery.maxLines * 1.125))
    return holdsBatches(1) ? 'again' : { pauseMs: lingerMs }
  }

  function buryHeld(reason: string): readonly Family[] {
    const family = inHand?.delivery.broken
    if (family === undefined) return []
    givenUp.set(family, { reason, mark: spool.mark() })
    return [family]
  }

  async function tryStep(): Promise<Next> {
    if (!isPrepared) return prepare()
    if (!inHand) {
      const waitMs = spool.stats().records > 0 ? (pace?.waitMs(nowMs()) ?? 0) : 0
      if (waitMs > 0 && !holdsBatches(1)) return { pauseMs: Math.min(waitMs, lingerMs) }
      inHand = await load()
    }
    if (!inHand) {
      enter('idle')
      return 'idle'
    }
    const current = inHand
    if (!current.isDelivered) {
      const outcome = await current.delivery.step()
      if (typeof outcome === 'object') return holdUp(outcome)
      if (outcome === 'searching') return 'again'
      backoff.reset()
      enter('shipping')
      if (outcome === 'again') return 'again'
      current.isDelivered = true
      if (current.oldestUs) meter.deliverySeconds(Math.max(0, clock.wallUs() - current.oldestUs) / 1e6)
    }
    return finish(current)
  }

  async function step(): Promise<Next> {
    try {
      return await tryStep()
    } catch (cause) {
      const reason = cause instanceof ShipFault ? cause.message : 'a fault inside Stint'
      return holdUp({ kind: 'retry', reason, cause })
    }
  }

  async function run(): Promise<void> {
    const { signal } = stopping
    while (!signal.aborted) {
      const next = await step()
      if (next === 'idle') await spool.waitForRecords(signal)
      else if (next !== 'again') await pause(next.pauseMs, signal)
    }
  }

  return {
    start(): void {
      running ??= run()
    },
    /** One step of the loop; it never throws and makes at most one request to the store. */
    step,
    status: (): ShipperStatus => status,
    /**
     * For the operator: buries all events accepted so far that the store refuses of a broken measurement or table, with
     * this reason. Returns their family; undefined if nothing is broken.
     */
    buryHeld,
    /** Finishes the request in hand, makes no other, and returns. */
    async stop(): Promise<void> {
      stopping.abort()
      await running
    },
  }
}

class ShipFault extends Error {}

async function during<T>(fault: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    const why = (cause as Error).cause
    throw new ShipFault(why instanceof Error ? `${fault}: ${why.message}` : fault, { cause })
  }
}

/** A store that is not ready is waited for, whatever it says. */
const asHold = (result: Exclude<WriteResult, { kind: 'stored' }>): Hold =>
  result.kind === 'retry' || result.kind === 'wait' ? result : { kind: 'wait', reason: result.reason }

/** How often a store is written to while few events arrive, in ms of any clock that never goes back. */
function createPace({ atOnce, everyMs }: Pace) {
  /** When `atOnce` writes may follow each other again. */
  let fullAtMs = Number.NEGATIVE_INFINITY
  return {
    /** The ms until the next write is due; 0 = now. */
    waitMs: (nowMs: number): number => Math.max(0, fullAtMs - (atOnce - 1) * everyMs - nowMs),
    /** A write was made. However many came before, the next one is due in `everyMs`. */
    spend(nowMs: number): void {
      fullAtMs = Math.min(Math.max(fullAtMs, nowMs) + everyMs, nowMs + atOnce * everyMs)
    },
  }
}
