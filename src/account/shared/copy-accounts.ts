// Copies accounts.sqlite into PostgreSQL in small, repeatable transactions: run an interrupted copy again.
import { all, copyRows, get, type Script, type SqlDatabase, type Value } from '../../state/database.ts'
import type { SqliteFile } from '../../state/open-sqlite.ts'

/** Accounts and people first: everything else refers to them. */
const TABLES = [
  ...(['account', 'person', 'membership', 'identity', 'invitation', 'ticket', 'audit', 'exception_group'] as const),
  ...(['process_note', 'api_key', 'session', 'removal'] as const),
]

type Table = (typeof TABLES)[number]
const IN_ORDER: readonly Table[] = ['api_key', 'session', 'invitation']

/** How many rows of the file PostgreSQL has now. */
type CopiedAccounts = Readonly<Record<Table, number>>

/**
 * Throws an Error for the operator if PostgreSQL has accounts that the file lacks, and Problem `store_unavailable`.
 * The nodes must be stopped. Series are not copied: each node counts its own.
 */
export async function copyAccounts({ db }: SqliteFile, postgres: SqlDatabase): Promise<CopiedAccounts> {
  /** In the order in which they were written, where that is kept. */
  const rowsOf = (table: Table) => {
    const order = IN_ORDER.includes(table) ? ' ORDER BY rowid' : ''
    return db.query<Record<string, Value>, []>(`SELECT * FROM ${table}${order}`).all()
  }
  await postgres.write(() => refuseOthers(new Set(rowsOf('account').map(({ id }) => String(id)))))

  const copied = {} as Record<Table, number>
  for (const table of TABLES) copied[table] = await copyRows(postgres, table, rowsOf(table))
  await postgres.write(() =>
    get("SELECT setval(pg_get_serial_sequence('audit', 'seq'), coalesce(max(seq), 0) + 1, false) FROM audit"),
  )
  return copied
}

function* refuseOthers(ours: ReadonlySet<string>): Script<void> {
  const there = yield* all<{ id: string }>('SELECT id FROM account')
  const foreign = there.filter(({ id }) => !ours.has(id)).length
  if (foreign > 0)
    throw new Error(
      `the database of DATABASE_URL has ${foreign} accounts that are not in accounts.sqlite: copy into an empty ` +
        'database',
    )
}
