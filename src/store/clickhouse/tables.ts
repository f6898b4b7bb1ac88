// The tables: the columns, the sorting key and the pages of each family of events.
import type { Family } from '../../event/event.ts'

/** Every row begins with these … */
const WHO = ['account', 'process', 'meta', 'uid']
/** … and ends with its time and its identity: the stamp in ns is `at` + `stamp_rest`. */
const WHEN = ['at', 'stamp_rest', 'content']

interface Table {
  /** The order of `toRows`. */
  readonly columns: readonly string[]
  /** The sorting key: it contains the event's identity, so a batch that is sent twice is one. */
  readonly key: readonly string[]
  /** Rows per page of a copy: with more, writing begins too late. */
  readonly pageRows: number
}

const table = (own: readonly string[], key: readonly string[], pageRows = 20_000): Table => ({
  columns: [...WHO, ...own, ...WHEN],
  key: [...key, ...WHEN],
  pageRows,
})

/** Of texts, the first column of its own; each may have 15,000 characters. */
const textTable = (...own: readonly string[]): Table => table(own, ['account', 'process'], 4_000)

export const TABLES: Readonly<Record<Family, Table>> = {
  marks: table(['mark'], WHO),
  metrics: table(['name', 'value'], ['account', 'process', 'name', 'meta']),
  exceptions: textTable('exception', 'fingerprint'),
  outputs: textTable('output'),
}

/** The columns that are no String. */
export const TYPES: Readonly<Record<string, string>> = {
  mark: "Enum8('start' = 0, 'end' = 1, 'failed' = 3)",
  value: 'Float64',
  at: "DateTime64(9, 'UTC')",
  stamp_rest: 'UInt32',
  content: 'UInt64',
}
