// Opens a spool: finds its position and the end of its log, and removes what has been delivered.
import { type Clock, systemClock } from '../clock.ts'
import type { Logger } from '../log.ts'
import { countBacklog } from './count-backlog.ts'
import { type Disk, systemDisk } from './disk.ts'
import type { ByOwner } from './group.ts'
import { createNoteFull } from './note-full.ts'
import { PositionFile } from './position-file.ts'
import { Reader } from './reader.ts'
import { recover } from './recover.ts'
import { PassedSegments } from './segment.ts'
import { type JudgeOwners, Shares } from './shares.ts'
import { Spool } from './spool.ts'
import { watchDisk } from './watch-disk.ts'
import { Writer } from './writer.ts'

export interface SpoolOptions {
  readonly dir: string
  /**
   * Bound for the records held. The disk may hold up to two segments more, one made ready and one partly delivered,
   * and as much again of released owners.
   */
  readonly maxBytes: number
  /** A second reader follows: segments stay until it has passed them, too. Default: none does. */
  readonly isFollowed?: boolean
  /** Below this much free space on the disk appends are refused. */
  readonly minFreeBytes: number
  /** How often the free space is looked up, ten times as often while little is free. Default: twice a second. */
  readonly lookEveryMs?: number
  /** Is there more than one owner? Then none may hold more than half. Default: there is not. */
  isShared?(): boolean
  /** Once there is: this owner's appends are refused all the same, as those of one that holds half. Default: none. */
  isOver?(owner: string): boolean
  /** This owner's append is refused, and others' are not. */
  onRefused?(owner: string): void
  /** Who is refused while the disk is nearly full. Default: nobody. */
  readonly judgeOwners?: JudgeOwners
  /** The owner of a record, from its first 200 bytes; for records in the spool at the start. Default: nobody. */
  ownerOf?(head: string): string | undefined
  /** Default: a sixteenth of `maxBytes`, within 512 KiB and 8 MiB. */
  readonly segmentBytes?: number
  readonly log: Logger
  /** After each commit: its records, how long it took, and the bytes of each owner. */
  onCommit?(records: number, ms: number, byOwner: ByOwner): void
  readonly disk?: Disk
  readonly clock?: Clock
}

const MOST_SEGMENT_BYTES = 8 * 1024 * 1024
const LEAST_SEGMENT_BYTES = 512 * 1024
const LOOK_EVERY_MS = 500

/**
 * Opens or creates the spool in `dir`. Throws NewerFormat if a newer Stint wrote it, an Error that names a segment that
 * cannot be read, and the errors of the disk.
 */
export async function openSpool(options: SpoolOptions): Promise<Spool> {
  const { dir, log, maxBytes, disk = systemDisk, clock = systemClock } = options
  const {
    isShared = () => false,
    isOver = () => false,
    isFollowed = false,
    judgeOwners = () => undefined,
    onRefused = () => {},
    ownerOf,
  } = options
  await disk.makeDir(dir)
  const positionFile = new PositionFile(disk, dir)
  const { bookmark, damaged } = await positionFile.load()
  if (damaged) {
    const what =
      bookmark === undefined ? 'the position file is damaged' : 'one of the two slots of the position file is damaged'
    log.warn({ dir, position: bookmark }, what)
  }
  const { chain, position, nextIndex } = await recover({ disk, dir, log, isFollowed }, bookmark)
  const share = Math.max(LEAST_SEGMENT_BYTES, Math.min(MOST_SEGMENT_BYTES, Math.floor(maxBytes / 16)))
  const shares = new Shares({ runBytes: share, maxBytes, isShared, isOver, judgeOwners, onRefused })
  const files = { disk, dir, chain, log }
  const spool = new Spool({
    dir,
    log,
    maxBytes,
    isFollowed,
    chain,
    position,
    positionFile,
    shares,
    watch: await watchDisk(disk, dir, options.minFreeBytes, options.lookEveryMs ?? LOOK_EVERY_MS, log),
    noteFull: createNoteFull(log, dir, maxBytes),
    passed: new PassedSegments(disk, dir, log),
    openReader: (keeps) => new Reader({ ...files, ...(keeps && { keeps }) }),
    openWriter: (onCommit) =>
      new Writer({
        ...files,
        clock,
        nextIndex,
        segmentBytes: options.segmentBytes ?? share,
        onCommit(group, ms) {
          onCommit(group)
          options.onCommit?.(group.records, ms, group.byOwner)
        },
      }),
    countBacklog: () => ownerOf && countBacklog({ disk, dir, chain, position, shares, ownerOf }),
  })
  await spool.begin()
  return spool
}
