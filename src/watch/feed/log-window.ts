// What was read of one spool and is not handed over yet, because an event that arrived earlier may still follow:
// requests overtake each other, and a log has them in the order of their writing. Invariants:
// * Records leave in the order of arrival, each after everything that arrived before it.
// * `start` is the position to read from again: all records before it have left.
import { RECEIVED_WITHIN_US } from '../../event/arrivals.ts'
import type { Batch, Position } from '../../spool/spool.ts'

/** A record with its arrival, and a position from which it is read again. */
export interface Fed {
  readonly arrivedUs: number
  readonly record: string
  readonly from: Position
}

/** More than this is not read while something else is waited for. */
const MOST_RECORDS = 100_000
const MOST_CHARS = 64 * 2 ** 20

/** `taken`: at the start; what arrived before it and stands before `endSeq` has left already. */
export interface Taken {
  readonly untilUs: number
  readonly endSeq: number
}

export function createLogWindow(begin: Position, taken: Taken) {
  /** In the order of the log. */
  let held: Fed[] = []
  let chars = 0
  let end = begin
  /** The latest arrival that was read. */
  let newestUs = 0
  let readUs = taken.untilUs

  /** It arrived at most so much before one that stands before it in the log, so an earlier one was not skipped. */
  const hasLeft = (arrivedUs: number, seq: number) =>
    seq < taken.endSeq && arrivedUs < taken.untilUs && arrivedUs >= taken.untilUs - RECEIVED_WITHIN_US

  return {
    /** Is there room, or can it only be made by reading on? */
    isOpen: (): boolean =>
      (held.length < MOST_RECORDS && chars < MOST_CHARS) || held[0]!.arrivedUs >= newestUs - RECEIVED_WITHIN_US,
    /** `edgeUs`: everything that arrived before it stands in the log. `isAll`: and is read with this batch. */
    add({ records, arrivedUs, nexts, next }: Pick<Batch, 'records' | 'arrivedUs' | 'nexts' | 'next'>): void {
      let from = end
      for (const [i, record] of records.entries()) {
        const us = arrivedUs[i]!
        newestUs = Math.max(newestUs, us)
        if (!hasLeft(us, nexts[i]!.seq - 1)) {
          held.push({ arrivedUs: us, record, from })
          chars += record.length
        }
        from = nexts[i]!
      }
      end = next
    },
    /** Everything that stands in the log at the time of `edgeUs` was read; with `isAll` false, not all of it. */
    noteRead(edgeUs: number, isAll: boolean): void {
      readUs = Math.max(readUs, isAll ? edgeUs : Math.min(edgeUs, newestUs - RECEIVED_WITHIN_US))
    },
    /** Everything that arrived before it was read. */
    readUs: (): number => readUs,
    /** Those that arrived before `us`, in the order of arrival. */
    take(us: number): Fed[] {
      const leaving = held.filter(({ arrivedUs }) => arrivedUs < us)
      if (leaving.length === 0) return leaving
      held = held.filter(({ arrivedUs }) => arrivedUs >= us)
      chars = held.reduce((sum, { record }) => sum + record.length, 0)
      return leaving.sort((a, b) => a.arrivedUs - b.arrivedUs)
    },
    start: (): Position => held[0]?.from ?? end,
  }
}

/** The earlier of both in the log. */
export const earlier = (a: Position, b: Position): Position => (a.seq <= b.seq ? a : b)
