// A process as a store lists it.
import type { Family, ONE_OF } from '../event/event.ts'

/** Metas that are read per process: one more than an answer names. */
export const PROCESS_METAS = 101

export interface ProcessRow {
  readonly process: string
  /** Sorted, '' for events without one; at most `PROCESS_METAS`, with `byMeta` one. */
  readonly metas: readonly string[]
  readonly lastNs: bigint
  readonly kinds: readonly (typeof ONE_OF)[Family][]
}
