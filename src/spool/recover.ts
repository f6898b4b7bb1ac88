// Opens the log: finds its end from the headers and the last segment only, so that 10 million records take no longer
// than 10. The last segment is cut after its last good record and never written to again; new records go into a new
// segment.
// The position file knows the newest arrival below its end of the log, so only what lies behind that end can raise it.
import { basename, dirname } from 'node:path'
import type { Logger } from '../log.ts'
import type { Disk } from './disk.ts'
import { NewerFormat } from './frame.ts'
import type { Bookmark } from './position-file.ts'
import {
  type Chain,
  fromHeader,
  type Position,
  readAll,
  SEGMENT_HEADER_BYTES,
  type Segment,
  type SegmentHeader,
  scanSegment,
  segmentIndex,
  segmentPath,
  unreadable,
} from './segment.ts'

interface Recovered {
  readonly chain: Chain
  readonly position: Position
  /** The index for the next new segment. */
  readonly nextIndex: number
}

interface RecoverOptions {
  /** Segments that are passed stay for a second reader. */
  readonly isFollowed: boolean
  readonly disk: Disk
  readonly dir: string
  readonly log: Logger
}

/**
 * Reads the headers, cuts a torn tail, removes passed and blank segments. Throws NewerFormat, an Error that names a
 * segment that cannot be read, and what the disk throws.
 */
export async function recover(options: RecoverOptions, bookmark: Bookmark | undefined): Promise<Recovered> {
  const { disk, dir, log } = options
  const indexes = (await disk.list(dir)).map(segmentIndex).filter((index) => index !== undefined)
  indexes.sort((a, b) => a - b)
  const nextIndex = Math.max(bookmark?.segment ?? 0, indexes.at(-1) ?? 0) + 1
  const chain: Chain = { segments: [], nextSeq: bookmark?.endSeq ?? 1, floorUs: bookmark?.floorUs ?? 0 }
  const floorSeq = bookmark?.endSeq ?? 0
  const useless: number[] = []

  for (const index of indexes) {
    const isPassed = !options.isFollowed && index < (bookmark?.segment ?? 0)
    const segment = isPassed ? undefined : await openSegment(options, chain, index, floorSeq)
    if (segment === undefined) useless.push(index)
    else chain.segments.push(segment)
  }
  while (chain.segments.length > 0 && !(await closeSegment(options, chain, chain.segments.at(-1)!, floorSeq)))
    useless.push(chain.segments.pop()!.index)

  for (const index of useless) await disk.unlink(segmentPath(dir, index))
  if (useless.length > 0) await disk.syncDir(dir)
  if (bookmark !== undefined) return { chain, position: bookmark, nextIndex }

  const oldest = chain.segments[0]
  if (oldest !== undefined) {
    log.warn(
      { dir, segment: oldest.index },
      'no usable position: the spool is delivered again from its oldest segment on',
    )
  }
  const position = { segment: oldest?.index ?? nextIndex, offset: SEGMENT_HEADER_BYTES }
  return { chain, position: { ...position, seq: oldest?.firstSeq ?? chain.nextSeq }, nextIndex }
}

/** Undefined for a segment that was made ready and never used. */
async function openSegment(
  { disk, dir }: RecoverOptions,
  chain: Chain,
  index: number,
  floorSeq: number,
): Promise<Segment | undefined> {
  const path = segmentPath(dir, index)
  const { header, end } = await reading(path, () => readHeader(disk, path, index))
  if (header === undefined) return undefined
  if (header.firstSeq > floorSeq) chain.floorUs = Math.max(chain.floorUs, header.floorUs)
  chain.nextSeq = Math.max(chain.nextSeq, header.firstSeq)
  return { index, firstSeq: header.firstSeq, end }
}

/** No header: the file is blank. */
async function readHeader(
  disk: Disk,
  path: string,
  index: number,
): Promise<{ readonly header: SegmentHeader | undefined; readonly end: number }> {
  const file = await disk.open(path, 'read')
  try {
    const end = await file.size()
    const header = fromHeader((await readAll(file, 0, SEGMENT_HEADER_BYTES)).buffer, path)
    if (header?.index === index) return { header, end }
    if (header !== undefined) throw new Error(`it was written as ${basename(segmentPath(dirname(path), header.index))}`)
    if ((await readAll(file, 0, end)).buffer.some((byte) => byte !== 0)) throw new Error('its header is damaged')
    return { header, end }
  } finally {
    await file.close()
  }
}

async function reading<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    throw error instanceof NewerFormat ? error : unreadable(path, error)
  }
}

/**
 * Finds the end of the log in its last segment and cuts what lies behind it: a record that was being written when the
 * process or the power went. Returns false if the segment holds nothing at all. Damage is left to the reader, which
 * counts it.
 */
async function closeSegment(
  { disk, dir, log }: RecoverOptions,
  chain: Chain,
  segment: Segment,
  floorSeq: number,
): Promise<boolean> {
  const path = segmentPath(dir, segment.index)
  const file = await reading(path, () => disk.open(path, 'write'))
  try {
    const found = scanSegment(await reading(path, () => readAll(file, 0, segment.end)), segment.firstSeq, floorSeq)
    const isTailLost = found.tail === 'damaged'
    const firstMissing = found.lastSeq === undefined ? segment.firstSeq : found.lastSeq + 1
    const damaged = chain.nextSeq > firstMissing || isTailLost
    chain.nextSeq = Math.max(chain.nextSeq, isTailLost ? firstMissing + 1 : firstMissing)
    chain.floorUs = Math.max(chain.floorUs, found.floorUs)
    if (!damaged && found.lastSeq === undefined) return false
    if (!damaged && found.tail === 'torn') {
      log.warn({ dir, segment: segment.index, offset: found.end }, 'the last record was not written completely: cut')
    }
    if (!damaged && found.end < segment.end) {
      await file.truncate(found.end)
      segment.end = found.end
    }
    // After a kill -9 the tail may lie in the page cache only; from here on it counts as acknowledged.
    await file.datasync()
    return true
  } finally {
    await file.close()
  }
}
