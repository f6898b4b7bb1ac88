// The durable buffer of events that are accepted and not yet stored, one for each destination.
//
//   append ─▶ Writer ─▶ segments ─▶ Reader ─▶ read … advance ─▶ position ─▶ passed segments are unlinked
//
// * An append resolves when it is on disk. Acknowledged records are read in order, exactly once between two advances.
// * A record whose append was rejected or never resolved may or may not be delivered; it never affects others.
// * The position is durable before a segment that it has passed is unlinked.
// * No disk fault ends the process: appends are rejected until it recovers, and reading continues on a full disk.
import { systemClock } from '../clock.ts'
import type { Logger } from '../log.ts'
import { countBacklog } from './count-backlog.ts'
import { type Disk, systemDisk } from './disk.ts'
import { PositionFile } from './position-file.ts'
import { type Batch, Reader } from './reader.ts'
import { recover } from './recover.ts'
import { type Chain, PassedSegments, type Position, SEGMENT_HEADER_BYTES } from './segment.ts'
import { Shares } from './shares.ts'
import { type Spool, SpoolError, type SpoolOptions, type SpoolRefusal, type SpoolStats } from './spool-interface.ts'
import { type DiskWatch, watchDisk } from './watch-disk.ts'
import { Writer } from './writer.ts'

export type { Batch, Position, Spool, SpoolOptions, SpoolRefusal }

const MOST_SEGMENT_BYTES = 8 * 1024 * 1024
const LEAST_SEGMENT_BYTES = 512 * 1024
/** In front of a disk that does not keep up: beyond it appends are refused as `busy`. */
const MOST_WAITING_BYTES = 24 * 1024 * 1024
/** Beyond it large batches wait, so a single event has at most about twice this in front of it: two commits. */
const MUCH_WAITING_BYTES = 512 * 1024

/**
 * Opens or creates the spool in `dir`. Throws NewerFormat when a newer Stint wrote it, an Error that names a segment that
 * cannot be read, and what the disk throws.
 */
export async function openSpool(options: SpoolOptions): Promise<Spool> {
  const { dir, log, disk = systemDisk } = options
  await disk.makeDir(dir)
  const positionFile = new PositionFile(disk, dir)
  const { bookmark, damaged } = await positionFile.load()
  if (damaged) {
    const what =
      bookmark === undefined ? 'the position file is damaged' : 'one of the two slots of the position file is damaged'
    log.warn({ dir, position: bookmark }, what)
  }
  const { chain, position, nextIndex } = await recover({ disk, dir, log }, bookmark)
  const watch = await watchDisk(disk, dir, options.minFreeBytes, log)
  const spool = new LogSpool({ ...options, disk }, { chain, position, nextIndex, positionFile, watch })
  await spool.begin({ ...options, disk })
  return spool
}

interface Parts {
  readonly chain: Chain
  readonly position: Position
  readonly nextIndex: number
  readonly positionFile: PositionFile
  readonly watch: DiskWatch
}

class LogSpool implements Spool {
  readonly #dir: string
  readonly #log: Logger
  readonly #maxBytes: number
  readonly #chain: Chain
  readonly #writer: Writer
  readonly #reader: Reader
  readonly #positionFile: PositionFile
  readonly #watch: DiskWatch
  readonly #passed: PassedSegments
  readonly #waiting = new Set<() => void>()
  readonly #shares: Shares
  #counting: { stop(): Promise<void> } | undefined
  #position: Position
  #heldBytes = 0
  #oldestUs: number | undefined
  /** The first record of the last batch read ahead: the oldest one when the position gets there. */
  #ahead: { seq: number; us: number | undefined } | undefined
  #turn: Promise<unknown> = Promise.resolve()

