// Group commit. Appends that arrive during a write, and in the few turns of the event loop after it, form the next
// group and share one promise. Without those turns half of the callers would send while the other half is written, in
// twice as many commits; a commit costs as much as the handling of ten requests.
//
//   filling ──swap──▶ in hand: seal · durable write ──▶ chain.nextSeq and segment.end rise, in one step ──▶ resolve
//                                  └─ any fault ──▶ reject this group; abandon the segments it touched
//
// A durable write (O_DSYNC) is a write and its sync in one call. After a failed or short one it is unknown which part
// of the group is on disk: the sync may fail after a complete write, and that marks dirty pages as clean. So the file
// is never written again: the next group starts a new segment, whose header states where acknowledged records continue
// and so invalidates the rest. The header is durable before the first record behind it.
import type { Clock } from '../clock.ts'
import type { Logger } from '../log.ts'
import { type Disk, writeAll } from './disk.ts'
import { Group } from './group.ts'
import { type BlankSegment, type Chain, SEGMENT_HEADER_BYTES, type Segment, toHeader } from './segment.ts'
import { SegmentFiles } from './segment-files.ts'
import { SpareSegment } from './spare-segment.ts'
import { SpoolError } from './spool-error.ts'

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 1000

export type Committed = Pick<Group, 'records' | 'firstUs' | 'byOwner'>

interface WriterOptions {
  readonly disk: Disk
  readonly dir: string
  readonly segmentBytes: number
  readonly chain: Chain
  /** The index for the next new segment. */
  readonly nextIndex: number
  readonly clock: Clock
  readonly log: Logger
  /** After each commit, and how long it took. */
  onCommit(group: Committed, ms: number): void
}

/** A segment that records go into. Its `segment.end` is what is acknowledged, `written` how far this group got. */
interface Current extends BlankSegment {
  readonly segment: Segment
  written: number
}

export class Writer {
  readonly #options: WriterOptions
  readonly #chain: Chain
  readonly #files: SegmentFiles
  readonly #spare: SpareSegment
  #filling = new Group()
  #resting: Group | undefined = new Group()
  #inHand: Group | undefined
  #working: Promise<void> | undefined
  #current: Current | undefined
  #faults = 0
  /** While the disk keeps failing it is asked only now and then; the error that is to blame. */
  #pausedBy: unknown
  #closed = false

