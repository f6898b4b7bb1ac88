// A sealed block is a short row of numbers that knows when it is damaged and when a newer Stint wrote it: the header of a segment and
// the slots of the position file. Magic and version keep their places for ever, whatever a later format does with the rest.
//
//   0  8 bytes  magic
//   8  u32      format version
//  12  u32      its complement: a flipped bit is damage, not a newer version
//  16  u64 …    the numbers
//      u32      CRC-32 over all before it
import { getU64, putU64 } from './frame.ts'

const FORMAT_VERSION = 1
const NUMBERS_AT = 16

export const blockBytes = (numbers: number): number => NUMBERS_AT + 8 * numbers + 4

/** Data of a format that this Stint does not know. Never opened, never cut. */
export class NewerFormat extends Error {
  override readonly name = 'NewerFormat'

  constructor(
    readonly path: string,
    version: number,
  ) {
    super(
      `${path} was written by a newer Stint (format ${version}; this one reads up to ${FORMAT_VERSION}): start that version`,
    )
  }
}

export function toBlock(magic: string, numbers: readonly number[]): Uint8Array {
  const block = Buffer.alloc(blockBytes(numbers.length))
  const view = new DataView(block.buffer, block.byteOffset, block.length)
  block.write(magic, 0, 8, 'latin1')
  view.setUint32(8, FORMAT_VERSION, true)
  view.setUint32(12, ~FORMAT_VERSION >>> 0, true)
  for (const [i, number] of numbers.entries()) putU64(view, NUMBERS_AT + 8 * i, number)
  view.setUint32(block.length - 4, Bun.hash.crc32(block.subarray(0, -4)), true)
  return block
}

/** The block's `count` numbers, or undefined when it is damaged or empty. Throws NewerFormat; `path` is for its message. */
export function fromBlock(magic: string, count: number, block: Uint8Array, path: string): number[] | undefined {
  const size = blockBytes(count)
  if (block.length < NUMBERS_AT) return undefined
  const view = new DataView(block.buffer, block.byteOffset, block.length)
  if (Buffer.from(block.subarray(0, 8)).toString('latin1') !== magic) return undefined
  const version = view.getUint32(8, true)
  if (view.getUint32(12, true) !== ~version >>> 0) return undefined
  if (version > FORMAT_VERSION) throw new NewerFormat(path, version)
  if (block.length < size || view.getUint32(size - 4, true) !== Bun.hash.crc32(block.subarray(0, size - 4)))
    return undefined
  return Array.from({ length: count }, (_, i) => getU64(view, NUMBERS_AT + 8 * i))
}
