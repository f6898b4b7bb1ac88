// What writer and reader share: the segments that may still hold records, oldest first, and the sequence that comes next.
// Only the writer adds segments and raises `end` and `nextSeq`, in one step after the fdatasync: the reader never sees what is not durable.
import type { Segment } from './segment.ts'

export interface Chain {
  segments: Segment[]
  /** The sequence of the next record to be acknowledged; all below it are or were in the log. Starts at 1. */
  nextSeq: number
  /** The newest arrival ever seen, µs since the epoch. */
  newestUs: number
}

/** Up to here the reader has delivered: the place of the next record, and its sequence. */
export interface Position {
  readonly segment: number
  readonly offset: number
  readonly seq: number
}

/**
 * Records of a segment lie below this sequence: where a later segment begins, or the log ends. The lowest of the later ones counts: one
 * that was begun by a group that then failed may lie between.
 */
export function boundOf(chain: Chain, segment: Segment): number {
  let bound = chain.nextSeq
  for (const { index, firstSeq } of chain.segments) {
    if (index > segment.index && firstSeq !== undefined && firstSeq < bound) bound = firstSeq
  }
  return bound
}
