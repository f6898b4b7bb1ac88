// What a spool is made of, and what it says about itself.
import type { Logger } from '../log.ts'
import type { NoteFull } from './note-full.ts'
import type { PositionFile } from './position-file.ts'
import type { Reader } from './reader.ts'
import type { Chain, PassedSegments, Position } from './segment.ts'
import type { Shares } from './shares.ts'
import type { DiskWatch } from './watch-disk.ts'
import type { Committed, Writer } from './writer.ts'

export interface SpoolStats {
  /** Acknowledged and not yet advanced over. */
  readonly records: number
  /** Bytes they take in the log. */
  readonly bytes: number
  /** Arrival of the oldest of them, or of one before it; 0 while it could not be read. */
  readonly oldestUs: number | undefined
  /** Records found damaged or missing since opening. */
  readonly damaged: number
  /** The segment that the disk could not read last: nothing is delivered until it can, or until it is moved away. */
  readonly unreadable: string | undefined
}

export interface SpoolParts {
  readonly dir: string
  readonly log: Logger
  readonly maxBytes: number
  readonly chain: Chain
  readonly position: Position
  readonly positionFile: PositionFile
  readonly watch: DiskWatch
  readonly noteFull: NoteFull
  readonly passed: PassedSegments
  readonly shares: Shares
  readonly isFollowed: boolean
  openReader(keeps?: (head: Buffer) => boolean): Reader
  openWriter(onCommit: (group: Committed) => void): Writer
  /** Counts what was there at the start in the background. */
  countBacklog(): { stop(): Promise<void> } | undefined
}