  constructor(options: SpoolOptions & { readonly disk: Disk }, parts: Parts) {
    const { dir, disk, log, maxBytes } = options
    const share = Math.max(LEAST_SEGMENT_BYTES, Math.min(MOST_SEGMENT_BYTES, Math.floor(maxBytes / 16)))
    this.#dir = dir
    this.#passed = new PassedSegments(disk, dir, log)
    this.#log = log
    this.#maxBytes = maxBytes
    this.#shares = new Shares({ runBytes: share, maxBytes, isShared: options.isShared ?? (() => false) })
    this.#chain = parts.chain
    this.#position = parts.position
    this.#positionFile = parts.positionFile
    this.#watch = parts.watch
    this.#reader = new Reader({ disk, dir, chain: parts.chain, log })
    this.#writer = new Writer({
      disk,
      dir,
      segmentBytes: options.segmentBytes ?? share,
      chain: parts.chain,
      nextIndex: parts.nextIndex,
      clock: options.clock ?? systemClock,
      log,
      onCommit: ({ records, firstUs, byOwner }, ms) => {
        this.#oldestUs ??= firstUs
        this.#shares.commit(byOwner, this.#chain.nextSeq)
        this.#measure()
        this.#wake()
        options.onCommit?.(records, ms)
      },
    })
  }

  /** The first record's arrival, and a position file from the start: one that is missing later has been lost. */
  async begin({ disk, ownerOf }: SpoolOptions & { readonly disk: Disk }): Promise<void> {
    const parts = { dir: this.#dir, chain: this.#chain, position: this.#position, shares: this.#shares }
    if (ownerOf !== undefined) this.#counting = countBacklog({ ...parts, disk, ownerOf })
    this.#measure()
    try {
      await this.#bookmark(this.#position)
      await this.read(1, 0)
    } catch (error) {
      this.#log.error({ err: error, dir: this.#dir }, 'the spool cannot be read or its position not be written yet')
    }
  }

  get floorUs(): number {
    return this.#chain.floorUs
  }

  forgetFloor(): Promise<void> {
    this.#chain.floorUs = 0
    return this.#inTurn(() => this.#bookmark(this.#position))
  }

  append(record: string, us: number, owner?: string): Promise<void> {
    const refusal = this.refusal(owner)
    return refusal === undefined ? this.#writer.append(record, us, owner) : Promise.reject(new SpoolError(refusal))
  }

  refusal(owner?: string): SpoolRefusal | undefined {
    const waiting = this.#writer.waitingBytes
    if (this.#heldBytes - this.#shares.uncountedBytes + waiting >= this.#maxBytes) return 'spool_full'
    if (this.#watch.isLow()) return 'disk_low'
    if (waiting >= MOST_WAITING_BYTES) return 'busy'
    const isOver = owner !== undefined && this.#shares.isOver(owner, this.#writer.waitingBytesOf(owner))
    return isOver ? 'share_full' : undefined
  }

  isGone(): boolean {
    return this.#watch.isGone()
  }

  release(owner: string): void {
    this.#shares.release(owner)
  }

  backpressure(): Promise<void> | undefined {
    return this.#writer.waitingBytes >= MUCH_WAITING_BYTES ? this.#writer.nextCommit() : undefined
  }

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

  advance(next: Position): Promise<void> {
    return this.#inTurn(() => this.#moveTo(next))
  }

  async waitForRecords(signal: AbortSignal): Promise<void> {
    if (this.#records > 0 || signal.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const abort = () => resolve()
    this.#waiting.add(resolve)
    signal.addEventListener('abort', abort)
    await promise
    this.#waiting.delete(resolve)
    signal.removeEventListener('abort', abort) // the signal lives as long as the process
  }

  mark(): number {
    return this.#chain.nextSeq
  }

  hasDelivered(mark: number): boolean {
    return this.#position.seq >= mark
  }

  stats(): SpoolStats {
    const records = this.#records
    const oldestUs = records > 0 ? (this.#oldestUs ?? 0) : undefined
    const { damaged, unreadable } = this.#reader
    return { records, bytes: this.#heldBytes, oldestUs, damaged, unreadable }
  }

  async close(): Promise<void> {
    await this.#counting?.stop()
    await this.#writer.close()
    this.#watch.close()
    this.#wake()
    await this.#inTurn(async () => {
      await this.#reader.close()
      try {
        await this.#bookmark(this.#position)
        await this.#positionFile.close()
      } catch (error) {
        this.#log.error({ err: error, dir: this.#dir }, 'the position of the spool could not be written')
      }
    })
  }

  get #records(): number {
    return this.#chain.nextSeq - this.#position.seq
  }

  async #readAt(position: Position, maxRecords: number, maxBytes: number): Promise<Batch> {
    try {
      return await this.#reader.read(position, maxRecords, maxBytes)
    } catch (error) {
      throw new SpoolError('disk_failed', error)
    }
  }

  async #moveTo(next: Position): Promise<void> {
    if (next.seq < this.#position.seq) throw new RangeError('a position only moves forward')
    try {
      await this.#bookmark(next)
    } catch (error) {
      throw new SpoolError('disk_failed', error)
    }
    this.#position = next
    this.#shares.pass(next.seq)
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
    return this.#positionFile.write({ ...position, endSeq, floorUs })
  }

  async #removePassed(): Promise<void> {
    const { segments } = this.#chain
    while (segments.length > 0 && segments[0]!.index < this.#position.segment) this.#passed.add(segments.shift()!)
    await this.#passed.remove()
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
