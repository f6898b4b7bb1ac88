// Carries one destination's events from its spool to its store. Invariants:
// - The order is: the store's answer → dead letters durable → position durable. So a kill at any moment repeats, and never loses.
// - One write at a time; the batch in hand is kept until all of it is decided, and only then does the position move.
// - Nothing that a store or the disk does ends the loop, and only a refusal that a check confirms takes an event out undelivered.
// - Where the store takes no event of one family (a foreign field type on its measurement), that family is held back and the others are delivered: the
//   position stays before the first event held back, batches are read ahead of it, and once a check of the family passes all is sent again from the
//   position. What was delivered meanwhile is overwritten by itself.
//
//   prepare ──▶ load a batch ──▶ deliver it, a request a step ──▶ advance ──▶ linger ──▶ load …
//      ▲                              │ retry: back off (≤ 5 s, or as the store asks)
//      └────────── wait: parked, tried again from here (≤ 15 s)
import type { Clock } from '../clock.ts'
import { type Destination, type Family, familyOf } from '../event/event.ts'
import type { Logger } from '../log.ts'
import type { Position, Spool } from '../spool/spool.ts'
import type { BuriedLetter, DeadLetters } from '../state/dead-letters.ts'
import type { Sink, WriteResult } from '../store/sink.ts'
import { createBackoff } from './backoff.ts'
import { createDelivery, type Delivery, type Held, type Hold } from './deliver-batch.ts'
import { type Batch, type BatchLimits, loadBatch } from './load-batch.ts'
import { pause } from './pause.ts'
import type { ShipMeter } from './ship-meter.ts'

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
  /** The operator gives up what is held back now: it goes to the dead letters with this reason. Returns the families; none when nothing is held back. */
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
}

const RETRY_CAP_MS = 5_000
const PARK_CAP_MS = 15_000
/** The events behind what is held back must not wait for long. */
const HELD_CAP_MS = 1_000
const MAX_ASKED_PAUSE_MS = 60_000
/** ClickHouse wants a few inserts a second: events that trickle in are collected for this long after a write. */
const LINGER_MS = 250
const LIMITS: BatchLimits = { records: 5_000, bytes: 4 * 2 ** 20 }
const MAX_LINES = 10_000

export function createShipper(options: ShipperOptions): Shipper {
  const { destination, spool, sink, clock, log, meter, limits = LIMITS, maxLines: mostLines = MAX_LINES } = options
  const backoff = createBackoff(options.random)
  const stopping = new AbortController()
  let status: ShipperStatus = { state: 'idle', sinceUs: clock.wallUs() }
  let isPrepared = false
  let inHand: InHand | undefined
  /** The batch behind the one in hand, being read and decoded while the store writes: only when a full one waits. */
  let ahead: Promise<Batch | undefined> | undefined
  let maxLines = mostLines
  /** By family, one of its events and why it is held back. */
  const held = new Map<Family, Held>()
  /** By family, why its events up to the mark are buried; it was held back before. */
  const condemned = new Map<Family, { readonly reason: string; readonly mark: number }>()
  /** While something is held back: where the batch behind those that were delivered begins. */
  let aheadOf: Position | undefined
  let running: Promise<void> | undefined
  /** What was held back is condemned: the next step begins again at the position. */
  let isReset = false

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

  function holdBack(current: InHand, cause: Held): Next {
    held.set(familyOf(cause.like.kind), cause)
    sayHeld()
    inHand = take(current.batch, current.oldestUs)
    return 'again'
  }

  const sayHeld = () =>
    enter(
      'parked',
      [...held].map(([family, { reason }]) => `${family} are held back, the rest is delivered: ${reason}`).join('; '),
    )

  /** Asks whether the store takes the families again that are held back. */
  async function checkHeld(): Promise<Next> {
    for (const [family, { like }] of held) {
      const result = await sink.check(like)
      if (result.kind === 'stored') held.delete(family)
    }
    if (held.size > 0) return { pauseMs: backoff.nextMs(HELD_CAP_MS) }
    reset()
    enter('shipping')
    return 'again'
  }

  function take(batch: Batch, oldestUs: number | undefined): InHand {
    const letters: BuriedLetter[] = []
    const kept = batch.events.map((event, i) => {
      const reason = condemned.get(familyOf(event.kind))?.reason
      if (reason !== undefined) letters.push({ destination, account: event.account, reason, record: batch.records[i]! })
      return reason === undefined && !held.has(familyOf(event.kind))
    })
    const filtered =
      held.size === 0 && letters.length === 0
        ? batch
        : {
            ...batch,
            events: batch.events.filter((_, i) => kept[i]),
            records: batch.records.filter((_, i) => kept[i]),
            unreadable: held.size === 0 ? batch.unreadable : [],
          }
    const delivery = createDelivery({
      ...options,
      batch: filtered,
      maxLines,
      withoutBurying: held.size > 0,
      condemned: held.size > 0 ? [] : letters, // while another family is held back, they come again
    })
    return { batch, delivery, oldestUs, isDelivered: false }
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
      ahead.catch(() => {}) // whoever takes it meets the fault
    }
    return take(batch, oldestUs)
  }

  async function finish({ batch, delivery }: InHand): Promise<Next> {
    if (held.size > 0) {
      aheadOf = batch.next
      inHand = undefined
      return 'again'
    }
    await during('the position in the spool cannot be written', spool.advance(batch.next))
    for (const [family, { mark }] of condemned) if (spool.hasDelivered(mark)) condemned.delete(family)
    inHand = undefined
    maxLines = Math.min(mostLines, Math.ceil(delivery.maxLines * 1.125))
    return holdsBatches(1) ? 'again' : { pauseMs: LINGER_MS }
  }

  function buryHeld(reason: string): readonly Family[] {
    const families = [...held.keys()]
    for (const family of families) condemned.set(family, { reason, mark: spool.mark() })
    if (families.length > 0) isReset = true
    return families
  }

  /** Begins again at the position, with nothing held back. Not while a request is under way. */
  function reset(): void {
    isReset = false
    held.clear()
    aheadOf = undefined
    ahead = undefined
    inHand = undefined
  }

  async function tryStep(): Promise<Next> {
    if (isReset) reset()
    if (!isPrepared) return prepare()
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
    throw new ShipFault(fault, { cause })
  }
}

/** A store that is not ready is waited for, whatever it says. */
const asHold = (result: Exclude<WriteResult, { kind: 'stored' }>): Hold =>
  result.kind === 'retry' || result.kind === 'wait' ? result : { kind: 'wait', reason: result.reason }
