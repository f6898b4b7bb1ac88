// The durable buffer of events that are accepted and not yet stored, one for each destination.
//
//   append ─▶ Writer ─▶ segments ─▶ Reader ─▶ read … advance ─▶ position ─▶ passed segments are unlinked
//                           ├─▶ Reader ─▶ follow … keep ─▶ (its position is kept by the watches)
//                           └─▶ Reader ─▶ tail ─▶ (nothing is held for it)
//
// * An append resolves when it is on disk. Acknowledged records are read in order, exactly once between two advances.
// * A record whose append was rejected or never resolved may or may not be delivered; it never affects others.
// * The position is durable before a segment that it has passed is unlinked.
// * No disk fault ends the process: appends are rejected until it recovers, and reading continues on a full disk.
import { createFollower, type Follower, neededFrom } from './follower.ts'
import type { Batch, Reader } from './reader.ts'
import { type Chain, type Position, SEGMENT_HEADER_BYTES } from './segment.ts'
import { SpoolError, type SpoolRefusal } from './spool-error.ts'
import type { SpoolParts, SpoolStats } from './spool-parts.ts'
import type { Writer } from './writer.ts'

export type Tail = Follower & { close(): Promise<void> }
export type { Batch, Follower, Position }

/** In front of a disk that does not keep up: beyond it appends are refused as `busy`. */
const MOST_WAITING_BYTES = 24 * 1024 * 1024
/** Beyond it large batches wait, so a single event has at most about twice this in front of it: two commits. */
const MUCH_WAITING_BYTES = 512 * 1024

export class Spool {
  readonly #parts: SpoolParts
  readonly #chain: Chain
  readonly #writer: Writer
  readonly #reader: Reader
  readonly #waiting = new Set<() => void>()
  #counting: { stop(): Promise<void> } | undefined
  #position: Position
  #heldBytes = 0
  #oldestUs: number | undefined
  /** The first record of the last batch read ahead: the oldest one when the position gets there. */
  #ahead: { seq: number; us: number | undefined } | undefined
  #followedSegment: number // which the second reader still needs
  #followers: Reader[] = []
  #turn: Promise<unknown> = Promise.resolve()

