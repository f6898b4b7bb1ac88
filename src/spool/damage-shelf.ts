// Keeps raw bytes that could not be read as records, for inspection: DIR/damaged/<segment>-<offset>. The size is
// bounded; bytes that cannot be kept are only reported.
import { join } from 'node:path'
import type { Logger } from '../log.ts'
import { type Disk, writeAll } from './disk.ts'
import { DAMAGED_DIR } from './segment.ts'

const SHELF_BYTES = 16 * 1024 * 1024

export class DamageShelf {
  readonly #disk: Disk
  readonly #dir: string
  readonly #log: Logger
  #used: number | undefined

  constructor(disk: Disk, dir: string, log: Logger) {
    this.#disk = disk
    this.#dir = join(dir, DAMAGED_DIR)
    this.#log = log
  }

  async put(segment: number, offset: number, bytes: Uint8Array): Promise<void> {
    const name = `${String(segment).padStart(16, '0')}-${offset}`
    try {
      await this.#disk.makeDir(this.#dir)
      const kept = await this.#disk.list(this.#dir)
      if (kept.includes(name)) return
      this.#used ??= await this.#measure(kept)
      if (this.#used + bytes.length > SHELF_BYTES) {
        this.#log.warn(
          { dir: this.#dir, segment, offset, bytes: bytes.length },
          'the shelf for damaged bytes is full: these are dropped',
        )
        return
      }
      const file = await this.#disk.open(join(this.#dir, name), 'create')
      try {
        await writeAll(file, bytes, 0)
        this.#used += bytes.length
      } finally {
        await file.close()
      }
    } catch (error) {
      this.#log.warn({ err: error, dir: this.#dir, segment, offset }, 'damaged bytes could not be set aside')
    }
  }

  async #measure(names: string[]): Promise<number> {
    let total = 0
    for (const name of names) {
      const file = await this.#disk.open(join(this.#dir, name), 'read')
      total += await file.size()
      await file.close()
    }
    return total
  }
}
