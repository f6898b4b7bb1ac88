// Reads all events of a store for copies, with stamps and identities, in pieces that fit into memory. (Not source.ts.)
import { type Event, FAMILIES, type Family, type MarkName, ONE_OF } from '../event/event.ts'

/** The counted kinds: marks by name, metrics one per name, exceptions. */
type Counted = MarkName | Exclude<(typeof ONE_OF)[Family], 'mark'>
export type Counts = Readonly<Record<Counted, number>>

const MARKS: readonly MarkName[] = ['start', 'end', 'failed']
export const COUNTED: readonly Counted[] = FAMILIES.flatMap<Counted>((family) =>
  family === 'marks' ? MARKS : [ONE_OF[family]],
)

export const NO_COUNTS = Object.fromEntries(COUNTED.map((name) => [name, 0])) as Record<string, number> as Counts

export const sumCounts = (a: Counts, b: Counts): Counts =>
  Object.fromEntries(COUNTED.map((name) => [name, a[name] + b[name]])) as unknown as Counts

export interface ScanSelection {
  /** Absent = all accounts. */
  readonly account?: string | undefined
}

export interface Chunk {
  /** Never an event twice. A request's metrics may come in several events of the same stamp. */
  readonly events: readonly Event[]
  /** The position after this chunk. Only the scan that gave it can read it. */
  readonly cursor: string
}

/** All methods throw StoreError. */
export interface Scan {
  /** One family, after the cursor where one is given; in the same order every time. */
  read(family: Family, selection: ScanSelection, after?: string): AsyncGenerator<Chunk, void>
  /** Exact; of the families that are asked for, every other count is 0. */
  count(families: readonly Family[], selection: ScanSelection): Promise<Counts>
  /** Events (metrics: one per name) of each UTC day that has any, by its start in ns. */
  countDays(family: Family, selection: ScanSelection): Promise<Map<bigint, number>>
  close(): Promise<void>
}
