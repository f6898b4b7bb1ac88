// Reads acknowledged records in order, in large chunks. Sequences increase by one per record, so missing ones between
// good records or segments are detected and counted. Damage does not stop the reader: it keeps the bytes aside, finds
// the next good record and continues.
import type { Logger } from '../log.ts'
import type { DamageShelf } from './damage-shelf.ts'
import type { Disk, DiskFile } from './disk.ts'
import {
  allocBytes,
  FRAME_HEAD_BYTES,
  findFrame,
  frameBytes,
  frameRecord,
  frameSeq,
  frameUs,
  isFrame,
} from './frame.ts'
import {
  boundOf,
  type Chain,
  isMissing,
  type Position,
  readAround,
  readPrefix,
  SEGMENT_HEADER_BYTES,
  type Segment,
  segmentPath,
} from './segment.ts'

/** A paused shipper reads again after at most 5 s, so a fault has to last for some 20 s. */
const ATTEMPTS_MAX = 8
const CHUNK_BYTES = 4 * 1024 * 1024

export interface Batch {
  records: string[]
  /** The position after the last of them. */
  next: Position
  /** Records set aside on the way. */
  damaged: number
}

export interface ReaderOptions {
  readonly disk: Disk
  readonly dir: string
  readonly chain: Chain
  readonly shelf: DamageShelf
  readonly log: Logger
}

interface Cursor {
  segment: number
  offset: number
  seq: number
}

export class Reader {
  readonly #options: ReaderOptions
  readonly #chain: Chain
  #file: DiskFile | undefined
  #fileIndex = -1
  /** The chunk holds [#start, #start + #filled) of the open segment. */
  #chunk = allocBytes(0)
  #start = 0
  #filled = 0
  readonly #reported = new Set<string>()
  /** Sequences of deleted segments, from … to, that count as damaged before the position gets there. */
  readonly #counted: [number, number][] = []
  /** The place where the disk failed last, and how often in a row. */
  #failing = ''
  #attempts = 0
  /** Why the chunk ends before the segment does. */
  #fault: unknown
  /** Records found damaged or missing since opening, each counted once. */
  damaged = 0
  /** Arrival of the first record of the last batch read. */
  firstUs: number | undefined

  constructor(options: ReaderOptions) {
    this.#options = options
    this.#chain = options.chain
  }

