// A frame holds one record in a segment. Numbers are little-endian; sequence and time are below 2^53.
//
//   0  u32  bytes of the record
//   4  u32  CRC-32 over bytes 8 to the end, seeded with the length
//   8  u64  sequence: one higher than that of the record acknowledged before it
//  16  u64  arrival, µs since the epoch
//  24       the record, UTF-8
//
// CRC-32 and not CRC-32C: Bun has it native (0.08 µs for 140 bytes, 60 GB/s in bulk; CRC-32C in JavaScript: 0.08 µs, 2 GB/s).

export const FRAME_HEAD_BYTES = 24

const TWO_32 = 2 ** 32

/** A buffer and a view on the same bytes: the view reads and writes numbers fastest, the buffer text. */
export interface Bytes {
  readonly buffer: Buffer
  readonly view: DataView
}

export function allocBytes(size: number): Bytes {
  const buffer = Buffer.allocUnsafeSlow(size)
  return { buffer, view: new DataView(buffer.buffer, buffer.byteOffset, size) }
}

export function putU64(view: DataView, at: number, value: number): void {
  view.setUint32(at, value >>> 0, true)
  view.setUint32(at + 4, Math.floor(value / TWO_32), true)
}

export const getU64 = (view: DataView, at: number): number =>
  view.getUint32(at + 4, true) * TWO_32 + view.getUint32(at, true)

export const frameSeq = ({ view }: Bytes, at: number): number => getU64(view, at + 8)
export const frameUs = ({ view }: Bytes, at: number): number => getU64(view, at + 16)

/** Bytes of the whole frame by its length field, which may be damaged. */
export const frameBytes = ({ view }: Bytes, at: number): number => FRAME_HEAD_BYTES + view.getUint32(at, true)

const checksum = (buffer: Buffer, at: number, bytes: number): number =>
  Bun.hash.crc32(buffer.subarray(at + 8, at + bytes), bytes)

/** Writes record and time; `sealFrame` must follow. Answers the frame's bytes. The caller has seen to the room: 24 + 3 a UTF-16 unit. */
export function putFrame({ buffer, view }: Bytes, at: number, record: string, us: number): number {
  const length = buffer.write(record, at + FRAME_HEAD_BYTES)
  view.setUint32(at, length, true)
  putU64(view, at + 16, us)
  return FRAME_HEAD_BYTES + length
}

/** Writes sequence and checksum into a frame made by `putFrame`; answers its bytes. */
export function sealFrame(bytes: Bytes, at: number, seq: number): number {
  const size = frameBytes(bytes, at)
  putU64(bytes.view, at + 8, seq)
  bytes.view.setUint32(at + 4, checksum(bytes.buffer, at, size), true)
  return size
}

/** Is there a whole, undamaged frame in [at, end)? A zeroed one is none. */
export function isFrame(bytes: Bytes, at: number, end: number): boolean {
  if (end - at < FRAME_HEAD_BYTES) return false
  const size = frameBytes(bytes, at)
  if (size > end - at || frameSeq(bytes, at) === 0) return false
  return bytes.view.getUint32(at + 4, true) === checksum(bytes.buffer, at, size)
}

export const frameRecord = (bytes: Bytes, at: number): string =>
  bytes.buffer.toString('utf8', at + FRAME_HEAD_BYTES, at + frameBytes(bytes, at))

/**
 * The first place in [from, end) that holds an undamaged frame with a sequence in [minSeq, maxSeq), or -1.
 * The sequence is looked at before the checksum is computed, so that a scan through garbage stays cheap.
 */
export function findFrame(bytes: Bytes, from: number, end: number, minSeq: number, maxSeq: number): number {
  for (let at = from; at + FRAME_HEAD_BYTES <= end; at++) {
    const seq = frameSeq(bytes, at)
    if (seq >= minSeq && seq < maxSeq && isFrame(bytes, at, end)) return at
  }
  return -1
}
