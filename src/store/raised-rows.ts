// A group of exceptions within one process and meta, as a store returns it.

export interface RaisedRow {
  readonly fingerprint: string
  readonly process: string
  readonly meta: string
  /** The text of its newest exception. */
  readonly example: string
  /** Newest first, at most `each`; `restNs` is the rest of the stamp. */
  readonly moments: readonly { readonly atNs: bigint; readonly restNs: number; readonly uid: string }[]
  /** By hour since the epoch, of those since `countFromNs`. */
  readonly hours: readonly (readonly [hour: number, count: number])[]
}
