// A second reader of the log with a position of its own, for the watches. Invariants:
// * It reads what the first reader, the shipper, reads, in the same order, each record with its arrival. Records that
//   `keeps` drops are passed without being decoded.
// * Its position is kept elsewhere. Segments stay until both readers have passed them; after a start all of them stay
//   until the first `keep`.
// * It never makes the spool refuse: what is held for it alone counts for nobody, and goes when it becomes too much.
//   Then it continues at the shipper's position: the stores have all before it.
import type { Batch, Reader } from './reader.ts'
import type { Chain, Position, Segment } from './segment.ts'
import { SpoolError } from './spool-error.ts'
import type { DiskWatch } from './watch-disk.ts'

interface FollowerParts {
  readonly chain: Chain
  readonly reader: Reader
  /** The shipper's position. */
  shipped(): Position
  /** Both readers may have passed segments now. */
  passed(position: Position): Promise<void>
  waitBeyond(seq: () => number, signal: AbortSignal): Promise<void>
}

const HELD_MAX_BYTES = 2 ** 30

/**
 * The oldest segment that must stay, by the segments that both readers are in: the shipper's, when more than 1 GiB, or
 * than is free on the disk, is held for the follower alone, or when the disk is low.
 */
export function neededFrom(segments: readonly Segment[], shipped: number, followed: number, watch: DiskWatch): number {
  if (followed >= shipped) return shipped
  const held = segments.reduce((sum, { index, end }) => (index < shipped ? sum + end : sum), 0)
  return held > Math.min(HELD_MAX_BYTES, watch.freeBytes()) || watch.isLow() ? shipped : followed
}

export type Follower = ReturnType<typeof createFollower>

/** `from` is the position that was kept last; without one, or outside of the log, it begins at the shipper's. */
export function createFollower(from: Position | undefined, parts: FollowerParts) {
  const { chain, reader, shipped } = parts
  /** Is it behind the end of the log, or are records from it on removed that the shipper has passed? */
  const isOutside = ({ segment, seq }: Position): boolean => {
    if (seq >= shipped().seq) return seq > chain.nextSeq
    const next = chain.segments.find(({ index }) => index >= segment)
    return next === undefined || next.firstSeq > seq
  }
  let hasSkipped = from !== undefined && isOutside(from)
  let position = from === undefined || hasSkipped ? shipped() : from
  return {
    /** The position of the next record to be read. */
    get position(): Position {
      return position
    },
    /**
     * The next records before `endSeq` that are kept, at most `maxRecords` and `maxBytes` of all that are passed on the
     * way. The position moves behind them. Rejects with SpoolError `disk_failed`; then ask again. One read at a time.
     */
    async read(maxRecords: number, maxBytes: number, endSeq?: number): Promise<Batch> {
      if (isOutside(position)) {
        position = shipped()
        hasSkipped = true
      }
      try {
        const batch = await reader.read(position, maxRecords, maxBytes, endSeq)
        position = batch.next
        return batch
      } catch (error) {
        throw new SpoolError('disk_failed', error)
      }
    },
    /** The position is durable where it is kept: what both readers have passed is removed. */
    keep: (kept: Position): Promise<void> => parts.passed(kept),
    /** Has it left records out since the last call, at its beginning or because too much was held for it? */
    skipped(): boolean {
      const was = hasSkipped
      hasSkipped = false
      return was
    },
    /** Resolves when there is something to read or the signal aborts. */
    waitForRecords: (signal: AbortSignal): Promise<void> => parts.waitBeyond(() => position.seq, signal),
  }
}
