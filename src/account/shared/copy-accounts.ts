// Copies accounts.sqlite into PostgreSQL: in small transactions that can be repeated, so an interrupted copy is simply run again.
import { all, get, insertRows, run, type Script, type Value } from '../../state/database.ts'
import type { SqliteFile } from '../../state/open-sqlite.ts'
import type { Postgres } from '../../state/postgres.ts'
import { insertSeries, SERIES_AT_ONCE } from './merge-series.ts'
import type { SeriesRow } from './replica.ts'

/** Rows of one transaction. */
const ROWS_AT_ONCE = 500

/** Accounts first: everything else refers to them. */
const TABLES = {
  account: ['id', 'email', 'password', 'operator', 'created_ms'],
  api_key: [
    ...['id', 'account', 'name', 'prefix', 'hash', 'may_write', 'may_read', 'may_ping', 'may_manage'],
    ...['created_ms', 'last_used_ms', 'expires_ms', 'revoked_ms'],
  ],
  session: ['id', 'account', 'hash', 'user_agent', 'created_ms', 'seen_ms'],
  removal: ['account', 'deleted_ms'],
} as const

type Table = keyof typeof TABLES

/** How many rows of the file PostgreSQL has now. */
export type CopiedAccounts = Readonly<Record<Table | 'series', number>>

/**
 * Throws an Error for the operator when PostgreSQL has accounts that the file does not have, and Problem `store_unavailable`.
 * The nodes must be stopped: the salt of the series changes.
 */
export async function copyAccounts({ db }: SqliteFile, postgres: Postgres): Promise<CopiedAccounts> {
  const rowsOf = (table: Table) => db.query<Record<string, Value>, []>(`SELECT * FROM ${table} ORDER BY rowid`).all()
  const accounts = db.query<Record<string, Value>, []>('SELECT * FROM account').all()
  const series = db.query<{ account: string; series: number }, []>('SELECT account, series FROM series').all()
  const { salt } = db.query<{ salt: string }, []>('SELECT salt FROM series_salt').get()!
  await postgres.write(() => begin(new Set(accounts.map(({ id }) => String(id))), salt))

  async function copyTable(table: Table, rows: readonly Record<string, Value>[]): Promise<number> {
    for (let from = 0; from < rows.length; from += ROWS_AT_ONCE)
      await postgres.write(() => insertRows(table, TABLES[table], rows.slice(from, from + ROWS_AT_ONCE)))
    return rows.length
  }
  const removals = db.query<Record<string, Value>, []>('SELECT * FROM removal').all()
  const copied = {
    account: await copyTable('account', accounts),
    api_key: await copyTable('api_key', rowsOf('api_key')),
    session: await copyTable('session', rowsOf('session')),
    removal: await copyTable('removal', removals),
  }
  const pairs = series.map((row): SeriesRow => [row.account, row.series])
  for (let from = 0; from < pairs.length; from += SERIES_AT_ONCE)
    await postgres.write(() => insertSeries(pairs.slice(from, from + SERIES_AT_ONCE)))
  return { ...copied, series: pairs.length }
}

function* begin(ours: ReadonlySet<string>, salt: string): Script<void> {
  const there = yield* all<{ id: string }>('SELECT id FROM account')
  const foreign = there.filter(({ id }) => !ours.has(id)).length
  if (foreign > 0)
    throw new Error(
      `the database of DATABASE_URL has ${foreign} accounts that are not in accounts.sqlite: copy into an empty database`,
    )
  const inUse = yield* get('SELECT 1 FROM series')
  if (inUse === undefined) yield* run('UPDATE series_salt SET salt = $1', salt)
}
