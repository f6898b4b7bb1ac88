// Opens the log: finds its end from the headers and the last segment only, so that 10 million records take no longer
// than 10. The last segment is cut after its last good record and never written to again; new records go into a new
// segment.
import type { Logger } from '../log.ts'
import type { Disk, DiskFile } from './disk.ts'
import type { Bookmark } from './position-file.ts'
import {
  type Chain,
  fromHeader,
  type Position,
  raiseFloors,
  readAll,
  readAround,
  SEGMENT_HEADER_BYTES,
  type Segment,
  type SegmentHeader,
  scanSegment,
  segmentIndex,
  segmentPath,
  setAside,
} from './segment.ts'

export interface Recovered {
  readonly chain: Chain
  readonly position: Position
  /** The index for the next new segment. */
  readonly nextIndex: number
}

export interface RecoverOptions {
  readonly disk: Disk
  readonly dir: string
  readonly log: Logger
}

/**
 * Reads the headers, cuts a torn tail, removes passed and unused segments. Throws NewerFormat, and what the disk
 * throws.
 */
export async function recover(options: RecoverOptions, bookmark: Bookmark | undefined): Promise<Recovered> {
  const { disk, dir, log } = options
  const indexes = (await disk.list(dir)).map(segmentIndex).filter((index) => index !== undefined)
  indexes.sort((a, b) => a - b)
  const nextIndex = Math.max(bookmark?.segment ?? 0, indexes.at(-1) ?? 0) + 1
  const chain: Chain = { segments: [], nextSeq: bookmark?.endSeq ?? 1, floors: [0, 0] }
  if (bookmark !== undefined) raiseFloors(chain.floors, bookmark.floors)
  const useless: number[] = []

  for (const index of indexes) {
    if (index < (bookmark?.segment ?? 0)) useless.push(index)
    else {
      const segment = await openSegment(options, chain, index)
      if (segment !== undefined) chain.segments.push(segment)
    }
  }
  await closeEnd(options, chain, useless)

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
  const seq = chain.segments.find((segment) => segment.firstSeq !== undefined)?.firstSeq ?? chain.nextSeq
  return { chain, position: { segment: oldest?.index ?? nextIndex, offset: SEGMENT_HEADER_BYTES, seq }, nextIndex }
}

/**
 * Takes a segment by its header, or, where that is damaged or cannot be read, by its first good record. Undefined for
 * one that was written under another index, a copy or a mix-up: its records belong elsewhere, so the file is set aside.
 */
async function openSegment(options: RecoverOptions, chain: Chain, index: number): Promise<Segment | undefined> {
  const { disk, dir, log } = options
  const path = segmentPath(dir, index)
  const segment: Segment = { index, firstSeq: undefined, end: SEGMENT_HEADER_BYTES }
  let file: DiskFile | undefined
  try {
    file = await disk.open(path, 'read')
    segment.end = await file.size()
    const header = await readHeader(options, file, path)
    if (header !== undefined && header.index !== index) {
      log.error(
        { path, writtenAs: segmentPath(dir, header.index) },
        'a segment lies under a wrong name: it is set aside',
      )
      await setAside(disk, dir, path)
      return undefined
    }
    if (header !== undefined) raiseFloors(chain.floors, header.floors)
    const firstSeq = header?.firstSeq ?? (await findFirst(options, file, path, segment.end))
    chain.nextSeq = Math.max(chain.nextSeq, firstSeq ?? 0)
    return { ...segment, firstSeq }
  } catch (error) {
    if (!isUnreadable(error)) throw error
    log.error({ err: error, path }, 'a segment cannot be read')
    return { ...segment, isUnreadable: true }
  } finally {
    await file?.close()
  }
}

async function readHeader({ log }: RecoverOptions, file: DiskFile, path: string): Promise<SegmentHeader | undefined> {
  const bytes = new Uint8Array(SEGMENT_HEADER_BYTES)
  try {
    return fromHeader(bytes.subarray(0, await file.read(bytes, 0)), path)
  } catch (error) {
    if (!isUnreadable(error)) throw error
    log.error({ err: error, path }, 'a segment header cannot be read')
    return undefined
  }
}

async function findFirst(
  { log }: RecoverOptions,
  file: DiskFile,
  path: string,
  end: number,
): Promise<number | undefined> {
  const { firstSeq } = scanSegment((await readAround(file, 0, end)).bytes, 1)
  if (firstSeq !== undefined) log.warn({ path }, 'a segment header is damaged: its records are read without it')
  return firstSeq
}

/** A disk fault at this place, as opposed to one of the process (too many open files, no memory). */
const isUnreadable = (error: unknown): boolean =>
  ['EIO', 'EUCLEAN', 'EBADMSG', 'ENXIO', 'EREMOTEIO', 'EILSEQ'].includes((error as { code?: string }).code ?? '')

/**
 * Closes the last segment that tells its sequence, and those behind it: they are blank, or so damaged that only the one
 * before them tells where the log ends.
 */
async function closeEnd(options: RecoverOptions, chain: Chain, useless: number[]): Promise<void> {
  const { segments } = chain
  const tellsSeq = ({ firstSeq }: Segment) => firstSeq !== undefined
  let kept: Segment[] = []
  while (segments.length > 0 && !kept.some(tellsSeq)) {
    const used: Segment[] = []
    for (const segment of segments.splice(Math.max(0, segments.findLastIndex(tellsSeq))))
      if (await closeSegment(options, chain, segment)) used.push(segment)
      else useless.push(segment.index)
    kept = [...used, ...kept]
  }
  segments.push(...kept)
}

/**
 * Finds the end of the log in a segment and cuts what lies behind it: a record that was being written when the process
 * or the power went. False when the segment holds nothing at all. What looks like damage is left for the reader, which
 * sets it aside and counts it.
 */
async function closeSegment(options: RecoverOptions, chain: Chain, segment: Segment): Promise<boolean> {
  const path = segmentPath(options.dir, segment.index)
  try {
    return await tryClose(options, chain, segment, path)
  } catch (error) {
    if (!isUnreadable(error)) throw error
    options.log.error({ err: error, path }, 'the last segment cannot be read or cut')
    segment.isUnreadable = true
    chain.nextSeq++ // it held at least one record
    return true
  }
}

async function tryClose(
  { disk, dir, log }: RecoverOptions,
  chain: Chain,
  segment: Segment,
  path: string,
): Promise<boolean> {
  const file = await disk.open(path, 'write')
  try {
    const scan = async () => {
      const { bytes, unreadable } = await readAround(file, 0, segment.end)
      return { ...scanSegment(bytes, segment.firstSeq ?? 1), unreadable }
    }
    let found = await scan()
    // Before anything is cut it is read once more: a fault on the way from the disk must not cost a good record.
    if (found.tail !== 'empty' || found.unreadable > 0) found = await scan()
    if (found.unreadable > 0) log.error({ path, bytes: found.unreadable }, 'parts of the last segment cannot be read')
    const isTailLost = found.tail === 'damaged' || (await cannotRead(file, found.end, segment.end))
    const firstMissing = found.lastSeq === undefined ? (segment.firstSeq ?? chain.nextSeq) : found.lastSeq + 1
    const damaged = chain.nextSeq > firstMissing || isTailLost || found.unreadable > 0
    chain.nextSeq = Math.max(chain.nextSeq, isTailLost ? firstMissing + 1 : firstMissing)
    raiseFloors(chain.floors, found.floors)
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

const cannotRead = (file: DiskFile, from: number, to: number): Promise<boolean> =>
  readAll(file, from, to).then(
    () => false,
    () => true,
  )