  constructor(options: WriterOptions) {
    this.#options = options
    this.#chain = options.chain
    this.#files = new SegmentFiles(options)
    this.#spare = new SpareSegment({
      ...options,
      remove: (blank) => this.#files.remove(blank),
      failed: (err) => this.#files.tell('warn', { err }, 'no room for the next segment of the spool yet'),
    })
  }

  /** Bytes that wait for the disk, without those it has in hand. */
  get waitingBytes(): number {
    return this.#filling.length
  }

  /** The earliest arrival of what waits for the disk or is in its hand: all before it is acknowledged or rejected. */
  get writingUs(): number | undefined {
    const waitingUs = this.#filling.records === 0 ? undefined : this.#filling.leastUs
    const inHandUs = this.#inHand?.leastUs
    if (waitingUs === undefined || inHandUs === undefined) return waitingUs ?? inHandUs
    return Math.min(waitingUs, inHandUs)
  }

  /** The bytes of one owner, with those it has in hand. */
  waitingBytesOf(owner: string): number {
    return (this.#filling.byOwner.get(owner)?.bytes ?? 0) + (this.#inHand?.byOwner.get(owner)?.bytes ?? 0)
  }

  /** Resolves when what waits has been written, or could not be. */
  nextCommit(): Promise<void> {
    return this.#filling.settled.catch(() => {})
  }

  /** Did the last write fail? */
  get isFailing(): boolean {
    return this.#faults > 0
  }

  /** Finds out whether a disk that failed takes a write again: a balancer that waits for that sends no event. */
  probe(): void {
    if (this.isFailing && !this.#closed)
      this.#working ??= this.#work(() =>
        this.#spare.probe().then(
          () => this.#recovered(),
          () => {},
        ),
      )
  }

  append(record: string, us: number, owner?: string): Promise<void> {
    if (this.#closed) return Promise.reject(new SpoolError('stopping'))
    const group = this.#filling
    group.add(record, us, owner)
    if (us > this.#chain.floorUs) this.#chain.floorUs = us
    this.#working ??= this.#work()
    return group.settled
  }

  /** Finishes what was accepted; later appends are rejected. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#working
    const spare = await this.#spare.close()
    for (const open of [this.#current, spare]) if (open !== undefined) await this.#files.close(open)
    this.#current = undefined
  }

  async #work(first?: () => Promise<void>): Promise<void> {
    try {
      await first?.()
      while (this.#filling.records > 0) {
        const group = this.#filling
        await group.gather()
        this.#filling = this.#resting ?? new Group()
        this.#resting = undefined
        this.#inHand = group
        try {
          await this.#commit(group)
        } catch (fault) {
          // Not a disk fault, those are handled: whatever it is, nobody may wait forever, and later groups continue.
          group.reject(new SpoolError('disk_failed', fault))
          this.#files.tell('error', { err: fault }, 'an unexpected fault while records were written')
        }
        this.#inHand = undefined
        group.reset()
        this.#resting = group
      }
    } finally {
      this.#working = undefined
    }
  }

  async #commit(group: Group): Promise<void> {
    if (this.#pausedBy !== undefined) return group.reject(new SpoolError('disk_failed', this.#pausedBy))
    const { clock, onCommit } = this.#options
    const startedUs = clock.monotonicUs()
    const touched: Current[] = []
    try {
      group.seal(this.#chain.nextSeq)
      await this.#write(group, touched)
    } catch (error) {
      const isVoid = await this.#abandon(touched)
      group.reject(new SpoolError('disk_failed', error, !isVoid))
      return this.#pause(error)
    }
    this.#publish(group, touched)
    this.#inHand = undefined
    group.resolve()
    onCommit(group, (clock.monotonicUs() - startedUs) / 1000)
    for (const old of touched.slice(0, -1)) await this.#files.close(old)
  }

  /** Makes all of the group durable, over as many segments as it needs. */
  async #write(group: Group, touched: Current[]): Promise<void> {
    let seq = this.#chain.nextSeq
    for (let from = 0; from < group.length; ) {
      let current = this.#current
      let part = group.cut(from, current === undefined ? 0 : current.bytes - current.written)
      if (current === undefined || part.records === 0) {
        current = await this.#begin(seq, group.frameBytes(from), touched)
        part = group.cut(from, current.bytes - current.written)
      }
      if (!touched.includes(current)) touched.push(current)
      await writeAll(current.file, group.slice(from, part.to), current.written)
      if (!current.file.isLinked()) throw new Error('the segment was deleted while records were written to it')
      current.written += part.to - from
      seq += part.records
      from = part.to
    }
    this.#spare.prepare()
  }

  /** The reader sees all of the group from here on. */
  #publish(group: Group, touched: Current[]): void {
    for (const { segment, written } of touched) {
      segment.end = written
      if (!this.#chain.segments.includes(segment)) this.#chain.segments.push(segment)
    }
    this.#chain.nextSeq += group.records
    this.#recovered()
  }

  #recovered(): void {
    if (this.#faults > 0) this.#files.tell('info', {}, 'the disk takes records again')
    this.#faults = 0
    this.#pausedBy = undefined
  }

  /** Makes the next segment the current one. */
  async #begin(firstSeq: number, leastBytes: number, touched: Current[]): Promise<Current> {
    const old = this.#current
    this.#current = undefined
    if (old !== undefined && !touched.includes(old)) await this.#files.close(old)
    const blank = await this.#spare.take(SEGMENT_HEADER_BYTES + leastBytes)
    this.#spare.prepare() // at once: at full speed it takes as long as filling the current one
    const segment = { index: blank.index, firstSeq, end: 0 }
    const current = { ...blank, segment, written: SEGMENT_HEADER_BYTES }
    touched.push(current)
    this.#current = current
    await writeAll(blank.file, toHeader({ index: blank.index, firstSeq, floorUs: this.#chain.floorUs }), 0)
    return current
  }

  /**
   * Cuts each segment back to what is acknowledged, or removes it. Returns whether that is durable: a record left would
   * be delivered after a restart, unless the header of the next segment, which voids it, is durable before.
   */
  async #abandon(touched: Current[]): Promise<boolean> {
    this.#current = undefined
    let isVoid = true
    for (const current of touched) {
      const acknowledged = current.segment.end
      if (acknowledged === 0) {
        isVoid = (await this.#files.remove(current)) && isVoid
        continue
      }
      try {
        await current.file.truncate(acknowledged)
        await current.file.datasync()
      } catch (error) {
        isVoid = false
        this.#files.warn(current, error)
      }
      await this.#files.close(current)
    }
    return isVoid
  }

  #pause(error: unknown): void {
    this.#faults++
    this.#files.tell(
      this.#faults === 1 ? 'error' : 'debug',
      { err: error, faults: this.#faults },
      'records could not be written',
    )
    if (this.#faults === 1) return
    this.#pausedBy = error
    const ms = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#faults - 2))
    setTimeout(() => {
      this.#pausedBy = undefined
    }, ms).unref()
  }
}