  /** At most `maxRecords` and `maxBytes` (but at least one record, if there is one) from `from` on. */
  async read(from: Position, maxRecords: number, maxBytes: number): Promise<Batch> {
    const cursor: Cursor = { segment: from.segment, offset: from.offset, seq: from.seq }
    const batch: Batch = { records: [], next: from, damaged: 0 }
    const room = { records: maxRecords, bytes: maxBytes }
    this.firstUs = undefined
    while (room.records > 0 && cursor.seq < this.#chain.nextSeq) {
      const segment = this.#chain.segments.find(({ index }) => index >= cursor.segment)
      if (segment === undefined) {
        batch.damaged += this.#lost(cursor, this.#chain.nextSeq, 'records are missing at the end of the spool')
        break
      }
      if (segment.index !== cursor.segment) {
        cursor.segment = segment.index
        cursor.offset = SEGMENT_HEADER_BYTES
      }
      const bound = boundOf(this.#chain, segment)
      if (cursor.seq >= bound) {
        cursor.segment++
        cursor.offset = SEGMENT_HEADER_BYTES
        continue
      }
      if (cursor.offset <= SEGMENT_HEADER_BYTES && (segment.firstSeq ?? 0) > cursor.seq) {
        batch.damaged += this.#lost(cursor, segment.firstSeq!, 'records are missing before a segment')
      }
      try {
        const step = await this.#readFrames(segment, cursor, bound, batch.records, room)
        if (step === 'full') break
        if (step === 'bad')
          batch.damaged += await this.#passDamage(segment, cursor, bound, cursor.offset === from.offset)
      } catch (error) {
        if (batch.records.length > 0) break // these first
        batch.damaged += await this.#passFault(segment, cursor, bound, error)
      }
    }
    batch.next = cursor
    return batch
  }

  /** Arrival of the record at a position, when it happens to lie in the chunk. */
  peekUs({ segment, offset, seq }: Position): number | undefined {
    const at = offset - this.#start
    if (segment !== this.#fileIndex || at < 0 || !isFrame(this.#chunk, at, this.#filled)) return undefined
    return frameSeq(this.#chunk, at) === seq ? frameUs(this.#chunk, at) : undefined
  }

  async close(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    this.#fileIndex = -1
    this.#filled = 0
    await file?.close()
  }

  /** Takes frames until the batch is full, the segment's records end, or a frame is not what it should be. */
  async #readFrames(
    segment: Segment,
    cursor: Cursor,
    bound: number,
    records: string[],
    room: { records: number; bytes: number },
  ): Promise<'full' | 'done' | 'bad'> {
    while (cursor.seq < bound) {
      let at = await this.#load(segment, cursor.offset)
      const chunk = this.#chunk
      const end = this.#filled
      const from = at
      while (cursor.seq < bound && isFrame(chunk, at, end)) {
        const size = frameBytes(chunk, at)
        const seq = frameSeq(chunk, at)
        if (seq > cursor.seq) break
        if (seq === cursor.seq) {
          const bytes = size - FRAME_HEAD_BYTES
          if (room.records === 0 || (records.length > 0 && bytes > room.bytes)) return 'full'
          this.firstUs ??= frameUs(chunk, at)
          records.push(frameRecord(chunk, at))
          room.records--
          room.bytes -= bytes
          cursor.seq++
        }
        at += size
        cursor.offset += size
      }
      if (at > from) continue
      if (this.#fault !== undefined) throw this.#fault
      return 'bad'
    }
    return 'done'
  }

  /** Sees to it that the frame at `offset` is in the chunk as far as it exists; answers its place there. */
  async #load(segment: Segment, offset: number): Promise<number> {
    const at = offset - this.#start
    if (this.#fileIndex === segment.index && at >= 0) {
      const have = this.#filled - at
      const wanted = have >= FRAME_HEAD_BYTES ? frameBytes(this.#chunk, at) : FRAME_HEAD_BYTES
      if (have >= wanted || (have > 0 && this.#start + this.#filled >= segment.end)) return at
    }
    const file = await this.#open(segment)
    const size = Math.max(0, Math.min(CHUNK_BYTES, segment.end - offset))
    await this.#fill(file, offset, size)
    const claimed = this.#filled >= FRAME_HEAD_BYTES ? frameBytes(this.#chunk, 0) : 0
    if (claimed > size && claimed <= segment.end - offset) await this.#fill(file, offset, claimed)
    return 0
  }

  async #fill(file: DiskFile, offset: number, size: number): Promise<void> {
    if (this.#chunk.buffer.length < size) this.#chunk = allocBytes(Math.max(size, Math.min(CHUNK_BYTES, 2 * size)))
    this.#filled = 0
    this.#start = offset
    this.#fault = undefined
    try {
      this.#filled = await file.read(this.#chunk.buffer.subarray(0, size), offset)
    } catch (error) {
      this.#fault = error
      this.#filled = await readPrefix(file, this.#chunk.buffer.subarray(0, size), offset)
    }
  }

  async #open(segment: Segment): Promise<DiskFile> {
    if (this.#file !== undefined && this.#fileIndex === segment.index) return this.#file
    await this.close()
    this.#file = await this.#options.disk.open(segmentPath(this.#options.dir, segment.index), 'read')
    this.#fileIndex = segment.index
    return this.#file
  }

  /**
   * The frame at the cursor is bad: moves the cursor to the next good one in this segment, or to the segment's bound.
   * Returns the count of lost records. If a read began here, the position may be off: searches the whole segment.
   */
  async #passDamage(segment: Segment, cursor: Cursor, bound: number, fromStart: boolean): Promise<number> {
    const from = fromStart ? SEGMENT_HEADER_BYTES : cursor.offset
    // Read afresh: a fault on the way from the disk must not cost a good record.
    const { bytes, unreadable } = await readAround(await this.#open(segment), from, segment.end)
    if (unreadable > 0) segment.isUnreadable = true
    this.#filled = 0
    const end = bytes.buffer.length
    const found = findFrame(bytes, 0, end, cursor.seq, bound)
    const to = found < 0 ? end : found
    const seq = found < 0 ? bound : frameSeq(bytes, found)
    const bad = bytes.buffer.subarray(Math.min(cursor.offset - from, to), to)
    const used = bad.findLastIndex((byte) => byte !== 0) + 1
    const { offset } = cursor
    const lost = this.#lost(cursor, seq, 'damaged records are set aside')
    if (used > 0) await this.#options.shelf.put(segment.index, offset, bad.subarray(0, used))
    cursor.offset = from + to
    return lost
  }

  /**
   * The disk failed at the cursor. A deleted segment is lost. Other faults may pass: they are thrown for the caller to
   * retry. A place that has failed often while others can be read is passed like damage.
   */
  async #passFault(segment: Segment, cursor: Cursor, bound: number, error: unknown): Promise<number> {
    const path = segmentPath(this.#options.dir, segment.index)
    this.#filled = 0
    if (isMissing(error)) {
      this.#chain.segments = this.#chain.segments.filter((other) => other !== segment)
      return this.#lost(cursor, bound, 'a segment was deleted: its records are lost')
    }
    const place = `${segment.index}:${cursor.seq}`
    this.#attempts = this.#failing === place ? this.#attempts + 1 : 1
    this.#failing = place
    if (this.#attempts === 1)
      this.#options.log.error({ err: error, path, offset: cursor.offset }, 'the disk cannot read a segment')
    if (this.#attempts < ATTEMPTS_MAX) throw error
    segment.isUnreadable = true
    try {
      return await this.#passDamage(segment, cursor, bound, false)
    } catch {
      // Not one piece from here on can be read: the file is given up if another one can.
      if (!(await this.#canReadAnother(segment))) throw error
      return this.#lost(cursor, bound, 'a segment cannot be read: its records are set aside')
    }
  }

  async #canReadAnother(segment: Segment): Promise<boolean> {
    const { disk, dir } = this.#options
    for (const { index } of this.#chain.segments.filter((other) => other !== segment)) {
      const file = await disk.open(segmentPath(dir, index), 'read').catch(() => undefined)
      const bytes = await file?.read(new Uint8Array(SEGMENT_HEADER_BYTES), 0).catch(() => 0)
      await file?.close()
      if (bytes) return true
    }
    return false
  }

  /** Counts a deleted segment that nobody has read yet. Its records are passed once the position gets there. */
  noteDeleted(segment: Segment, position: Position): void {
    if (segment.index === this.#fileIndex) return // it is open: what is left of it can still be read
    const bound = boundOf(this.#chain, segment)
    const from = Math.max(segment.firstSeq ?? position.seq, position.seq)
    this.#chain.segments = this.#chain.segments.filter((other) => other !== segment)
    if (from >= bound) return
    this.#lost({ segment: segment.index, offset: 0, seq: from }, bound, 'a segment was deleted: its records are lost')
    this.#counted.push([from, bound])
  }

  /** Moves the cursor's sequence to `seq`; counts and logs each place once. */
  #lost(cursor: Cursor, seq: number, what: string): number {
    const lost = seq - cursor.seq
    const { segment, offset } = cursor
    const place = `${segment}:${offset}:${cursor.seq}`
    if (lost > 0 && !this.#reported.has(place)) {
      this.#reported.add(place)
      const known = this.#counted.reduce(
        (sum, [from, to]) => sum + Math.max(0, Math.min(to, seq) - Math.max(from, cursor.seq)),
        0,
      )
      this.damaged += lost - known
      this.#options.log.error({ dir: this.#options.dir, segment, offset, records: lost, firstSeq: cursor.seq }, what)
    }
    cursor.seq = seq
    return lost
  }
}
