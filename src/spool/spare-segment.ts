// The next segment, made ready while the current one is filled. After a failure it is tried again a second later.
import { type Disk, writeAll } from './disk.ts'
import { allocateSegment, type BlankSegment, SEGMENT_HEADER_BYTES } from './segment.ts'

const PAUSE_MS = 1000

interface SpareOptions {
  readonly disk: Disk
  readonly dir: string
  readonly segmentBytes: number
  /** The index for the next new segment. */
  readonly nextIndex: number
  /** Closes and deletes it; never rejects. */
  remove(blank: BlankSegment): Promise<unknown>
  /** There is no room for one yet. */
  failed(error: unknown): void
}

export class SpareSegment {
  readonly #options: SpareOptions
  #spare: Promise<BlankSegment> | undefined
  #nextIndex: number
  #isPaused = false
  #isClosed = false

  constructor(options: SpareOptions) {
    this.#options = options
    this.#nextIndex = options.nextIndex
    this.prepare()
  }

  prepare(): void {
    if (this.#spare !== undefined || this.#isPaused || this.#isClosed) return
    this.#spare = this.#allocate(0)
    this.#spare.catch((error) => {
      this.#spare = undefined
      this.#isPaused = true
      setTimeout(() => {
        this.#isPaused = false
      }, PAUSE_MS).unref()
      this.#options.failed(error)
    })
  }

  /** It, or one that is made now. Rejects with what the disk throws. */
  async take(leastBytes: number): Promise<BlankSegment> {
    const spare = this.#spare
    this.#spare = undefined
    const blank = await spare
    if (blank === undefined) return this.#allocate(leastBytes)
    if (blank.bytes >= leastBytes) return blank
    await this.#options.remove(blank)
    return this.#allocate(leastBytes)
  }

  /** Writes to it, and leaves it empty. Rejects while the disk takes no write. */
  async probe(): Promise<void> {
    const blank = await this.take(0)
    try {
      await writeAll(blank.file, new Uint8Array(SEGMENT_HEADER_BYTES), 0)
      this.#spare = Promise.resolve(blank)
    } catch (error) {
      await this.#options.remove(blank)
      throw error
    }
  }

  /** Returns one that must be closed. */
  close(): Promise<BlankSegment | undefined> {
    this.#isClosed = true
    const spare = this.#spare
    this.#spare = undefined
    return spare?.catch(() => undefined) ?? Promise.resolve(undefined)
  }

  #allocate(leastBytes: number): Promise<BlankSegment> {
    const { disk, dir, segmentBytes } = this.#options
    return allocateSegment(disk, dir, this.#nextIndex++, Math.max(segmentBytes, leastBytes))
  }
}
