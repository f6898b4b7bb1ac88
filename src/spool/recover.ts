// Opening: finds the end of the log from the headers and the last segment alone, so that it takes as long for 10 records as for 10 million.
// The segment written to last is cut after its last good record and never written to again; new records go into a new one.
import type { Logger } from '../log.ts'
import type { Disk } from './disk.ts'
import type { Bookmark } from './position-file.ts'
import {
  type Chain,
  fromHeader,
  type Position,
  raiseFloors,
  readAll,
  SEGMENT_HEADER_BYTES,
  type Segment,
  scanSegment,
  segmentIndex,
  segmentPath,
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

/** Reads the headers, cuts a torn tail, removes passed and unused segments. Throws NewerFormat, and what the disk throws. */
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
    else chain.segments.push(await openSegment(options, chain, index))
  }
  while (chain.segments.length > 0 && !(await closeLast(options, chain))) useless.push(chain.segments.pop()!.index)

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

/** Takes a segment by its header, or, where that is damaged, by its first good record. */
async function openSegment({ disk, dir, log }: RecoverOptions, chain: Chain, index: number): Promise<Segment> {
  const path = segmentPath(dir, index)
  const file = await disk.open(path, 'read')
  try {
    const end = await file.size()
    const bytes = new Uint8Array(SEGMENT_HEADER_BYTES)
    const found = fromHeader(bytes.subarray(0, await file.read(bytes, 0)), path)
    const header = found?.index === index ? found : undefined
    let firstSeq = header?.firstSeq
    if (header === undefined) {
      firstSeq = scanSegment(await readAll(file, 0, end), 1).firstSeq
      if (firstSeq !== undefined)
        log.warn({ dir, segment: index }, 'a segment header is damaged: its records are read without it')
    }
    if (header !== undefined) raiseFloors(chain.floors, header.floors)
    chain.nextSeq = Math.max(chain.nextSeq, firstSeq ?? 0)
    return { index, firstSeq, end }
  } finally {
    await file.close()
  }
}

/**
 * Finds the end of the log in the last segment and cuts what lies behind it: a record that was being written when the process or the power
 * went. False when the segment holds nothing at all. What looks like damage is left for the reader, which sets it aside and counts it.
 */
async function closeLast({ disk, dir, log }: RecoverOptions, chain: Chain): Promise<boolean> {
  const segment = chain.segments.at(-1)!
  const file = await disk.open(segmentPath(dir, segment.index), 'write')
  try {
    const scan = async () => scanSegment(await readAll(file, 0, segment.end), segment.firstSeq ?? 1)
    let found = await scan()
    // Before anything is cut it is read once more: a fault on the way from the disk must not cost a good record.
    if (found.tail !== 'empty') found = await scan()
    const firstMissing = found.lastSeq === undefined ? (segment.firstSeq ?? chain.nextSeq) : found.lastSeq + 1
    const damaged = chain.nextSeq > firstMissing || found.tail === 'damaged'
    chain.nextSeq = Math.max(chain.nextSeq, found.tail === 'damaged' ? firstMissing + 1 : firstMissing)
    raiseFloors(chain.floors, found.floors)
    if (!damaged && found.lastSeq === undefined) return false
    if (!damaged && found.tail === 'torn') {
      log.warn({ dir, segment: segment.index, offset: found.end }, 'the last record was not written to its end: cut')
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
