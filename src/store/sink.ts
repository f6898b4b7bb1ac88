// The interface for writing events. Both stores and the tests' fake implement it; one contract suite tests all.
import { type Event, KINDS, ownValue } from '../event/event.ts'
import type { Stamp } from '../event/stamp.ts'

/**
 * A store's verdict on a batch.
 * - `stored`: all of it is durable, but for `expired` points that lie outside the store's retention.
 * - `refused`: it will never take at least one event of it; nothing is known of the others. Bisect.
 * - `too_large`: split and send again.
 * - `retry`: a fault that passes (busy, down, time-out); `afterMs` when the store said so.
 * - `wait`: a fault that an operator must fix (credentials, missing bucket or table, disk full, broken schema).
 */
export type WriteResult =
  | { readonly kind: 'stored'; readonly expired: number }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'too_large'; readonly reason: string }
  | { readonly kind: 'retry'; readonly reason: string; readonly afterMs?: number }
  | { readonly kind: 'wait'; readonly reason: string }

/** Batches that are not full are written at this pace. */
export interface Pace {
  /** Writes that may follow each other after a pause. */
  readonly atOnce: number
  /** Then one more in each of these. */
  readonly everyMs: number
}

export interface Sink {
  /** `influxdb` or `clickhouse`, for logs and metrics. */
  readonly store: string
  /** Absent: a write costs the store little. */
  readonly pace?: Pace
  /** Creates what is missing (bucket, tables, views, migrations). `stored` when it can be written to. Idempotent. */
  prepare(): Promise<WriteResult>
  /** Writes a batch; the same batch again changes nothing. Never throws, even if the store fails or is down. */
  write(events: readonly Event[]): Promise<WriteResult>
  /**
   * Can the store take a well-formed event of this kind and time? Tells a poison batch (`stored`) from a place that
   * someone broke in the store (`refused`). No account can see what it writes.
   */
  check(like: Event): Promise<WriteResult>
  /** Accounts that are erased together because each request costs the same, whatever their number. Absent: one. */
  readonly erasesAtOnce?: number
  /** Deletes everything these accounts ever stored here. `stored` when it is gone for every question. Idempotent. */
  erase(accounts: readonly string[]): Promise<WriteResult>
  close(): Promise<void>
}

export const STORED: WriteResult = { kind: 'stored', expired: 0 }

/** `STORED` once the work is done, otherwise what the store's failure means. */
export async function attempt(
  judge: (error: unknown) => WriteResult,
  work: () => Promise<unknown>,
): Promise<WriteResult> {
  try {
    await work()
    return STORED
  } catch (error) {
    return judge(error)
  }
}

/** The account of canaries, the plainest events of a kind; no other account has this name. */
export const CHECK_ACCOUNT = '_check'

/** A sink's `check` by its `write`. `stampOf` and `process` keep the canary in the partition and shard of the event. */
export const checkByCanary =
  (write: Sink['write'], stampOf: (stamp: Stamp) => Stamp, process = 'check'): Sink['check'] =>
  (like) =>
    write([canaryOf(like, stampOf(like.stamp), process)])

function canaryOf(like: Event, stamp: Stamp, process: string): Event {
  const common = { account: CHECK_ACCOUNT, process, meta: '', stamp }
  if (like.kind === 'start' || like.kind === 'end')
    return { kind: like.kind, ...common, uid: '', ...(like.failed && { failed: true }) }
  const own = typeof ownValue(like) === 'string' ? 'check' : [['check', 0]]
  const run = like.uid === undefined ? {} : { uid: 'check' }
  return { kind: like.kind, ...common, ...run, [KINDS[like.kind].own!]: own } as Event
}
