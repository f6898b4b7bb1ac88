// A segment is one file of the log: a header, then frames, then zeros.
//
//   DIR/0000000000000007.segment   | header | frame | frame | … | zeros |
//
// The file is filled with zeros, and file and directory are synced, before the first record is written: then a durable
// write touches no metadata, and a full disk is noticed before a record depends on it. Indexes only increase.
import { basename, join } from 'node:path'
import type { Logger } from '../log.ts'
import { type Disk, type DiskFile, writeAll } from './disk.ts'
import {
  allocBytes,
  type Bytes,
  FRAME_HEAD_BYTES,
  findFrame,
  frameBytes,
  frameSeq,
  frameUs,
  fromBlock,
  isFrame,
  toBlock,
} from './frame.ts'

const MAGIC = 'STINTSEG'
const HEADER_NUMBERS = 2
const SUFFIX = '.segment'
/**
 * Filled in durable pieces: behind a sync of all of it, commits to the segment in use would wait for tens of ms. Few of
 * them, for each waits for its turn of a busy event loop, and commits wait for a segment that is not ready in time.
 */
const ZEROS = new Uint8Array(512 * 1024)

export const SEGMENT_HEADER_BYTES = 64

export interface Segment {
  readonly index: number
  /**
   * The sequence of the first record that belongs here. It also cuts the segments before it: their records at or above
   * it were never acknowledged.
   */
  readonly firstSeq: number
  /** Bytes that hold acknowledged records; for one that is no longer written to, the size of the file. */
  end: number
  /** Records in it are damaged: the file is kept for the operator when it has been passed. */
  isDamaged?: true
}

export interface SegmentHeader {
  readonly index: number
  readonly firstSeq: number
  /** The newest arrival of all records before it. */
  readonly floorUs: number
}

export const segmentPath = (dir: string, index: number): string => join(dir, String(index).padStart(16, '0') + SUFFIX)

/** The reverse of `segmentPath` for a bare name; undefined for any other file. */
export function segmentIndex(name: string): number | undefined {
  return /^\d{16}\.segment$/.test(name) ? Number(name.slice(0, -SUFFIX.length)) : undefined
}

export function toHeader({ index, firstSeq, floorUs }: SegmentHeader): Uint8Array {
  const header = new Uint8Array(SEGMENT_HEADER_BYTES)
  header.set(toBlock(MAGIC, [index, firstSeq], floorUs))
  return header
}

/** Undefined when it is damaged or empty. `index` is the one it was written for. Throws NewerFormat. */
export function fromHeader(header: Uint8Array, path: string): SegmentHeader | undefined {
  const block = fromBlock(MAGIC, HEADER_NUMBERS, header, path)
  return block && { index: block.numbers[0]!, firstSeq: block.numbers[1]!, floorUs: block.floorUs }
}

/** A file made ready for records. */
export interface BlankSegment {
  readonly index: number
  readonly file: DiskFile
  readonly bytes: number
}

/** A new file of zeros, durable with its name, open for durable writes. What a failure leaves behind is removed. */
export async function allocateSegment(disk: Disk, dir: string, index: number, bytes: number): Promise<BlankSegment> {
  const path = segmentPath(dir, index)
  await (await disk.open(path, 'create')).close()
  let file: DiskFile | undefined
  try {
    file = await disk.open(path, 'durable')
    for (let at = 0; at < bytes; at += ZEROS.length)
      await writeAll(file, ZEROS.subarray(0, Math.min(ZEROS.length, bytes - at)), at)
    await disk.syncDir(dir)
    return { index, file, bytes }
  } catch (error) {
    await file?.close().catch(() => {})
    await disk.unlink(path).catch(() => {})
    throw error
  }
}

/**
 * Shared by writer and reader: the segments that may still hold records, oldest first. Only the writer adds segments
 * and raises `end` and `nextSeq`, in one step after the write: the reader never sees what is not durable.
 */
export interface Chain {
  segments: Segment[]
  /** The sequence of the next record to be acknowledged; all below it are or were in the log. Starts at 1. */
  nextSeq: number
  /** The newest arrival ever seen, µs since the epoch; 0 when none. */
  floorUs: number
}

/** Up to here the reader has delivered: the place of the next record, and its sequence. */
export interface Position {
  readonly segment: number
  readonly offset: number
  readonly seq: number
}

/**
 * Records of a segment lie below this sequence: where a later segment begins, or the log ends. The lowest of the later
 * ones counts: one that was begun by a group that then failed may lie between.
 */
