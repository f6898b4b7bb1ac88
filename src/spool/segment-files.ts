// Closes and removes files of segments. A fault is logged, and comes between no group and its answer.
import type { Logger } from '../log.ts'
import type { Disk } from './disk.ts'
import { type BlankSegment, isMissing, segmentPath } from './segment.ts'

interface SegmentFilesOptions {
  readonly disk: Disk
  readonly dir: string
  readonly log: Logger
}

export class SegmentFiles {
  readonly #options: SegmentFilesOptions

  constructor(options: SegmentFilesOptions) {
    this.#options = options
  }

  close(blank: BlankSegment): Promise<void> {
    return blank.file.close().catch((error) => this.warn(blank, error))
  }

  /** Returns whether the removal is durable. */
  async remove(blank: BlankSegment): Promise<boolean> {
    const { disk, dir } = this.#options
    await this.close(blank)
    try {
      await disk.unlink(segmentPath(dir, blank.index))
      await disk.syncDir(dir)
      return true
    } catch (error) {
      if (isMissing(error)) return true
      this.warn(blank, error)
      return false
    }
  }

  warn({ index }: BlankSegment, error: unknown): void {
    this.tell('warn', { err: error, segment: index }, 'a segment could not be closed or cut')
  }

  tell(level: 'debug' | 'info' | 'warn' | 'error', about: object, what: string): void {
    const { log, dir } = this.#options
    try {
      log[level]({ dir, ...about }, what)
    } catch {
      // A log that fails has nobody to tell, and must not come between a group and its answer.
    }
  }
}
