// What every source of points must answer, whatever stands behind it: marks and metrics go in through the store's own
// sink, questions come out through its source, and the answers must be equal to the last digit.
import { describe } from 'bun:test'
import type { Sink } from '../../src/store/sink.ts'
import type { PointSource } from '../../src/store/source.ts'

/** A sink and a source on one store (bucket, database, …) of their own, prepared and empty. */
export interface SourceTrial {
  readonly sink: Sink
  readonly source: PointSource
  close(): Promise<void>
}

export interface SourceSubject {
  readonly name: string
  /** Why the suite cannot run here, when it cannot. */
  readonly skip?: string | undefined
  /** Called once for the suite: its tests keep apart by account. */
  open(): Promise<SourceTrial>
}

export function pointSourceContract(subject: SourceSubject): void {
  describe.skipIf(subject.skip !== undefined)(`${subject.name} keeps the contract of a source of points`, () => {})
}
