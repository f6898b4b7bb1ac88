// Segments that the position has passed, as long as they are on the disk. One that cannot be removed is tried again with the next.
import type { Logger } from '../log.ts'
import type { Disk } from './disk.ts'
import { segmentPath } from './segment.ts'

export class PassedSegments {
  #indexes: number[] = []

  constructor(
    readonly disk: Disk,
    readonly dir: string,
    readonly log: Logger,
  ) {}

  add(index: number): void {
    this.#indexes.push(index)
  }

  /** Never rejects. */
  async remove(): Promise<void> {
    if (this.#indexes.length === 0) return
    try {
      while (this.#indexes.length > 0) {
        await this.disk.unlink(segmentPath(this.dir, this.#indexes[0]!))
        this.#indexes.shift()
      }
      await this.disk.syncDir(this.dir)
    } catch (error) {
      this.log.warn({ err: error, dir: this.dir }, 'a delivered segment could not be removed yet')
    }
  }
}
