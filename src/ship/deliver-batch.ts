// Delivers one batch: write, split, bisect, judge, bury. Each step makes at most one request to the store and keeps its
// result: a retry or wait in the middle of a search loses nothing, and stored events are not sent again.
//
//   undecided ──stored──▶ delivered
//       │ ▲
//       │ └──── the store refuses a good event too: it is the store that is broken ────┐
//       └─refused alone─▶ suspected ──the store takes a good event like it──▶ condemned ──▶ buried (durable)
//
// Nothing is buried while the store refuses everything: that would empty the spool into the dead letters.
import type { Destination, Event } from '../event/event.ts'
import type { Logger } from '../log.ts'
import { type BuriedLetter, type DeadLetters, DeadLettersFull } from '../state/dead-letters.ts'
import type { Sink, WriteResult } from '../store/sink.ts'
import { createBisection } from './bisect.ts'
import { hourOf } from './held-back.ts'
import type { Batch } from './load-batch.ts'

/** Counts what is shipped; metrics.ts exports it to Prometheus. */
export interface ShipMeter {
  /** Events the store took. */
  delivered(events: number): void
  /** Points (a metric counts one a name) that the store dropped because they lie outside its retention. */
  expired(points: number): void
  /** Events buried in the dead letters. */
  dead(events: number): void
  /** The time of a delivered batch from the arrival of its oldest event until all of it was stored. */
  deliverySeconds(seconds: number): void
  /** One write and what the store made of it. */
  batch(outcome: WriteResult['kind']): void
}

/** Why a delivery cannot continue right now. */
export type Hold = Extract<WriteResult, { kind: 'retry' | 'wait' }> & { readonly cause?: unknown }

/** The store takes no event of this family in this hour: the others can be delivered. */
export interface Held {
  readonly kind: 'held'
  readonly like: Event
  readonly reason: string
}

type Answer = 'progress' | 'searching' | Hold | Held

export interface Delivery {
  /**
   * Does the next thing. `done`: every event of the batch is stored, expired or buried, durably. `searching`: the store
   * answered, but took nothing yet. `held` ends this delivery: continue with a new one without those events.
   */
  step(): Promise<'again' | 'searching' | 'done' | Hold | Held>
  /** Lines a request may have, as learnt from what was too large. */
  readonly maxLines: number
}

export interface DeliveryOptions {
  readonly destination: Destination
  readonly batch: Omit<Batch, 'next'>
  readonly sink: Sink
  readonly deadLetters: Pick<DeadLetters, 'bury'>
  readonly log: Logger
  readonly meter: ShipMeter
  readonly maxLines: number
  /** The batch is sent again later, and buried from then: something of it or before it is held back. */
  readonly withoutBurying?: boolean
  /** Events that are not in the batch, because the operator had them buried. */
  readonly condemned?: readonly BuriedLetter[]
}

interface Verdict {
  readonly index: number
  readonly reason: string
}

const UNREADABLE = 'unreadable record'
/** Suspects are judged after 1, 2, 4, 8, … of them, up to this many, so that a broken store is noticed soon. */
const MAX_SUSPECTS = 256
/** Dead letters a transaction: writing them blocks the process. */
const BURY_AT_ONCE = 256
const BURY_AT_ONCE_CHARS = 512 * 1024

const linesOf = (event: Event): number => (event.kind === 'metrics' ? Math.max(1, event.items.length) : 1)

export function createDelivery(options: DeliveryOptions): Delivery {
  const { destination, batch, sink, deadLetters, log, meter } = options
  const bisection = createBisection(batch.events.map(linesOf), options.maxLines)
  const unreadable = batch.unreadable.map((record) => ({ destination, account: '', reason: UNREADABLE, record }))
  const letters: BuriedLetter[] = [...unreadable, ...(options.condemned ?? [])]
  let suspects: Verdict[] = []
  let judgeAt = 1
  let isDoubted = false

  async function write(from: number, to: number): Promise<Answer> {
    const result = await sink.write(batch.events.slice(from, to))
    meter.batch(result.kind)
    switch (result.kind) {
      case 'stored':
        bisection.stored()
        meter.delivered(to - from - Math.min(result.expired, to - from))
        if (result.expired > 0) meter.expired(result.expired)
        return 'progress'
      case 'refused':
      case 'too_large': {
        const index = result.kind === 'refused' ? bisection.refused() : bisection.tooLarge()
        if (index !== undefined) suspects.push({ index, reason: result.reason })
        return 'searching'
      }
      default:
        return result
    }
  }

  /**
   * Asks whether the store takes a good event of the first suspect's kind and hour, and judges all suspects of them by
   * it. Until it does, this is the only request; events refused before that are sent again.
   */
  async function judge(): Promise<Answer> {
    const like = batch.events[suspects[0]!.index]!
    const result = await sink.check(like)
    if (result.kind === 'refused' || result.kind === 'too_large') return { kind: 'held', like, reason: result.reason }
    if (result.kind !== 'stored') {
      isDoubted = true
      return result
    }
    if (isDoubted) {
      bisection.putBack(suspects.map(({ index }) => index))
      suspects = []
      isDoubted = false
      judgeAt = 1
      return 'progress'
    }
    const isAlike = ({ index }: Verdict) => isSameShard(batch.events[index]!, like)
    for (const { index, reason } of options.withoutBurying ? [] : suspects.filter(isAlike)) {
      letters.push({ destination, account: batch.events[index]!.account, reason, record: batch.records[index]! })
    }
    suspects = suspects.filter((suspect) => !isAlike(suspect))
    judgeAt = Math.min(judgeAt * 2, MAX_SUSPECTS)
    return 'progress'
  }

  /** Buries what fits: where many find no room, fewer may. */
  function bury(): Answer {
    for (let atOnce = countToBury(letters); ; atOnce = Math.floor(atOnce / 2)) {
      try {
        deadLetters.bury(letters.slice(0, atOnce))
      } catch (cause) {
        if (atOnce > 1) continue
        const isFull = cause instanceof DeadLettersFull
        return { kind: 'wait', reason: `the dead letters ${isFull ? 'are full' : 'cannot be written'}`, cause }
      }
      const buried = letters.splice(0, atOnce)
      meter.dead(buried.length)
      log.warn({ destination, events: buried.length, reason: buried[0]!.reason }, 'buried in the dead letters')
      return 'progress'
    }
  }

  async function act(): Promise<Answer> {
    const span = bisection.next()
    if (suspects.length > 0 && (isDoubted || suspects.length >= judgeAt || !span)) return judge()
    if (span) return write(span.from, span.to)
    return letters.length > 0 ? bury() : 'progress'
  }

  return {
    async step() {
      const answer = await act()
      if (answer !== 'progress') return answer
      return bisection.next() || suspects.length > 0 || letters.length > 0 ? 'again' : 'done'
    },
    get maxLines() {
      return bisection.maxWeight
    },
  }
}

/** At least one. */
function countToBury(letters: readonly BuriedLetter[]): number {
  let count = 0
  for (let chars = 0; count < letters.length && count < BURY_AT_ONCE && chars < BURY_AT_ONCE_CHARS; count++) {
    chars += letters[count]!.record.length
  }
  return count
}

/** Stores separate kinds, and times by shards or partitions of at least an hour: each may break alone. */
const isSameShard = (a: Event, b: Event): boolean => a.kind === b.kind && hourOf(a) === hourOf(b)
