// The database of accounts and watches: SQLite or PostgreSQL. A script is a generator that yields its statements:
// SQLite runs it to its end without giving way to another request, PostgreSQL awaits each statement. Both take the same
// text: parameters are `$1`, `$2`, … in the order of their first use.

export type Value = string | number | null

export interface Statement {
  readonly sql: string
  readonly values: readonly Value[]
}

export interface Result {
  readonly rows: readonly unknown[]
  /** Rows that an INSERT, UPDATE or DELETE without RETURNING changed. */
  readonly changes: number
}

export type Script<T> = Generator<Statement, T, Result>

export interface SqlDatabase {
  /** Statements that change nothing, without a transaction. Throws Problem `store_unavailable`. */
  read<T>(script: () => Script<T>): Promise<T>
  /**
   * One transaction; transactions never overlap, also not those of other nodes. Durable when it resolves; an error
   * rolls everything back. Throws Problem `disk_low` or `disk_failed` (SQLite), `store_unavailable` (PostgreSQL). After
   * `disk_failed` and `store_unavailable` the change was rarely made nevertheless.
   */
  write<T>(script: () => Script<T>): Promise<T>
  close(): Promise<void>
}

export function* all<Row>(sql: string, ...values: Value[]): Script<Row[]> {
  return (yield { sql, values }).rows as Row[]
}

export function* get<Row>(sql: string, ...values: Value[]): Script<Row | undefined> {
  return (yield { sql, values }).rows[0] as Row | undefined
}

/** The number of changed rows. */
export function* run(sql: string, ...values: Value[]): Script<number> {
  return (yield { sql, values }).changes
}

type Row = Readonly<Record<string, Value>>

/** Names of the table and of columns are never those of a caller. */
export function insert(table: string, row: Row, conflict = ''): Script<number> {
  const columns = Object.keys(row)
  const into = `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${places(1, columns.length)} ${conflict}`
  return run(into, ...Object.values(row))
}

/** Rows of one statement: SQLite takes 32,766 parameters, PostgreSQL 65,535. */
const ROWS_AT_ONCE = 500

/** Rows of the same columns, no two with the same key. By default a row that is there already stays as it is. */
export function* insertRows(table: string, rows: readonly Row[], conflict = 'DO NOTHING'): Script<void> {
  const columns = Object.keys(rows[0] ?? {})
  const into = `INSERT INTO ${table} (${columns.join(', ')}) VALUES`
  for (const some of inParts(rows))
    yield* run(
      `${into} ${places(some.length, columns.length)} ON CONFLICT ${conflict}`,
      ...some.flatMap((row) => columns.map((column) => row[column] ?? null)),
    )
}

/** Copies in transactions of 500 rows; one that is there already stays as it is. Returns the number of rows. */
export async function copyRows(database: SqlDatabase, table: string, rows: readonly Row[]): Promise<number> {
  for (const some of inParts(rows)) await database.write(() => insertRows(table, some))
  return rows.length
}

export const inParts = <Row>(rows: readonly Row[]): Row[][] =>
  Array.from({ length: Math.ceil(rows.length / ROWS_AT_ONCE) }, (_, i) =>
    rows.slice(i * ROWS_AT_ONCE, (i + 1) * ROWS_AT_ONCE),
  )

/** `($1, $2), ($3, $4)`: the parameters of so many rows, behind `skip` others. */
export const places = (rows: number, columns: number, skip = 0): string =>
  Array.from({ length: rows }, (_, row) => {
    const first = skip + row * columns + 1
    return `(${Array.from({ length: columns }, (_, i) => `$${first + i}`).join(', ')})`
  }).join(', ')
