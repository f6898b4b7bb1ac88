// The share of the spool that each owner (an account) holds, so that no account can fill it for all, and who is refused
// while the disk is nearly full. Kept in memory as runs of records: a run is released when it has been delivered
// completely. Records from before the start are counted in the background (count-backlog.ts). Records of a deleted
// account stay in the log until they are passed, but count for nobody.
import type { ByOwner } from './group.ts'
import type { SpoolRefusal } from './spool-error.ts'

/** An owner's share of the spool's maximum size, once the spool is shared. */
const OWNER_SHARE = 0.5

/** Records in a row, which are released together. */
interface Run {
  /** Its records are below this sequence. */
  endSeq: number
  bytes: number
  readonly byOwner: Map<string, number>
}

/** Those that are about one owner. */
type OwnerRefusal = Extract<SpoolRefusal, 'share_full' | 'letters_full' | 'disk_share'>

/** Who is refused while the disk is nearly full (`fullness`: 0 to 1); undefined while nobody is. */
export type JudgeOwners = (fullness: number) => ((owner: string) => boolean) | undefined

interface SharesOptions {
  readonly runBytes: number
  /** The maximum size of the spool. */
  readonly maxBytes: number
  /** Is there more than one owner? */
  isShared(): boolean
  /** Has this owner used up a share elsewhere, of what its records come to? */
  isOver(owner: string): boolean
  readonly judgeOwners: JudgeOwners
  onRefused(owner: string): void
}

export class Shares {
  readonly #options: SharesOptions
  readonly #held = new Map<string, number>()
  /** In ascending order of sequence. */
  readonly #runs: Run[] = []
  readonly #released = new Set<string>()
  #releasedBytes = 0
  #passedSeq = 0
  #isRefused: ((owner: string) => boolean) | undefined

  constructor(options: SharesOptions) {
    this.#options = options
  }

  held(owner: string): number {
    return this.#held.get(owner) ?? 0
  }

  /** `waitingBytes`: what of this owner waits for the disk. */
  refusal(owner: string, waitingBytes: number): OwnerRefusal | undefined {
    const refusal = this.#refusal(owner, waitingBytes)
    if (refusal !== undefined) this.#options.onRefused(owner)
    return refusal
  }

  #refusal(owner: string, waitingBytes: number): OwnerRefusal | undefined {
    if (this.#isRefused?.(owner)) return 'disk_share'
    const { maxBytes, isShared, isOver } = this.#options
    const isFull = this.held(owner) + waitingBytes >= maxBytes * OWNER_SHARE
    if (!(isFull || isOver(owner)) || !isShared()) return undefined
    return isFull ? 'share_full' : 'letters_full'
  }

  /** The disk was looked at. */
  noteFullness(fullness: number): void {
    this.#isRefused = this.#options.judgeOwners(fullness)
  }

  /**
   * Bytes that are held and count for nobody: never more than the spool may hold, so that the disk holds twice as much
   * at most.
   */
  get uncountedBytes(): number {
    return Math.min(this.#releasedBytes, this.#options.maxBytes)
  }

  /** `endSeq`: the sequence after the last of these records. */
  commit(byOwner: ByOwner, endSeq: number): void {
    let run = this.#runs.at(-1)
    if (run === undefined || run.bytes >= this.#options.runBytes) {
      run = { endSeq, bytes: 0, byOwner: new Map() }
      this.#runs.push(run)
    }
    run.endSeq = endSeq
    for (const [owner, { bytes }] of byOwner) {
      run.bytes += bytes
      add(run.byOwner, owner, bytes)
      this.#change(owner, bytes)
    }
  }

  /** A run that was found in the log. */
  find(byOwner: ReadonlyMap<string, number>, endSeq: number): void {
    if (endSeq <= this.#passedSeq) return
    const at = this.#runs.findIndex((run) => run.endSeq > endSeq)
    const run = { endSeq, bytes: this.#options.runBytes, byOwner: new Map(byOwner) }
    this.#runs.splice(at < 0 ? this.#runs.length : at, 0, run)
    for (const [owner, bytes] of byOwner) this.#change(owner, bytes)
  }

  /** Nothing that this owner holds or brings counts any more. */
  release(owner: string): void {
    if (this.#released.has(owner)) return
    this.#released.add(owner)
    this.#releasedBytes += this.held(owner)
  }

  /** Everything below `seq` has been delivered. */
  pass(seq: number): void {
    this.#passedSeq = seq
    while (this.#runs.length > 0 && this.#runs[0]!.endSeq <= seq)
      for (const [owner, bytes] of this.#runs.shift()!.byOwner) this.#change(owner, -bytes)
  }

  #change(owner: string, bytes: number): void {
    add(this.#held, owner, bytes)
    if (this.#held.get(owner) === 0) this.#held.delete(owner)
    if (this.#released.has(owner)) this.#releasedBytes += bytes
  }
}

const add = (map: Map<string, number>, owner: string, bytes: number): void => {
  map.set(owner, (map.get(owner) ?? 0) + bytes)
}
