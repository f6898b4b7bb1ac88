// A second reader of the log with a position of its own, for the watches. Invariants:
// * It reads what the first reader, the shipper, reads, in the same order, each record with its arrival. Records that
//   `keeps` drops are passed without being decoded.
// * Its position is kept elsewhere. Segments stay until both readers have passed them; after a start all of them stay
//   until the first `keep`.
// * It never makes the spool refuse: what is held for it alone counts for nobody.
import type { Batch, Reader } from './reader.ts'
import type { Chain, Position } from './segment.ts'
import { SpoolError } from './spool-error.ts'

interface FollowerParts {
  readonly chain: Chain
  readonly reader: Reader
  /** The shipper's position. */
  shipped(): Position
  /** Both readers may have passed segments now. */
  passed(position: Position): Promise<void>
  /** Free space of the disk when it was last looked up. */
  freeBytes(): number
  waitBeyond(seq: () => number, signal: AbortSignal): Promise<void>
}

export type Follower = ReturnType<typeof createFollower>

/** `from` is the position that was kept last; without one, or outside of the log, it begins at the shipper's. */
export function createFollower(from: Position | undefined, parts: FollowerParts) {
  const { chain, reader, shipped } = parts
  const isAtStart = from === undefined || isIn(chain, from)
  let position = from !== undefined && isAtStart ? from : shipped()
  return {
    /** False: the position given is not in the log, so it has not read what lies before the shipper's. */
    isAtStart,
    /** The position of the next record to be read. */
    get position(): Position {
      return position
    },
    /**
     * The next records that are kept, at most `maxRecords` and `maxBytes` of all that are passed on the way. The position
     * moves behind them. Rejects with SpoolError `disk_failed`; then ask again. One read at a time.
     */
    async read(maxRecords: number, maxBytes: number): Promise<Batch> {
      try {
        const batch = await reader.read(position, maxRecords, maxBytes)
        position = batch.next
        return batch
      } catch (error) {
        throw new SpoolError('disk_failed', error)
      }
    },
    /** The position is durable where it is kept: what both readers have passed is removed. */
    keep: (kept: Position): Promise<void> => parts.passed(kept),
    /** Bytes of the segments that only it still needs. */
    heldBytes: (): number =>
      chain.segments.reduce((sum, { index, end }) => (index < shipped().segment ? sum + end : sum), 0),
    freeBytes: parts.freeBytes,
    /** Continues at the shipper's position if that is ahead. Returns whether records were skipped. */
    skip(): boolean {
      if (shipped().seq <= position.seq) return false
      position = shipped()
      return true
    },
    /** Resolves when there is something to read or the signal aborts. */
    waitForRecords: (signal: AbortSignal): Promise<void> => parts.waitBeyond(() => position.seq, signal),
  }
}

/** Can all records from this position on be read? A log that was restored or deleted may end before it. */
function isIn({ segments, nextSeq }: Chain, { segment, seq }: Position): boolean {
  if (seq >= nextSeq) return seq === nextSeq
  const next = segments.find(({ index }) => index >= segment)
  return next !== undefined && next.firstSeq <= seq
}
