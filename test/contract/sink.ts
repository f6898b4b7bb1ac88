// What every sink must do, whatever stands behind it. Each implementation runs this suite with a factory of its own;
// a suite that only one store passes would describe the store, not the contract.
import { describe } from 'bun:test'
import type { Event, EventKind } from '../../src/event/event.ts'
import type { Stamp } from '../../src/event/stamp.ts'
import type { Sink } from '../../src/store/sink.ts'

/** One point or row as a query sees it. `ns` is the stamp as a decimal string of nanoseconds. */
export type StoredRow =
  | { kind: 'start' | 'end'; ns: string; process: string; meta: string; uid: string }
  | { kind: 'metric'; ns: string; process: string; meta: string; name: string; value: number }
  | { kind: 'exception'; ns: string; process: string; meta: string; exception: string }

/** A sink on a store (bucket, database, …) of its own that holds nothing yet and has not been prepared. */
export interface SinkTrial {
  readonly sink: Sink
  /** Another sink on the same store. */
  another(): Sink
  /** Everything the account has in the store, in any order, as the store's ordinary queries see it (views, FINAL). */
  read(account: string): Promise<StoredRow[]>
  /** The same kind of sink at an address where nothing listens. Absent where there is no address (embedded). */
  away?(): Sink
  /** The same store with credentials it does not know. Absent where there are none (embedded). */
  stranger?(): Sink
  /** An event which the store will never take however often it is sent. */
  poison(account: string, stamp: Stamp): Event
  close(): Promise<void>
}

export interface SinkSubject {
  readonly name: string
  /** What this sink is for: an InfluxDB takes no exceptions. */
  readonly kinds: readonly EventKind[]
  /** Why the suite cannot run here, when it cannot. */
  readonly skip?: string | undefined
  open(): Promise<SinkTrial>
}

export function sinkContract(subject: SinkSubject): void {
  describe.skipIf(subject.skip !== undefined)(`${subject.name} keeps the contract of a sink`, () => {})
}
