// Carries one destination's events from its spool to its store. Invariants:
// - The order is: the store's answer → dead letters durable → position durable. So a kill at any moment repeats, and never loses.
// - One write at a time; the batch in hand is kept until all of it is decided, and only then does the position move.
// - Nothing that a store or the disk does ends the loop, and only a refusal that a check confirms takes an event out undelivered.
//
//   prepare ──▶ load a batch ──▶ deliver it, a request a step ──▶ advance ──▶ linger ──▶ load …
//      ▲                              │ retry: back off (≤ 5 s, or as the store asks)
//      └────────── wait: parked, tried again from here (≤ 15 s)
import type { Clock } from '../clock.ts'
import type { Destination } from '../event/event.ts'
import type { Logger } from '../log.ts'
import type { DeadLetters } from '../spool/dead-letters.ts'
import type { Spool } from '../spool/spool.ts'
import type { Sink, WriteResult } from '../store/sink.ts'
import { createBackoff } from './backoff.ts'
import { createDelivery, type Delivery, type Hold } from './deliver-batch.ts'
import { type Batch, loadBatch, MAX_BYTES, MAX_RECORDS } from './load-batch.ts'
import type { ShipMeter } from './ship-meter.ts'

export interface ShipperOptions {
  readonly destination: Destination
  readonly spool: Spool
  readonly sink: Sink
  readonly deadLetters: DeadLetters
  readonly clock: Clock
  readonly log: Logger
  readonly meter: ShipMeter
  readonly random?: () => number
}

export interface ShipperStatus {
  readonly state: 'idle' | 'shipping' | 'retrying' | 'parked'
  /** Why it is retrying or parked. */
  readonly reason?: string
  /** Since when, by the wall clock. */
  readonly sinceUs: number
}

/** What the loop does next: goes on, waits for events, or pauses. */
export type Next = 'again' | 'idle' | { readonly pauseMs: number }

export interface Shipper {
  start(): void
  /** One step of the loop; it never throws and makes at most one request to the store. */
  step(): Promise<Next>
  status(): ShipperStatus
  /** Finishes the request in hand, makes no other, and returns. */
  stop(): Promise<void>
}

const RETRY_CAP_MS = 5_000
const PARK_CAP_MS = 15_000
const MAX_ASKED_PAUSE_MS = 60_000
/** ClickHouse wants a few inserts a second: events that trickle in are collected for this long after a write. */
const LINGER_MS = 250
const MAX_LINES = 10_000

export function createShipper(options: ShipperOptions): Shipper {
  const { destination, spool, sink, clock, log, meter } = options
  const backoff = createBackoff(options.random)
  const stopping = new AbortController()
  let status: ShipperStatus = { state: 'idle', sinceUs: clock.wallUs() }
  let isPrepared = false
  let inHand: { batch: Batch; delivery: Delivery; isDelivered: boolean } | undefined
  let maxLines = MAX_LINES
  let running: Promise<void> | undefined

  function enter(state: ShipperStatus['state'], reason?: string, err?: unknown): void {
    if (status.state === state && status.reason === reason) return
    const wasHeld = status.state === 'retrying' || status.state === 'parked'
    status = { state, ...(reason !== undefined && { reason }), sinceUs: clock.wallUs() }
    if (reason !== undefined) log.warn({ destination, store: sink.store, state, reason, err }, 'delivery is held up')
    else if (wasHeld) log.info({ destination, store: sink.store }, 'delivery goes on')
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

  async function load(): Promise<boolean> {
    const batch = await during('the spool cannot be read', loadBatch(spool))
    if (!batch) return false
    inHand = { batch, delivery: createDelivery({ ...options, batch, maxLines }), isDelivered: false }
    return true
  }

  async function finish({ batch, delivery }: { batch: Batch; delivery: Delivery }): Promise<Next> {
    await during('the position in the spool cannot be written', spool.advance(batch.next))
    inHand = undefined
    maxLines = Math.min(MAX_LINES, Math.ceil(delivery.maxLines * 1.125))
    const waiting = spool.stats()
    return waiting.records >= MAX_RECORDS || waiting.bytes >= MAX_BYTES ? 'again' : { pauseMs: LINGER_MS }
  }

  async function tryStep(): Promise<Next> {
    if (!isPrepared) return prepare()
    if (!inHand && !(await load())) {
      enter('idle')
      return 'idle'
    }
    const current = inHand!
    if (!current.isDelivered) {
      const outcome = await current.delivery.step()
      if (typeof outcome === 'object') return holdUp(outcome)
      if (outcome === 'searching') return 'again'
      backoff.reset()
      enter('shipping')
      if (outcome === 'again') return 'again'
      current.isDelivered = true
      if (current.batch.oldestUs !== undefined) {
        meter.deliverySeconds(Math.max(0, clock.wallUs() - current.batch.oldestUs) / 1e6)
      }
    }
    return finish(current)
  }

  async function step(): Promise<Next> {
    try {
      return await tryStep()
    } catch (cause) {
      return holdUp({
        kind: 'retry',
        reason: cause instanceof ShipFault ? cause.message : 'a fault inside Stint',
        cause,
      })
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
    start() {
      running ??= run()
    },
    step,
    status: () => status,
    async stop() {
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
    throw new ShipFault(fault, { cause })
  }
}

/** A store that is not ready is waited for, whatever it says. */
const asHold = (result: Exclude<WriteResult, { kind: 'stored' }>): Hold =>
  result.kind === 'retry' || result.kind === 'wait' ? result : { kind: 'wait', reason: result.reason }

/** Resolves after `ms`, or at once when the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}
