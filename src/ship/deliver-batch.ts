// Delivers one batch: write, split, bisect, judge, bury. Each step makes at most one request to the store and keeps its
// result: a retry or wait in the middle of a search loses nothing, and stored events are not sent again.
//
//   undecided ──stored──▶ delivered
//       │ ▲
//       │ └──── the store refuses a good event too: it is the store that is broken ────┐
//       └─refused alone─▶ suspected ──the store takes a good event like it──▶ condemned ──▶ buried (durable)
//
// Nothing is buried while the store refuses everything, for that would empty the spool into the dead letters; only the
// operator may give up what it refuses.
import { type Destination, type Event, type Family, familyOf } from '../event/event.ts'
import type { Logger } from '../log.ts'
import { type BuriedLetter, type DeadLetters, DeadLettersFull } from '../state/dead-letters.ts'
import type { Sink, WriteResult } from '../store/sink.ts'
import { createBisection } from './bisect.ts'
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

type Answer = 'progress' | 'searching' | Hold

interface DeliveryOptions {
  readonly destination: Destination
  readonly batch: Omit<Batch, 'next'>
  readonly sink: Sink
  readonly deadLetters: Pick<DeadLetters, 'bury'>
  readonly log: Logger
  readonly meter: ShipMeter
  readonly maxLines: number
  /** Why the operator has given up what the store refuses of a family; undefined unless so. */
  givenUp?(family: Family): string | undefined
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

export type Delivery = ReturnType<typeof createDelivery>

export function createDelivery(options: DeliveryOptions) {
  const { destination, batch, sink, deadLetters, log, meter } = options
  const bisection = createBisection(batch.events.map(linesOf), options.maxLines)
  const unreadable = batch.unreadable.map((record) => ({ destination, account: '', reason: UNREADABLE, record }))
  const letters: BuriedLetter[] = unreadable
  let suspects: Verdict[] = []
  let judgeAt = 1
  let isDoubted = false
  let broken: Family | undefined

  const condemn = (index: number, reason: string) =>
    letters.push({ destination, account: batch.events[index]!.account, reason, record: batch.records[index]! })

  async function write(indexes: readonly number[]): Promise<Answer> {
    const result = await sink.write(indexes.map((index) => batch.events[index]!))
    meter.batch(result.kind)
    switch (result.kind) {
      case 'stored':
        bisection.stored()
        meter.delivered(indexes.length - Math.min(result.expired, indexes.length))
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
    const isLike = (index: number) => isSameShard(batch.events[index]!, like)
    const isAlike = ({ index }: Verdict) => isLike(index)
    const result = await sink.check(like)
    broken = undefined
    if (result.kind === 'refused' || result.kind === 'too_large') {
      broken = familyOf(like.kind)
      const reason = options.givenUp?.(broken)
      if (reason === undefined) {
        isDoubted = true
        return { kind: 'wait', reason: describeBroken(like, result.reason) }
      }
      for (const { index } of suspects.filter(isAlike)) condemn(index, reason)
      for (const index of bisection.takeOut(isLike)) condemn(index, reason)
      suspects = suspects.filter((suspect) => !isAlike(suspect))
      return 'progress'
    }
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
    for (const { index, reason } of suspects.filter(isAlike)) condemn(index, reason)
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
    const next = bisection.next()
    if (suspects.length > 0 && (isDoubted || suspects.length >= judgeAt || next.length === 0)) return judge()
    if (next.length > 0) return write(next)
    return letters.length > 0 ? bury() : 'progress'
  }

  return {
    /**
     * One request or burial. `done`: every event of the batch is stored, expired or buried, durably. `searching`: the
     * store answered, but took nothing yet.
     */
    async step(): Promise<'again' | 'searching' | 'done' | Hold> {
      const answer = await act()
      if (answer !== 'progress') return answer
      return bisection.next().length > 0 || suspects.length > 0 || letters.length > 0 ? 'again' : 'done'
    },
    /** The family of which the store refuses good events, too. */
    get broken(): Family | undefined {
      return broken
    },
    /** Lines a request may have, as learnt from what was too large. */
    get maxLines(): number {
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

const HOUR_US = 3.6e9
const hourOf = ({ stamp }: Event): number => Math.floor(stamp.us / HOUR_US)

/** Stores separate kinds, and times by shards or partitions of at least an hour: each may break alone. */
const isSameShard = (a: Event, b: Event): boolean => a.kind === b.kind && hourOf(a) === hourOf(b)

/** For people. */
function describeBroken(like: Event, reason: string): string {
  const hour = `${new Date(hourOf(like) * 3.6e6).toISOString().slice(0, 13)}:00Z`
  return `the store takes no ${familyOf(like.kind)} of the hour ${hour}: ${reason}`
}
