// Reads acknowledged records in order, in large chunks. Sequences increase by one per record, so missing ones between
// good records or segments are detected and counted. A damaged record does not stop the reader: it finds the next good
// one and continues. A file that cannot be read does: every read fails until the disk recovers, or until a restart
// without the file.
import type { Logger } from '../log.ts'
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
  type Position,
  readAll,
  SEGMENT_HEADER_BYTES,
  type Segment,
  segmentPath,
  unreadable,
} from './segment.ts'

const CHUNK_BYTES = 4 * 1024 * 1024

export interface Batch {
  records: string[]
  /** Of a reader with `keeps`: the arrival of each, µs since the epoch, and the position behind each. */
  arrivedUs: number[]
  nexts: Position[]
  /** The position after the last of them. */
  next: Position
  /** Records found damaged or missing on the way. */
  damaged: number
}

interface ReaderOptions {
  readonly disk: Disk
  readonly dir: string
  readonly chain: Chain
  readonly log: Logger
  /** Which records are returned, by their first bytes. Default: all. */
  keeps?(head: Buffer): boolean
}

/** Shown to `keeps`: enough to see whose record it is. */
const HEAD_BYTES = 96

interface Cursor {
  segment: number
  offset: number
  seq: number
}

/** Of a batch: what it may still take, the sequence that it ends before, and whether it has taken a record. */
interface Room {
  records: number
  bytes: number
  readonly endSeq: number
  isTaken: boolean
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
  /** The file that the last read could not read. */
  unreadable: string | undefined
  /** Records found damaged or missing since opening, each counted once. */
  damaged = 0
  /** Arrival of the first record of the last batch read. */
  firstUs: number | undefined

  constructor(options: ReaderOptions) {
    this.#options = options
    this.#chain = options.chain
  }

  /**
   * Reads from `from` on, before `endSeq`, at most `maxRecords` and `maxBytes`, but always one record if there is one.
   * Throws an Error that names the file when none of it can be read.
   */
  async read(from: Position, maxRecords: number, maxBytes: number, endSeq = Number.MAX_SAFE_INTEGER): Promise<Batch> {
    const cursor: Cursor = { segment: from.segment, offset: from.offset, seq: from.seq }
    const batch: Batch = { records: [], arrivedUs: [], nexts: [], next: from, damaged: 0 }
    const room: Room = { records: maxRecords, bytes: maxBytes, endSeq, isTaken: false }
    this.firstUs = undefined
    while (room.records > 0 && cursor.seq < Math.min(endSeq, this.#chain.nextSeq)) {
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
      if (cursor.offset <= SEGMENT_HEADER_BYTES && segment.firstSeq > cursor.seq) {
        batch.damaged += this.#lost(cursor, segment.firstSeq, 'records are missing before a segment')
      }
      try {
        const step = await this.#readFrames(segment, cursor, bound, batch, room)
        if (step === 'full') break
        if (step === 'bad')
          batch.damaged += await this.#passDamage(segment, cursor, bound, cursor.offset === from.offset)
      } catch (error) {
        if (cursor.seq > from.seq) break // these first
        throw await this.#fail(segment, error)
      }
    }
    this.unreadable = undefined
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
    batch: Batch,
    room: Room,
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
          if (room.records === 0 || seq >= room.endSeq || (room.isTaken && bytes > room.bytes)) return 'full'
          room.isTaken = true
          this.firstUs ??= frameUs(chunk, at)
          room.records--
          room.bytes -= bytes
          cursor.seq++
          if (this.#options.keeps === undefined) batch.records.push(frameRecord(chunk, at))
          else if (this.#options.keeps(this.#headOf(at, size))) {
            batch.records.push(frameRecord(chunk, at))
            batch.arrivedUs.push(frameUs(chunk, at))
            batch.nexts.push({ segment: segment.index, offset: cursor.offset + size, seq: cursor.seq })
          }
        }
        at += size
        cursor.offset += size
      }
      if (at === from) return 'bad'
    }
    return 'done'
  }

  #headOf(at: number, size: number): Buffer {
    const from = at + FRAME_HEAD_BYTES
    return this.#chunk.buffer.subarray(from, Math.min(at + size, from + HEAD_BYTES))
  }

  /** Loads the frame at `offset` into the chunk as far as it exists; returns its position there. */
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
    this.#filled = await file.read(this.#chunk.buffer.subarray(0, size), offset)
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
    const bytes = await readAll(await this.#open(segment), from, segment.end)
    this.#filled = 0
    const end = bytes.buffer.length
    const found = findFrame(bytes, 0, end, cursor.seq, bound)
    const lost = this.#lost(cursor, found < 0 ? bound : frameSeq(bytes, found), 'records are damaged')
    if (lost > 0) segment.isDamaged = true
    cursor.offset = from + (found < 0 ? end : found)
    return lost
  }

  /** The disk failed. Returns the error to throw; the fault is logged once. */
  async #fail({ index }: Segment, cause: unknown): Promise<Error> {
    const path = segmentPath(this.#options.dir, index)
    if (this.unreadable !== path) this.#options.log.error({ err: cause, path }, 'a segment of the spool cannot be read')
    this.unreadable = path
    await this.close().catch(() => {})
    return unreadable(path, cause)
  }

  /** Moves the cursor's sequence to `seq`; counts and logs each place once. */
  #lost(cursor: Cursor, seq: number, what: string): number {
    const lost = seq - cursor.seq
    const { segment, offset } = cursor
    const place = `${segment}:${offset}:${cursor.seq}`
    if (lost > 0 && !this.#reported.has(place)) {
      this.#reported.add(place)
      this.damaged += lost
      this.#options.log.error({ dir: this.#options.dir, segment, offset, records: lost, firstSeq: cursor.seq }, what)
    }
    cursor.seq = seq
    return lost
  }
}
