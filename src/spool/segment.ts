// A segment is one file of the log: a header, then frames, then zeros.
//
//   DIR/0000000000000007.segment   | header | frame | frame | … | zeros |
//
// It is filled with zeros, synced and entered in the directory before the first record goes in, so that an fdatasync touches no metadata
// and a full disk is met before a record depends on it. The header is written with the first records. Indexes only ever rise.
import { join } from 'node:path'
import { type Disk, type DiskFile, writeAll } from './disk.ts'
import { blockBytes, fromBlock, toBlock } from './sealed-block.ts'

const MAGIC = 'STINTSEG'
const HEADER_NUMBERS = 3
const SUFFIX = '.segment'
/** Filled and synced in pieces: behind a sync of all of it, commits to the segment in use would wait for tens of ms. */
const ZEROS = new Uint8Array(256 * 1024)

export const SEGMENT_HEADER_BYTES = 64

export interface Segment {
  readonly index: number
  /**
   * The sequence of the first record that belongs here; undefined when nothing in the file tells it. It also cuts the segments before:
   * whatever they hold at or above it was never acknowledged.
   */
  readonly firstSeq: number | undefined
  /** Bytes that hold acknowledged records; for one that is no longer written to, the size of the file. */
  end: number
}

export interface SegmentHeader {
  readonly index: number
  readonly firstSeq: number
  /** The newest arrival of all that came before, µs since the epoch. */
  readonly newestUs: number
}

export const segmentPath = (dir: string, index: number): string => join(dir, String(index).padStart(16, '0') + SUFFIX)

/** The reverse of `segmentPath` for a bare name; undefined for any other file. */
export function segmentIndex(name: string): number | undefined {
  return /^\d{16}\.segment$/.test(name) ? Number(name.slice(0, -SUFFIX.length)) : undefined
}

export function toHeader({ index, firstSeq, newestUs }: SegmentHeader): Uint8Array {
  const header = new Uint8Array(SEGMENT_HEADER_BYTES)
  header.set(toBlock(MAGIC, [index, firstSeq, newestUs]))
  return header
}

/** Undefined when it is damaged, empty or another segment's. Throws NewerFormat. */
export function fromHeader(header: Uint8Array, index: number, path: string): SegmentHeader | undefined {
  const block = header.subarray(0, blockBytes(HEADER_NUMBERS))
  const [at, firstSeq, newestUs] = fromBlock(MAGIC, HEADER_NUMBERS, block, path) ?? []
  return at === index ? { index, firstSeq: firstSeq!, newestUs: newestUs! } : undefined
}

/** A file made ready for records. */
export interface BlankSegment {
  readonly index: number
  readonly file: DiskFile
  readonly bytes: number
}

/** A new file of zeros, durable with its name. What a failure leaves behind is removed. */
export async function allocateSegment(disk: Disk, dir: string, index: number, bytes: number): Promise<BlankSegment> {
  const path = segmentPath(dir, index)
  const file = await disk.open(path, 'create')
  try {
    for (let at = 0; at < bytes; at += ZEROS.length) {
      await writeAll(file, ZEROS.subarray(0, Math.min(ZEROS.length, bytes - at)), at)
      await file.datasync()
    }
    await disk.syncDir(dir)
    return { index, file, bytes }
  } catch (error) {
    await file.close().catch(() => {})
    await disk.unlink(path).catch(() => {})
    throw error
  }
}
