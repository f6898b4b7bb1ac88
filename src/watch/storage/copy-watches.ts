// Copies watches.sqlite into PostgreSQL: watches, channels with secrets, alerts, outbox, the judge's memory. The
// transactions are small and repeatable; existing rows stay as they are.
import { all, copyRows, type SqlDatabase, type Value } from '../../state/database.ts'
import type { SqliteFile } from '../../state/open-sqlite.ts'

type Row = Record<string, Value>

/** The number of the file's rows that PostgreSQL has now. */
type CopiedWatches = Readonly<Record<'watch' | 'channel' | 'alert', number>>

/** Omits rows of accounts that are not in PostgreSQL. The nodes must be stopped. Throws Problem `store_unavailable`. */
export async function copyWatches({ db }: SqliteFile, postgres: SqlDatabase): Promise<CopiedWatches> {
  const known = await postgres.read(() => all<{ id: string }>('SELECT id FROM account'))
  const accounts = new Set<Value>(known.map(({ id }) => id))
  /** PostgreSQL numbers its rows itself. */
  const rowsOf = (table: string) =>
    db
      .query<Row, []>(`SELECT * FROM ${table} ORDER BY 1`)
      .all()
      .map(({ seq: _, ...row }) => row)
  const isOwn = ({ account }: Row) => accounts.has(account!)
  const copy = (table: string, isCopied: (row: Row) => boolean = isOwn) =>
    copyRows(postgres, table, rowsOf(table).filter(isCopied))
  const copied = { channel: await copy('channel'), watch: await copy('watch'), alert: await copy('alert') }
  const alerts = new Set(rowsOf('alert').flatMap((row) => (isOwn(row) ? [row.id!] : [])))
  for (const table of ['incident', 'notification']) await copy(table, ({ alert }) => alerts.has(alert!))
  for (const table of ['maintenance', 'outbox', 'watch_state', 'refused_time']) await copy(table)
  await copy('blind', () => true)
  const alive = db.query<Row, []>('SELECT * FROM alive').get()
  if (alive !== null && (await postgres.read(() => all('SELECT 1 FROM alive'))).length === 0)
    await copyRows(postgres, 'alive', [alive])
  return copied
}
