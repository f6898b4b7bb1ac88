// The read position of the spool: two slots in one file of fixed size, written alternately. A torn write damages only
// the older slot, and no space is needed on a full disk. The slot with the higher generation counts.
import { join } from 'node:path'
import { type Disk, type DiskFile, writeAll } from './disk.ts'
import { fromBlock, toBlock } from './frame.ts'
import type { Position } from './segment.ts'

const MAGIC = 'STINTPOS'
const NUMBERS = 5
/** Slots lie in different pages, so that one bad page or sector never takes both. */
const SLOT_STRIDE = 4096
const FILE_BYTES = 2 * SLOT_STRIDE

export interface Bookmark extends Position {
  /** All records below it were acknowledged when this was written: one that is missing is damage, not a torn tail. */
  readonly endSeq: number
  /** The newest arrival below `endSeq`. */
  readonly floorUs: number
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

  /**
   * The last written position, and whether a slot that should hold one is damaged. Throws NewerFormat and errors of the
   * disk.
   */
  async load(): Promise<{ bookmark: Bookmark | undefined; damaged: boolean }> {
    const names = await this.#disk.list(this.#dir)
    if (!names.includes('position')) return { bookmark: undefined, damaged: false }
    this.#file = await this.#disk.open(this.#path, 'write')
    const bytes = Buffer.alloc(FILE_BYTES)
    await this.#file.read(bytes, 0)
    const slots = [0, SLOT_STRIDE]
      .map((at) => fromBlock(MAGIC, NUMBERS, bytes.subarray(at, at + SLOT_STRIDE), this.#path))
      .filter((slot) => slot !== undefined)
      .sort((a, b) => b.numbers[0]! - a.numbers[0]!)
    const newest = slots[0]
    if (newest === undefined) return { bookmark: undefined, damaged: true }
    const [generation, segment, offset, seq, endSeq] = newest.numbers as [number, number, number, number, number]
    this.#generation = generation
    const damaged = slots.length < 2 && generation > 1
    return { bookmark: { segment, offset, seq, endSeq, floorUs: newest.floorUs }, damaged }
  }

  /**
   * Durable when it resolves. After a rejection the next start may find the old or the new one; the next write fixes
   * that.
   */
  async write({ segment, offset, seq, endSeq, floorUs }: Bookmark): Promise<void> {
    const generation = this.#generation + 1
    const slot = toBlock(MAGIC, [generation, segment, offset, seq, endSeq], floorUs)
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
