// Carries one destination's events from its spool to its store. Invariants:
// - The order: the store's answer → dead letters durable → position durable. A kill loses nothing, at most repeats.
// - One write at a time. The position moves only when every event of the current batch is decided.
// - No fault of a store or disk ends the loop; only a refusal that a check confirms removes an event undelivered.
// - If the store refuses all events of one family in one hour (a foreign field type in a shard), they are held back and
//   the others delivered: the position stays before the first of them, and later batches are read ahead of it. Once a
//   check of that hour succeeds, all from the position on is sent again; what was delivered overwrites itself.
//
//   prepare ──▶ load a batch ──▶ deliver it, a request a step ──▶ advance ──▶ linger ──▶ load …
//      ▲                              │ retry: back off (≤ 5 s, or as the store asks)
//      └────────── wait: parked, tried again from here (≤ 15 s)
import type { Clock } from '../clock.ts'
import type { Destination, Family } from '../event/event.ts'
import type { Logger } from '../log.ts'
import type { Position, Spool } from '../spool/spool.ts'
import type { BuriedLetter, DeadLetters } from '../state/dead-letters.ts'
import type { Sink, WriteResult } from '../store/sink.ts'
import { createBackoff, pause } from './backoff.ts'
import { createDelivery, type Delivery, type Held, type Hold, type ShipMeter } from './deliver-batch.ts'
import { createHeldBack } from './held-back.ts'
import { type Batch, type BatchLimits, isLarge, loadBatch } from './load-batch.ts'

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

export interface ShipperStatus {
  readonly state: 'idle' | 'shipping' | 'retrying' | 'parked'
  /** Why it is retrying or parked. */
  readonly reason?: string
  /** Since when, by the wall clock. */
  readonly sinceUs: number
}

/** The loop's next action: continue, wait for events, or pause. */
export type Next = 'again' | 'idle' | { readonly pauseMs: number }

export interface Shipper {
  start(): void
  /** One step of the loop; it never throws and makes at most one request to the store. */
  step(): Promise<Next>
  status(): ShipperStatus
  /** The operator gives up what is held back: it goes to the dead letters with this reason. Returns its families. */
  buryHeld(reason: string): readonly Family[]
  /** Finishes the request in hand, makes no other, and returns. */
  stop(): Promise<void>
}

interface InHand {
  readonly batch: Batch
  readonly delivery: Delivery
  /** Arrival of its oldest event, µs since the epoch; 0 when it is not known. */
  readonly oldestUs: number | undefined
  isDelivered: boolean
  /** It comes again: something of it or before it is held back. */
  readonly isAhead: boolean
}

const RETRY_CAP_MS = 5_000
const PARK_CAP_MS = 15_000
/** The events behind what is held back must not wait for long. */
const HELD_CAP_MS = 1_000
const MAX_ASKED_PAUSE_MS = 60_000
const LINGER_MS = 250
const LIMITS: BatchLimits = { records: 5_000, bytes: 4 * 2 ** 20 }
const MAX_LINES = 10_000