export function boundOf(chain: Chain, segment: Segment): number {
  let bound = chain.nextSeq
  for (const { index, firstSeq } of chain.segments) {
    if (index > segment.index && firstSeq < bound) bound = firstSeq
  }
  return bound
}

/** The result of walking over a whole segment in memory, including damage. */
export interface Scan {
  readonly lastSeq: number | undefined
  /** The newest arrival from `floorSeq` on. */
  readonly floorUs: number
  /** After the last good frame. */
  readonly end: number
  /** The bytes after `end`: only zeros; the beginning of an incomplete frame; or more than such a frame. */
  readonly tail: 'empty' | 'torn' | 'damaged'
}

/** The bytes [from, to) of a file, or as many as there are. */
export async function readAll(file: DiskFile, from: number, to: number): Promise<Bytes> {
  const bytes = allocBytes(Math.max(0, to - from))
  const n = await file.read(bytes.buffer, from)
  return n === bytes.buffer.length ? bytes : { buffer: bytes.buffer.subarray(0, n), view: bytes.view }
}

/** `bytes` is the segment from its header on; frames below `minSeq` are passed over. */
export function scanSegment(bytes: Bytes, minSeq: number, floorSeq: number): Scan {
  const size = bytes.buffer.length
  let lastSeq: number | undefined
  let floorUs = 0
  let end = SEGMENT_HEADER_BYTES
  for (let at = end; ; at = end) {
    const next = (lastSeq ?? minSeq - 1) + 1
    if (!isFrame(bytes, at, size) || frameSeq(bytes, at) < next) {
      at = findFrame(bytes, at, size, next, Number.MAX_SAFE_INTEGER)
      if (at < 0) break
    }
    lastSeq = frameSeq(bytes, at)
    if (lastSeq >= floorSeq) floorUs = Math.max(floorUs, frameUs(bytes, at))
    end = at + frameBytes(bytes, at)
  }
  return { lastSeq, floorUs, end: Math.min(end, size), tail: judgeTail(bytes, end) }
}

/**
 * A write that was interrupted leaves zeros where it did not get to, so a frame that is there to its last byte and yet
 * fails its checksum, or has something behind it, was damaged afterwards. (A record is text: its last byte is not
 * zero.)
 */
function judgeTail(bytes: Bytes, end: number): Scan['tail'] {
  let used = bytes.buffer.length
  while (used > end && bytes.buffer[used - 1] === 0) used--
  if (used <= end) return 'empty'
  if (used < end + FRAME_HEAD_BYTES) return 'torn'
  return used < end + frameBytes(bytes, end) ? 'torn' : 'damaged'
}

/**
 * Segments that the position has passed, while they are on the disk. One that cannot be removed is tried again with the
 * next.
 */
export class PassedSegments {
  #segments: Segment[] = []

  constructor(
    readonly disk: Disk,
    readonly dir: string,
    readonly log: Logger,
  ) {}

  add(segment: Segment): void {
    this.#segments.push(segment)
  }

  /** Never rejects. */
  async remove(): Promise<void> {
    if (this.#segments.length === 0) return
    try {
      for (let next = this.#segments[0]; next !== undefined; next = this.#segments[0]) {
        const path = segmentPath(this.dir, next.index)
        if (next.isDamaged) await setAside(this.disk, this.dir, path)
        else await this.disk.unlink(path)
        this.#segments.shift()
      }
      await this.disk.syncDir(this.dir)
    } catch (error) {
      if (isMissing(error)) this.#segments.shift()
      else this.log.warn({ err: error, dir: this.dir }, 'a delivered segment could not be removed yet')
    }
  }
}

/** Names the file and the way out. */
export const unreadable = (path: string, cause: unknown): Error =>
  new Error(
    `the segment ${path} cannot be read: ${(cause as Error).message}; restore it, or stop Stint, move it away and ` +
      'start again without its records',
    { cause },
  )

export const isMissing = (error: unknown): boolean => (error as { code?: string }).code === 'ENOENT'

/** Moves a file with damaged records to DIR/damaged, under its name; durable when it resolves. */
async function setAside(disk: Disk, dir: string, path: string): Promise<void> {
  const shelf = join(dir, 'damaged')
  await disk.makeDir(shelf)
  await disk.rename(path, join(shelf, basename(path)))
  await disk.syncDir(shelf)
  await disk.syncDir(dir)
}
