// How far the spool is read. Two slots in one file of fixed size, written in turn: a torn write damages the older knowledge only, and
// no space is needed while the disk is full. The slot with the higher generation counts.
import { join } from 'node:path'
import type { Position } from './chain.ts'
import { type Disk, type DiskFile, writeAll } from './disk.ts'
import { blockBytes, fromBlock, toBlock } from './sealed-block.ts'

const MAGIC = 'STINTPOS'
const NUMBERS = 6
/** Slots lie in different pages, so that one bad page or sector never takes both. */
const SLOT_STRIDE = 4096
const FILE_BYTES = 2 * SLOT_STRIDE

export interface Bookmark extends Position {
  /** All records below it were acknowledged when this was written: one that is missing is damage, not a torn tail. */
  readonly endSeq: number
  readonly newestUs: number
}

export class PositionFile {
  readonly #disk: Disk
  readonly #dir: string
  readonly #path: string
  #file: DiskFile | undefined
  #generation = 0

  constructor(disk: Disk, dir: string) {
    this.#disk = disk
    this.#dir = dir
    this.#path = join(dir, 'position')
  }

  /** What was last written and how many of the two slots are damaged. Throws NewerFormat, and what the disk throws. */
  async load(): Promise<{ bookmark: Bookmark | undefined; damagedSlots: number }> {
    const names = await this.#disk.list(this.#dir)
    if (!names.includes('position')) return { bookmark: undefined, damagedSlots: 0 }
    this.#file = await this.#disk.open(this.#path, 'write')
    const bytes = Buffer.alloc(FILE_BYTES)
    await this.#file.read(bytes, 0)
    let best: number[] | undefined
    let damagedSlots = 0
    for (const at of [0, SLOT_STRIDE]) {
      const slot = bytes.subarray(at, at + blockBytes(NUMBERS))
      const numbers = fromBlock(MAGIC, NUMBERS, slot, this.#path)
      if (numbers === undefined && slot.some((byte) => byte !== 0)) damagedSlots++
      if (numbers !== undefined && numbers[0]! > (best?.[0] ?? 0)) best = numbers
    }
    if (best === undefined) return { bookmark: undefined, damagedSlots }
    const [generation, segment, offset, seq, endSeq, newestUs] = best as [
      number,
      number,
      number,
      number,
      number,
      number,
    ]
    this.#generation = generation
    return { bookmark: { segment, offset, seq, endSeq, newestUs }, damagedSlots }
  }

  /** Durable when it resolves. After a rejection the next start may find the old or the new one; the next write mends that. */
  async write({ segment, offset, seq, endSeq, newestUs }: Bookmark): Promise<void> {
    const generation = this.#generation + 1
    const slot = toBlock(MAGIC, [generation, segment, offset, seq, endSeq, newestUs])
    const at = (generation % 2) * SLOT_STRIDE
    if (this.#file === undefined) {
      this.#file = await this.#create(slot, at)
    } else {
      await writeAll(this.#file, slot, at)
      await this.#file.datasync()
    }
    this.#generation = generation
  }

  async close(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    await file?.close()
  }

  /** Under another name first: whatever bears the real name is whole. */
  async #create(slot: Uint8Array, at: number): Promise<DiskFile> {
    const draft = `${this.#path}.new`
    if ((await this.#disk.list(this.#dir)).includes('position.new')) await this.#disk.unlink(draft)
    const file = await this.#disk.open(draft, 'create')
    try {
      const bytes = new Uint8Array(FILE_BYTES)
      bytes.set(slot, at)
      await writeAll(file, bytes, 0)
      await file.datasync()
      await this.#disk.rename(draft, this.#path)
      await this.#disk.syncDir(this.#dir)
      return file
    } catch (error) {
      await file.close().catch(() => {})
      throw error
    }
  }
}
