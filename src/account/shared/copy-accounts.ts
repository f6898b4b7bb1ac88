// Copies accounts.sqlite into PostgreSQL in small, repeatable transactions: run an interrupted copy again.
import { all, copyRows, get, run, type Script, type Value } from '../../state/database.ts'
import type { SqliteFile } from '../../state/open-sqlite.ts'
import type { Postgres } from '../../state/postgres.ts'
import { insertSeries, SERIES_AT_ONCE } from './merge-series.ts'
import type { SeriesRow } from './replica.ts'

/** Accounts and people first: everything else refers to them. */
const TABLES = {
  account: ['id', 'email', 'name', 'operator', 'created_ms'],
  person: ['id', 'email', 'password', 'verified_ms', 'last_account', 'created_ms'],
  membership: ['account', 'person', 'role', 'since_ms'],
  identity: ['issuer', 'subject', 'person', 'created_ms'],
  invitation: ['id', 'account', 'email', 'role', 'creator', 'hash', 'created_ms', 'ends_ms'],
  ticket: ['hash', 'kind', 'person', 'ends_ms', 'until_ms'],
  audit: ['seq', 'account', 'at_ms', 'action', 'actor', 'actor_key', 'target', 'detail', 'address'],
  exception_group: ['account', 'fingerprint', 'process', 'status', 'changed_by', 'changed_us'],
  api_key: [
    ...['id', 'account', 'name', 'prefix', 'hash', 'may_write', 'may_read', 'may_ping', 'may_manage'],
    ...['created_ms', 'last_used_ms', 'expires_ms', 'revoked_ms', 'creator', 'creator_email', 'is_capped'],
  ],
  session: ['id', 'account', 'person', 'hash', 'user_agent', 'created_ms', 'seen_ms', 'ends_ms', 'proof'],
  removal: ['account', 'deleted_ms'],
} as const

type Table = keyof typeof TABLES
const IN_ORDER: readonly Table[] = ['api_key', 'session', 'invitation']

/** How many rows of the file PostgreSQL has now. */
export type CopiedAccounts = Readonly<Record<Table | 'series', number>>

/**
 * Throws an Error for the operator if PostgreSQL has accounts that the file lacks, and Problem `store_unavailable`.
 * The nodes must be stopped: the salt of the series changes.
 */
export async function copyAccounts({ db }: SqliteFile, postgres: Postgres): Promise<CopiedAccounts> {
  /** In the order in which they were written, where that is kept. */
  const rowsOf = (table: Table) => {
    const order = IN_ORDER.includes(table) ? ' ORDER BY rowid' : ''
    return db.query<Record<string, Value>, []>(`SELECT * FROM ${table}${order}`).all()
  }
  const series = db.query<{ account: string; series: number }, []>('SELECT account, series FROM series').all()
  const { salt } = db.query<{ salt: string }, []>('SELECT salt FROM series_salt').get()!
  await postgres.write(() => begin(new Set(rowsOf('account').map(({ id }) => String(id))), salt))

  const copied = {} as Record<Table, number>
  for (const table of Object.keys(TABLES) as Table[])
    copied[table] = await copyRows(postgres, table, TABLES[table], rowsOf(table))
  await postgres.write(() =>
    get("SELECT setval(pg_get_serial_sequence('audit', 'seq'), coalesce(max(seq), 0) + 1, false) FROM audit"),
  )
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
      `the database of DATABASE_URL has ${foreign} accounts that are not in accounts.sqlite: copy into an empty ` +
        'database',
    )
  const inUse = yield* get('SELECT 1 FROM series')
  if (inUse === undefined) yield* run('UPDATE series_salt SET salt = $1', salt)
}
