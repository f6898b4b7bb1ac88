// The names in ClickHouse, quoted. The database's name comes from the configuration: it is the only identifier that is not written in this folder.
import type { Table } from './encode-events.ts'

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/

export interface Schema {
  readonly database: string
  /** What is written to. */
  raw(table: Table): string
  /** What is read: FINAL, so that an event that was sent twice is there once. */
  view(table: Table): string
  readonly migrations: string
}

/** Throws when the name would need escaping. */
export function createSchema(database: string): Schema {
  if (!IDENTIFIER.test(database)) {
    throw new Error('CLICKHOUSE_DATABASE: must be letters, digits and underscores, and not begin with a digit')
  }
  const qualify = (name: string) => `\`${database}\`.\`${name}\``
  return {
    database: `\`${database}\``,
    raw: (table) => qualify(`${table}_raw`),
    view: (table) => qualify(table),
    migrations: qualify('stint_migrations'),
  }
}
