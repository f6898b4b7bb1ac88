// The records that one write makes durable together. They are encoded on arrival into one growing buffer; sequences are
// assigned when the group is sealed, so that a failed group leaves no gap.
import { allocBytes, FRAME_HEAD_BYTES, frameBytes, putFrame, sealFrame } from './frame.ts'

const START_BYTES = 256 * 1024
/** The first turn ends without a look at the sockets, so there are two; and more while each brings records. */
const LEAST_TURNS = 2
const MOST_TURNS = 4
/** More would not make the commit cheaper, and beside batches a turn takes milliseconds. */
const ENOUGH_BYTES = 64 * 1024

/** Of one owner. */
interface Share {
  bytes: number
  records: number
}

/** What a commit made durable of each owner. */
export type ByOwner = ReadonlyMap<string, Readonly<Share>>

export class Group {
  #bytes = allocBytes(START_BYTES)
  #settled = Promise.withResolvers<void>()
  length = 0
  records = 0
  /** What is of each owner; records without an owner are in none. */
  readonly byOwner = new Map<string, Share>()
  /** Arrival of the first record, and the earliest one: requests overtake each other. */
  firstUs = 0
  leastUs = 0

  /** Settles with the commit; shared by all appends of the group. */
  get settled(): Promise<void> {
    return this.#settled.promise
  }

  add(record: string, us: number, owner: string | undefined): void {
    const worst = this.length + FRAME_HEAD_BYTES + 3 * record.length
    if (worst > this.#bytes.buffer.length) this.#grow(worst)
    if (this.records === 0) {
      this.firstUs = us
      this.leastUs = us
    } else if (us < this.leastUs) this.leastUs = us
    const bytes = putFrame(this.#bytes, this.length, record, us)
    this.length += bytes
    const share = owner === undefined ? undefined : this.byOwner.get(owner)
    if (share !== undefined) {
      share.bytes += bytes
      share.records++
    } else if (owner !== undefined) this.byOwner.set(owner, { bytes, records: 1 })
    this.records++
  }

  /** Waits for the records of the same moment: callers that were just answered send the next ones. */
  async gather(): Promise<void> {
    let before = 0
    const isSmall = () => this.length < ENOUGH_BYTES
    for (let turn = 0; isSmall() && (turn < LEAST_TURNS || (turn < MOST_TURNS && this.records > before)); turn++) {
      before = this.records
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  /** Numbers the records from `firstSeq` on; nothing may be added after it. */
  seal(firstSeq: number): void {
    let seq = firstSeq
    for (let at = 0; at < this.length; ) at += sealFrame(this.#bytes, at, seq++)
  }

  /** As many frames from `from` on as fit into `room` bytes: where they end, and how many they are. */
  cut(from: number, room: number): { to: number; records: number } {
    let to = from
    let records = 0
    while (to < this.length && to + frameBytes(this.#bytes, to) - from <= room) {
      to += frameBytes(this.#bytes, to)
      records++
    }
    return { to, records }
  }

  /** Bytes of the frame that begins at `at`. */
  frameBytes(at: number): number {
    return frameBytes(this.#bytes, at)
  }

  slice(from: number, to: number): Uint8Array {
    return this.#bytes.buffer.subarray(from, to)
  }

  resolve(): void {
    this.#settled.resolve()
  }

  reject(error: Error): void {
    // A caller may have gone away; the rejection belongs to those who still wait.
    this.#settled.promise.catch(() => {})
    this.#settled.reject(error)
  }

  /** Empty again, and small again after a surge. */
  reset(): void {
    if (this.#bytes.buffer.length > 4 * START_BYTES) this.#bytes = allocBytes(START_BYTES)
    this.#settled = Promise.withResolvers<void>()
    this.length = 0
    this.records = 0
    this.byOwner.clear()
  }

  #grow(needed: number): void {
    const larger = allocBytes(Math.max(needed, 2 * this.#bytes.buffer.length))
    this.#bytes.buffer.copy(larger.buffer, 0, 0, this.length)
    this.#bytes = larger
  }
}
