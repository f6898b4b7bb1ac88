// Counts the records in the spool by owner after a start. A backlog may be gigabytes, so this happens in the
// background, in slices, while records are added and removed. Until a segment is counted, its records belong to nobody.
// A damaged or missing segment is counted as far as it can be read.
import type { Disk } from './disk.ts'
import { FRAME_HEAD_BYTES, frameBytes, frameSeq, isFrame } from './frame.ts'
import {
  boundOf,
  type Chain,
  type Position,
  readAll,
  SEGMENT_HEADER_BYTES,
  type Segment,
  segmentPath,
} from './segment.ts'
import type { Shares } from './shares.ts'

/** Enough of a record to see whose it is. */
const OWNER_WITHIN_BYTES = 200
/** Checked in about a millisecond. */
const BYTES_PER_TURN = 1 << 16

interface CountBacklogOptions {
  readonly disk: Disk
  readonly dir: string
  readonly chain: Chain
  /** The position of the first record that is not delivered. */
  readonly position: Position
  readonly shares: Shares
  /** The owner of a record, from its first 200 bytes. */
  ownerOf(head: string): string | undefined
}

type Counting = CountBacklogOptions & { readonly signal: AbortSignal }

/** Begins at once; `stop` resolves when no file is open. */
export function countBacklog(options: CountBacklogOptions): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const counted = countAll({ ...options, signal: stopping.signal })
  return {
    stop() {
      stopping.abort()
      return counted
    },
  }
}

async function countAll(counting: Counting): Promise<void> {
  const { chain, position, signal } = counting
  for (const segment of [...chain.segments]) {
    if (signal.aborted) return
    if (segment.index < position.segment) continue
    try {
      await countSegment(counting, segment)
    } catch {
      // The reader finds the fault, too, and reports it.
    }
  }
}

async function countSegment(counting: Counting, segment: Segment): Promise<void> {
  const { disk, dir, chain, position, shares, ownerOf, signal } = counting
  const bound = boundOf(chain, segment)
  const file = await disk.open(segmentPath(dir, segment.index), 'read')
  const bytes = await readAll(file, 0, segment.end).finally(() => file.close())
  const byOwner = new Map<string, number>()
  let endSeq = 0
  let at = segment.index === position.segment ? position.offset : SEGMENT_HEADER_BYTES
  let turnEnd = at + BYTES_PER_TURN
  while (isFrame(bytes, at, bytes.buffer.length)) {
    if (frameSeq(bytes, at) >= bound) break
    const size = frameBytes(bytes, at)
    const head = bytes.buffer.toString('latin1', at + FRAME_HEAD_BYTES, at + Math.min(size, OWNER_WITHIN_BYTES))
    const owner = ownerOf(head)
    if (owner !== undefined) byOwner.set(owner, (byOwner.get(owner) ?? 0) + size)
    endSeq = frameSeq(bytes, at) + 1
    at += size
    if (at < turnEnd) continue
    turnEnd = at + BYTES_PER_TURN
    await new Promise((resolve) => setImmediate(resolve))
    if (signal.aborted) return
  }
  shares.find(byOwner, endSeq)
}
