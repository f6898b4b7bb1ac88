// The interface of a spool.
import type { Clock } from '../clock.ts'
import type { Logger } from '../log.ts'
import type { Disk } from './disk.ts'
import type { Batch } from './reader.ts'
import type { Position } from './segment.ts'

export interface SpoolOptions {
  readonly dir: string
  /**
   * Bound for the records held. The disk may hold up to two segments more, one made ready and one partly delivered,
   * and as much again of released owners.
   */
  readonly maxBytes: number
  /** Below this much free space on the disk appends are refused. */
  readonly minFreeBytes: number
  /** Is there more than one owner? Then none may hold more than half. Default: there is not. */
  isShared?(): boolean
  /** The owner of a record, from its first 200 bytes; for records in the spool at the start. Default: nobody. */
  ownerOf?(head: string): string | undefined
  /** Default: a sixteenth of `maxBytes`, within 512 KiB and 8 MiB. */
  readonly segmentBytes?: number
  readonly log: Logger
  /** After each commit: its records, and how long it took. */
  onCommit?(records: number, ms: number): void
  readonly disk?: Disk
  readonly clock?: Clock
}

export interface SpoolStats {
  /** Acknowledged and not yet advanced over. */
  readonly records: number
  /** Bytes they take in the log. */
  readonly bytes: number
  /** Arrival of the oldest of them, or of one before it; 0 while it could not be read. */
  readonly oldestUs: number | undefined
  /** Records found damaged or missing since opening. */
  readonly damaged: number
  /** The segment that the disk could not read last: nothing is delivered until it can, or until it is moved away. */
  readonly unreadable: string | undefined
}

export interface Spool {
  /**
   * Durable when it resolves. `record` is a line of text, `us` its arrival in µs since the epoch, `owner` whose
   * share it uses. Rejects with SpoolError: `disk_failed`, or with nothing written another reason.
   */
  append(record: string, us: number, owner?: string): Promise<void>
  /** Is its directory gone? Every append fails then. */
  isGone(): boolean
  /** Why an append would be refused right now. Synchronous and free; clears by itself. */
  refusal(owner?: string): SpoolRefusal | undefined
  /** This owner is gone: its records are still delivered, but count for nobody from now on. */
  release(owner: string): void
  /** While much waits for the disk: resolves when to look again, never rejects. For callers with many records. */
  backpressure(): Promise<void> | undefined
  /** The newest `us` that it has ever held, 0 when none: survives delivery and restarts. */
  readonly floorUs: number
  /** The arrivals until now came from another clock: `floorUs` is 0 again, durable when it resolves. */
  forgetFloor(): Promise<void>
  /**
   * The next records from the position on, without moving it; `[]` at the end. At least one record, whatever its size.
   * Rejects with SpoolError `disk_failed`; then ask again.
   * `from` reads ahead: it is the `next` of a batch that has not been advanced over yet.
   */
  read(maxRecords: number, maxBytes: number, from?: Position): Promise<Batch>
  /** Makes the position durable, then removes passed segments. SpoolError `disk_failed`: it did not move. */
  advance(next: Position): Promise<void>
  /** Resolves when there is something to read or the signal aborts. */
  waitForRecords(signal: AbortSignal): Promise<void>
  stats(): SpoolStats
  /** A mark behind everything acknowledged so far. */
  mark(): number
  /** Has everything before a mark been advanced over? */
  hasDelivered(mark: number): boolean
  /** Finishes the appends in hand; later ones are rejected. */
  close(): Promise<void>
}

// Why an append or an advance failed. The codes are those of the closed table in problem.ts, so HTTP can pass them on.
/** Reasons to refuse an append before writing; all are temporary, `busy` ends with the next commit. */
export type SpoolRefusal = 'spool_full' | 'share_full' | 'disk_low' | 'busy'

export type SpoolErrorCode = SpoolRefusal | 'stopping' | 'disk_failed'

const MESSAGES: Record<SpoolErrorCode, string> = {
  spool_full: 'the spool is full',
  share_full: 'the share of this owner in the spool is full',
  disk_low: 'the disk is almost full',
  busy: 'too much waits for the disk',
  stopping: 'the spool is closed',
  disk_failed: 'the disk failed',
}

export class SpoolError extends Error {
  override readonly name = 'SpoolError'

  constructor(
    readonly code: SpoolErrorCode,
    cause?: unknown,
    /** A record of the rejected append may be delivered all the same: the disk did not take its removal either. */
    readonly mayBeKept = false,
  ) {
    super(MESSAGES[code], cause === undefined ? {} : { cause })
  }
}