export function createShipper(options: ShipperOptions): Shipper {
  const { destination, spool, sink, clock, log, meter } = options
  const { limits = LIMITS, maxLines: mostLines = MAX_LINES, lingerMs = LINGER_MS } = options
  const backoff = createBackoff(options.random)
  const stopping = new AbortController()
  let status: ShipperStatus = { state: 'idle', sinceUs: clock.wallUs() }
  let isPrepared = false
  let inHand: InHand | undefined
  /** The batch behind the one in hand, being read and decoded while the store writes: only when a full one waits. */
  let ahead: Promise<Batch | undefined> | undefined
  let maxLines = mostLines
  const held = createHeldBack()
  /** When what is held back is checked although there are events to deliver, by the monotonic clock. */
  let checkAtUs = 0
  /** A check of the round passed. */
  let isReleased = false
  /** While something is held back: where the batch behind those that were delivered begins. */
  let aheadOf: Position | undefined
  let running: Promise<void> | undefined
  /** The events held back are condemned: the next step starts again at the position. */
  let isCondemned = false

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

  function holdBack(current: InHand, { like, reason }: Held): Next {
    held.add(like, reason)
    sayHeld()
    checkAtUs = clock.monotonicUs() + HELD_CAP_MS * 1000
    inHand = take(current.batch, current.oldestUs)
    return 'again'
  }

  const sayHeld = () => (held.size > 0 ? enter('parked', held.describe()) : enter('shipping'))

  /** Asks whether the store takes what is held back, a stretch per step; if it takes any, restarts at the position. */
  async function checkHeld(): Promise<Next> {
    const like = held.next()
    if (like !== undefined) {
      checkAtUs = 0 // until the round has ended
      const result = await sink.check(like)
      if (result.kind === 'retry' || result.kind === 'wait') return holdUp(result)
      if (result.kind === 'stored') {
        held.release(like)
        isReleased = true
      }
      return 'again'
    }
    checkAtUs = clock.monotonicUs() + HELD_CAP_MS * 1000
    sayHeld()
    if (!isReleased) return { pauseMs: backoff.nextMs(HELD_CAP_MS) }
    rewind()
    return 'again'
  }

  function take(batch: Batch, oldestUs: number | undefined): InHand {
    const isAhead = aheadOf !== undefined || batch.events.some(held.has)
    const { events, records, condemned } = held.sort(batch)
    const letters = condemned.map((letter): BuriedLetter => ({ destination, ...letter }))
    const delivery = createDelivery({
      ...options,
      batch: { events, records, unreadable: isAhead ? [] : batch.unreadable },
      maxLines,
      withoutBurying: isAhead,
      condemned: isAhead ? [] : letters,
    })
    return { batch, delivery, oldestUs, isDelivered: false, isAhead }
  }

  async function load(): Promise<InHand | undefined> {
    const readAhead = ahead
    ahead = undefined
    const batch = await during(
      'the spool cannot be read',
      readAhead?.then((found) => found ?? loadBatch(spool, limits, aheadOf)) ?? loadBatch(spool, limits, aheadOf),
    )
    if (!batch) return undefined
    const { oldestUs } = spool.stats()
    if (held.size === 0 && holdsBatches(2)) {
      ahead = loadBatch(spool, limits, batch.next)
      ahead.catch(() => {}) // the fault is thrown to the caller that takes it
    }
    return take(batch, oldestUs)
  }

  async function finish({ batch, delivery, isAhead }: InHand): Promise<Next> {
    if (isAhead) {
      aheadOf = batch.next
      inHand = undefined
      return isLarge(batch, limits) ? 'again' : { pauseMs: lingerMs }
    }
    await during('the position in the spool cannot be written', spool.advance(batch.next))
    held.forgetVerdicts((mark) => spool.hasDelivered(mark))
    inHand = undefined
    maxLines = Math.min(mostLines, Math.ceil(delivery.maxLines * 1.125))
    return holdsBatches(1) ? 'again' : { pauseMs: lingerMs }
  }

  function buryHeld(reason: string): readonly Family[] {
    const families = held.condemn(reason, spool.mark())
    if (families.length > 0) isCondemned = true
    return families
  }

  /** Begins again at the position. Not while a request is under way. */
  function rewind(): void {
    isReleased = false
    aheadOf = undefined
    ahead = undefined
    inHand = undefined
  }

  async function tryStep(): Promise<Next> {
    if (isCondemned) {
      isCondemned = false
      held.clear()
      rewind()
    }
    if (!isPrepared) return prepare()
    if (!inHand && (isReleased || held.size > 0) && clock.monotonicUs() >= checkAtUs) return checkHeld()
    inHand ??= await load()
    if (!inHand) {
      if (held.size > 0) return checkHeld()
      enter('idle')
      return 'idle'
    }
    const current = inHand
    if (!current.isDelivered) {
      const outcome = await current.delivery.step()
      if (typeof outcome === 'object') return outcome.kind === 'held' ? holdBack(current, outcome) : holdUp(outcome)
      if (outcome === 'searching') return 'again'
      backoff.reset()
      if (held.size > 0) sayHeld()
      else enter('shipping')
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
    start() {
      running ??= run()
    },
    step,
    status: () => status,
    buryHeld,
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
    const why = (cause as Error).cause
    throw new ShipFault(why instanceof Error ? `${fault}: ${why.message}` : fault, { cause })
  }
}

/** A store that is not ready is waited for, whatever it says. */
const asHold = (result: Exclude<WriteResult, { kind: 'stored' }>): Hold =>
  result.kind === 'retry' || result.kind === 'wait' ? result : { kind: 'wait', reason: result.reason }
