// Stamps events that bring their own time (lane 1). Invariants:
//   1. The stamp is a function of the time and the content (identity.ts), on every node and after every restore: no memory guarantees identity.
//   2. Two different events of one InfluxDB series whose stamps would be equal get different ones, as long as the earlier one is remembered. The
//      later one is moved to the next free value, and this alone is kept on disk, so that its retry is moved again.
//   3. Memory is bounded, and what is forgotten refuses nothing. Series include the account: no account moves another one's events.
import { destinationOf, type Event } from './event.ts'
import { choiceOf, contentOf, ownStamp, seriesOf, stampAt, valuesAt } from './identity.ts'
import type { Stamp } from './stamp.ts'

/** The durable memory of moved events, by their time and content. */
export interface MovedStamps {
  find(atUs: number, content: bigint): Move | undefined
  keep(atUs: number, content: bigint, moved: number): Promise<void>
}

/** How far an event was moved; `kept` resolves when that is on disk, and is undefined when it already is. */
export interface Move {
  readonly moved: number
  readonly kept: Promise<void> | undefined
}

export interface OwnStamp {
  readonly stamp: Stamp
  /** The event was moved just now: it may be accepted when this resolves. Rejects with the error of the disk. */
  readonly kept: Promise<void> | undefined
}

export interface OwnStamps {
  /** `atUs`: the event's own time in µs since the epoch. The stamp that the event already has does not count. */
  claim(event: Event, atUs: number): OwnStamp
}

/** Slots per generation (there are two): 8 bytes each, at most half of them used. */
const SLOTS = 2 ** 21
const FULL_TIMES_MAX = 10_000

/** A 64-bit hash as two numbers: BigInt is too slow for a walk along thousands of values. */
type Hash = readonly [low: number, high: number]
const split = (hash: bigint): Hash => [Number(hash & 0xffffffffn), Number(hash >> 32n)]

/** `slots`: a power of two. */
export function createOwnStamps(moved: MovedStamps, slots = SLOTS): OwnStamps {
  const taken = createTakenStamps(slots)
  /** Times of which every stamp is taken in a series: where to continue, and how far that is moved. */
  const full = new Map<string, { readonly us: number; readonly moved: number }>()

  function findFree(
    atUs: number,
    series: readonly Hash[],
    content: bigint,
    tag: number,
  ): { stamp: Stamp; moved: number } {
    const isFree = (stamp: Stamp) => series.every((one) => taken.isFree(one, stamp, tag))
    const natural = ownStamp(atUs, content)
    if (isFree(natural)) return { stamp: natural, moved: 0 }
    const choice = choiceOf(content)
    const time = `${atUs} ${series.join()}`
    let { us, moved: skipped } = full.get(time) ?? { us: atUs, moved: 0 }
    for (; ; us++) {
      const values = valuesAt(us)
      const first = choice % values
      for (let i = 0; i < values; i++) {
        const stamp = stampAt(us, (first + i) % values)
        if (isFree(stamp)) return { stamp, moved: skipped + i }
      }
      skipped += values
      if (full.size >= FULL_TIMES_MAX) full.clear()
      full.set(time, { us: us + 1, moved: skipped })
    }
  }

  return {
    claim(event, atUs) {
      const content = contentOf(event)
      // In ClickHouse the content is part of the key, so nothing overwrites anything there.
      if (destinationOf(event.kind) === 'exceptions') return { stamp: ownStamp(atUs, content), kept: undefined }
      const known = moved.find(atUs, content)
      if (known !== undefined) return { stamp: ownStamp(atUs, content, known.moved), kept: known.kept }
      const series = seriesOf(event).map(split)
      const [, tag] = split(content)
      const found = findFree(atUs, series, content, tag)
      for (const one of series) taken.take(one, found.stamp, tag)
      return { stamp: found.stamp, kept: found.moved === 0 ? undefined : moved.keep(atUs, content, found.moved) }
    },
  }
}

/** Which (series, stamp) has which content, by 53 bits of the one and 32 of the other; the oldest half is forgotten at once. */
function createTakenStamps(slots: number) {
  let young = new Uint32Array(2 * slots)
  let old: Uint32Array | undefined
  let count = 0
  const mask = slots - 1
  /** Two independent hashes of series and stamp; the second is never 0. */
  let slot = 0
  let key = 0

  function locate([low, high]: Hash, { us, sub }: Stamp): void {
    const a = mix(low ^ (us % 2 ** 32) ^ Math.imul(sub + 1, 0x9e3779b1))
    const b = mix(high ^ Math.floor(us / 2 ** 32) ^ Math.imul(a, 0x85ebca6b))
    slot = mix(a ^ b) & mask
    key = b >>> 0 || 1
  }

  /** The place of the located key in a table: its entry, or the empty one where it belongs. */
  function placeIn(table: Uint32Array): number {
    let at = slot
    while (table[2 * at] !== 0 && table[2 * at] !== key) at = (at + 1) & mask
    return 2 * at
  }

  return {
    /** Also when it is this very content that has it. */
    isFree(series: Hash, stamp: Stamp, content: number): boolean {
      locate(series, stamp)
      let at = placeIn(young)
      if (young[at] !== 0) return young[at + 1] === content
      if (old === undefined) return true
      at = placeIn(old)
      return old[at] === 0 || old[at + 1] === content
    },
    take(series: Hash, stamp: Stamp, content: number): void {
      if (count >= slots / 2) {
        old = young
        young = new Uint32Array(2 * slots)
        count = 0
      }
      locate(series, stamp)
      const at = placeIn(young)
      if (young[at] === 0) count++
      young[at] = key
      young[at + 1] = content
    },
  }
}

/** The finalizer of MurmurHash3. */
function mix(h: number): number {
  let x = h ^ (h >>> 16)
  x = Math.imul(x, 0x85ebca6b)
  x ^= x >>> 13
  x = Math.imul(x, 0xc2b2ae35)
  return x ^ (x >>> 16)
}
