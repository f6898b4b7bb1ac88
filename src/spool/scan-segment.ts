// Walks a whole segment in memory, over damage too: what opening needs to know of the last segment, and of one whose header is damaged.
import type { DiskFile } from './disk.ts'
import { allocBytes, type Bytes, FRAME_HEAD_BYTES, findFrame, frameBytes, frameSeq, frameUs, isFrame } from './frame.ts'
import { SEGMENT_HEADER_BYTES } from './segment.ts'

export interface Scan {
  readonly firstSeq: number | undefined
  readonly lastSeq: number | undefined
  readonly newestUs: number
  /** After the last good frame. */
  readonly end: number
  /** What follows `end`: zeros only; the beginning of a frame that was not written out; or more than that can be. */
  readonly tail: 'empty' | 'torn' | 'damaged'
}

/** The bytes [from, to) of a file, or as many as there are. */
export async function readAll(file: DiskFile, from: number, to: number): Promise<Bytes> {
  const bytes = allocBytes(Math.max(0, to - from))
  const n = await file.read(bytes.buffer, from)
  return n === bytes.buffer.length ? bytes : { buffer: bytes.buffer.subarray(0, n), view: bytes.view }
}

/** `bytes` is the segment from its header on; frames below `minSeq` are passed over. */
export function scanSegment(bytes: Bytes, minSeq: number): Scan {
  const size = bytes.buffer.length
  let firstSeq: number | undefined
  let lastSeq: number | undefined
  let newestUs = 0
  let end = SEGMENT_HEADER_BYTES
  for (let at = end; ; at = end) {
    const next = (lastSeq ?? minSeq - 1) + 1
    if (!isFrame(bytes, at, size) || frameSeq(bytes, at) < next) {
      at = findFrame(bytes, at, size, next, Number.MAX_SAFE_INTEGER)
      if (at < 0) break
    }
    lastSeq = frameSeq(bytes, at)
    firstSeq ??= lastSeq
    newestUs = Math.max(newestUs, frameUs(bytes, at))
    end = at + frameBytes(bytes, at)
  }
  return { firstSeq, lastSeq, newestUs, end: Math.min(end, size), tail: judgeTail(bytes, end) }
}

/**
 * A write that was interrupted leaves zeros where it did not get to, so a frame that is there to its last byte and yet fails its checksum,
 * or has something behind it, was damaged afterwards. (A record is text: its last byte is not zero.)
 */
function judgeTail(bytes: Bytes, end: number): Scan['tail'] {
  let used = bytes.buffer.length
  while (used > end && bytes.buffer[used - 1] === 0) used--
  if (used <= end) return 'empty'
  if (used < end + FRAME_HEAD_BYTES) return 'torn'
  return used < end + frameBytes(bytes, end) ? 'torn' : 'damaged'
}