  constructor(parts: SpoolParts) {
    this.#parts = parts
    this.#chain = parts.chain
    this.#position = parts.position
    this.#reader = parts.openReader()
    this.#followedSegment = parts.isFollowed ? 0 : Number.POSITIVE_INFINITY
    this.#writer = parts.openWriter(({ firstUs, byOwner }) => {
      this.#oldestUs ??= firstUs
      parts.shares.commit(byOwner, this.#chain.nextSeq)
      this.#measure()
      this.#wake()
    })
  }

  /** The first record's arrival, and a position file from the start: one that is missing later has been lost. */
  async begin(): Promise<void> {
    const { log, dir, watch } = this.#parts
    this.#counting = this.#parts.countBacklog()
    this.#measure()
    this.#parts.shares.noteFullness(watch.fullness())
    watch.onLook(() => {
      this.#parts.shares.noteFullness(watch.fullness())
      this.#writer.probe()
      this.#parts.noteFull(this.refusal() === 'spool_full', this.#heldBytes)
      void this.#inTurn(() => this.#removePassed())
    })
    try {
      await this.#bookmark(this.#position)
      await this.read(1, 0)
    } catch (error) {
      log.error({ err: error, dir }, 'the spool cannot be read or its position not be written yet')
    }
  }

  /** The newest `us` that it has ever held, 0 when none: survives delivery and restarts. */
  get floorUs(): number {
    return this.#chain.floorUs
  }

  /** The arrivals until now came from another clock: `floorUs` is 0 again, durable when it resolves. */
  forgetFloor(): Promise<void> {
    this.#chain.floorUs = 0
    return this.#inTurn(() => this.#bookmark(this.#position))
  }

  /**
   * Durable when it resolves. `record` is a line of text, `us` its arrival in µs since the epoch, `owner` whose
   * share it uses. Rejects with SpoolError: `disk_failed`, or with nothing written another reason.
   */
  append(record: string, us: number, owner?: string): Promise<void> {
    const refusal = this.refusal(owner)
    return refusal === undefined ? this.#writer.append(record, us, owner) : Promise.reject(new SpoolError(refusal))
  }

  /** Why an append would be refused right now. Synchronous and free; clears by itself. */
  refusal(owner?: string): SpoolRefusal | undefined {
    const waiting = this.#writer.waitingBytes
    if (this.#heldBytes - this.#parts.shares.uncountedBytes + waiting >= this.#parts.maxBytes) return 'spool_full'
    if (this.#parts.watch.isLow()) return 'disk_low'
    if (waiting >= MOST_WAITING_BYTES) return 'busy'
    return owner === undefined ? undefined : this.#parts.shares.refusal(owner, this.#writer.waitingBytesOf(owner))
  }

  /** What of this owner waits for the disk or is being written. */
  waitingBytesOf(owner: string): number {
    return this.#writer.waitingBytesOf(owner)
  }

  /** Why every append fails: its directory is gone, or the last write failed, which is tried again each second. */
  fault(): 'spool_missing' | 'disk_failed' | undefined {
    return this.#parts.watch.isGone() ? 'spool_missing' : this.#writer.isFailing ? 'disk_failed' : undefined
  }

  /** This owner is gone: its records are still delivered, but count for nobody from now on. */
  release(owner: string): void {
    this.#parts.shares.release(owner)
  }

  /** While much waits for the disk: resolves when to look again, never rejects. For callers with many records. */
  backpressure(): Promise<void> | undefined {
    return this.#writer.waitingBytes >= MUCH_WAITING_BYTES ? this.#writer.nextCommit() : undefined
  }

  /**
   * The next records from the position on, without moving it; `[]` at the end. At least one record, whatever its size.
   * Rejects with SpoolError `disk_failed`; then ask again.
   * `from` reads ahead: it is the `next` of a batch that has not been advanced over yet.
   */
  read(maxRecords: number, maxBytes: number, from?: Position): Promise<Batch> {
    return this.#inTurn(async () => {
      const isAhead = from !== undefined && from.seq > this.#position.seq
      const batch = await this.#readAt(isAhead ? from : this.#position, maxRecords, maxBytes)
      if (isAhead) this.#ahead = { seq: from.seq, us: this.#reader.firstUs }
      else if (batch.records.length > 0) this.#oldestUs = this.#reader.firstUs
      // Nothing but damage: nobody will deliver it, so it is passed here.
      else if (batch.damaged > 0) await this.#moveTo(batch.next)
      return batch
    })
  }

  /** Makes the position durable, then removes passed segments. SpoolError `disk_failed`: it did not move. */
  advance(next: Position): Promise<void> {
    return this.#inTurn(() => this.#moveTo(next))
  }

  /** Resolves when there is something to read or the signal aborts. */
  waitForRecords(signal: AbortSignal): Promise<void> {
    return this.#waitBeyond(() => this.#position.seq, signal)
  }

  async #waitBeyond(seq: () => number, signal: AbortSignal): Promise<void> {
    if (this.#chain.nextSeq > seq() || signal.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const abort = () => resolve()
    this.#waiting.add(resolve)
    signal.addEventListener('abort', abort)
    await promise
    this.#waiting.delete(resolve)
    signal.removeEventListener('abort', abort) // the signal lives as long as the process
  }

  /** A second reader, from the position on that it kept; see follower.ts. The spool was opened with `isFollowed`. */
  follow(from: Position | undefined, keeps: (head: Buffer) => boolean): Follower {
    return this.#follower(this.#open(keeps), from, async ({ segment }) => {
      this.#followedSegment = segment
      await this.#removePassed()
    })
  }

  /** Reads from the position on what `keeps` keeps, and holds nothing back for it; without one from the shipper's. */
  tail(from: Position | undefined, keeps: (head: Buffer) => boolean): Tail {
    const reader = this.#open(keeps)
    const close = () => {
      this.#followers = this.#followers.filter((it) => it !== reader)
      return reader.close()
    }
    return Object.assign(
      this.#follower(reader, from, async () => {}),
      { close },
    )
  }

  #open(keeps: (head: Buffer) => boolean): Reader {
    const reader = this.#parts.openReader(keeps)
    this.#followers.push(reader)
    return reader
  }

  #follower(reader: Reader, from: Position | undefined, passed: (position: Position) => Promise<void>): Follower {
    return createFollower(from, {
      chain: this.#chain,
      reader,
      shipped: () => this.#position,
      passed: (position) => this.#inTurn(() => passed(position)),
      waitBeyond: (seq, signal) => this.#waitBeyond(seq, signal),
    })
  }

  /** The earliest arrival of the records that are being written, however long the disk takes; undefined if none is. */
  readonly writingUs = (): number | undefined => this.#writer.writingUs
  /** The shipper's: what lies before is in the store. */
  get position(): Position {
    return this.#position
  }

  /** A mark behind everything acknowledged so far. */
  readonly mark = (): number => this.#chain.nextSeq

  /** Has everything before a mark been advanced over? */
  readonly hasDelivered = (mark: number): boolean => this.#position.seq >= mark

  stats(): SpoolStats {
    const records = this.#records
    const oldestUs = records > 0 ? (this.#oldestUs ?? 0) : undefined
    const { damaged, unreadable } = this.#reader
    return { records, bytes: this.#heldBytes, oldestUs, damaged, unreadable }
  }

  /** Finishes the appends in hand; later ones are rejected. */
  async close(): Promise<void> {
    await this.#counting?.stop()
    await this.#writer.close()
    this.#parts.watch.close()
    this.#wake()
    await this.#inTurn(async () => {
      for (const reader of [this.#reader, ...this.#followers]) await reader.close()
      const { positionFile, log, dir } = this.#parts
      try {
        await this.#bookmark(this.#position)
        await positionFile.close()
      } catch (err) {
        log.error({ err, dir }, 'the position of the spool could not be written')
      }
    })
  }

  get #records(): number {
    return this.#chain.nextSeq - this.#position.seq
  }

  #readAt(position: Position, maxRecords: number, maxBytes: number): Promise<Batch> {
    return asDiskFailed(this.#reader.read(position, maxRecords, maxBytes))
  }

  async #moveTo(next: Position): Promise<void> {
    if (next.seq < this.#position.seq) throw new RangeError('a position only moves forward')
    await asDiskFailed(this.#bookmark(next))
    this.#position = next
    this.#parts.shares.pass(next.seq)
    this.#oldestUs = this.#records > 0 ? this.#arrivalAt(next) : undefined
    await this.#removePassed()
    this.#measure()
  }

  /** Arrival of the record at a reached position; if unknown, of an earlier one: the age is never understated. */
  #arrivalAt(position: Position): number | undefined {
    const ahead = this.#ahead?.seq === position.seq ? this.#ahead.us : undefined
    return ahead ?? this.#reader.peekUs(position) ?? this.#oldestUs
  }

  #bookmark(position: Position): Promise<void> {
    const { nextSeq: endSeq, floorUs } = this.#chain
    return this.#parts.positionFile.write({ ...position, endSeq, floorUs })
  }

  async #removePassed(): Promise<void> {
    const { segments } = this.#chain
    const from = neededFrom(segments, this.#position.segment, this.#followedSegment, this.#parts.watch)
    while (segments.length > 0 && segments[0]!.index < from) this.#parts.passed.add(segments.shift()!)
    await this.#parts.passed.remove()
  }

  #measure(): void {
    const { segment: at, offset } = this.#position
    let bytes = 0
    for (const { index, end } of this.#chain.segments) {
      // A file that was cut may end before the position.
      if (index >= at) bytes += Math.max(0, end - (index === at ? offset : SEGMENT_HEADER_BYTES))
    }
    this.#heldBytes = bytes
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve()
  }

  /** Reading, advancing and closing one after another. */
  #inTurn<T>(step: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(step, step)
    this.#turn = turn.catch(() => {})
    return turn
  }
}

const asDiskFailed = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error) => Promise.reject(new SpoolError('disk_failed', error)))
