// The decisions about groups of exceptions, and the interface of the place that keeps them.
import type { GroupKey } from '../store/source.ts'

export interface GroupState extends GroupKey {
  readonly status: 'resolved' | 'ignored'
  readonly by: string
  /** µs since the epoch. */
  readonly atUs: number
}

/** All reject with Problem `store_unavailable`. */
export interface GroupStates {
  list(account: string): Promise<readonly GroupState[]>
  find(account: string, process: string, fingerprints: readonly string[]): Promise<readonly GroupState[]>
  put(account: string, states: readonly GroupState[]): Promise<void>
  remove(account: string, groups: readonly GroupKey[]): Promise<void>
}
