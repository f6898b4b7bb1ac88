// Stamps events that bring their own time (lane 1). Invariants:
//   1. The stamp depends only on time and content (identity.ts), on every node and after every restore; identity needs
//      no memory.
//   2. Different events of one InfluxDB series with equal stamps get different ones while the earlier is remembered.
//      The later one moves to the next free value. Only this move is kept on disk, so that its retry is moved again.
//   3. Memory and work per event are bounded; a forgotten stamp refuses nothing. Series include the account: no
//      account moves another's events.
import { destinationOf, type Event } from './event.ts'
import { choiceOf, contentOf, ownStamp, seriesOf, stampAt, valuesAt } from './identity.ts'
import type { Stamp } from './stamp.ts'
import { createTakenStamps, type Hash, type TakenStamps } from './taken-stamps.ts'

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

interface OwnStamp {
  readonly stamp: Stamp
  /** The event was moved just now: it may be accepted when this resolves. Rejects with the error of the disk. */
  readonly kept: Promise<void> | undefined
}

export type OwnStamps = ReturnType<typeof createOwnStamps>

const CROWDED_TIMES_MAX = 10_000
/** Values tried per event and time. About 90,000 of a millisecond's 100,000 are taken before this fails. */
const WALK_MAX = 4096

const split = (hash: bigint): Hash => [Number(hash & 0xffffffffn), Number(hash >> 32n)]

interface Continuation {
  readonly us: number
  readonly moved: number
}

export function createOwnStamps(moved: MovedStamps, taken: TakenStamps = createTakenStamps()) {
  /** Times with no free stamp nearby in a series: where an event that collides continues, and how far that is moved. */
  const crowded = new Map<string, Continuation>()

  function findFree(
    atUs: number,
    series: readonly Hash[],
    content: bigint,
    tag: number,
  ): { stamp: Stamp; moved: number } {
    const findTaken = (stamp: Stamp) => series.findIndex((one) => !taken.isFree(one, stamp, tag))
    const natural = ownStamp(atUs, content)
    if (findTaken(natural) === -1) return { stamp: natural, moved: 0 }
    const choice = choiceOf(content)
    const times = series.map((one) => `${atUs} ${one}`)
    let { us, moved: skipped } = furthest(times) ?? { us: atUs, moved: 0 }
    for (; ; us++) {
      const values = valuesAt(us)
      const refusals = new Uint32Array(series.length)
      for (let i = 0; i < Math.min(values, WALK_MAX); i++) {
        const stamp = stampAt(us, (choice + i) % values)
        const takenIn = findTaken(stamp)
        if (takenIn === -1) return { stamp, moved: skipped + i }
        refusals[takenIn]!++
      }
      skipped += values
      if (crowded.size >= CROWDED_TIMES_MAX) crowded.clear()
      // of several metrics only the crowded one is noted, so that it is known beside any others
      crowded.set(times[refusals.indexOf(Math.max(...refusals))]!, { us: us + 1, moved: skipped })
    }
  }

  function furthest(times: readonly string[]): Continuation | undefined {
    let found: Continuation | undefined
    for (const time of times) {
      const one = crowded.get(time)
      if (one !== undefined && one.us > (found?.us ?? 0)) found = one
    }
    return found
  }

  return {
    /** `atUs`: the event's own time in µs since the epoch. The stamp that the event already has does not count. */
    claim(event: Event, atUs: number): OwnStamp {
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
