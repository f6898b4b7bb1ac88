// Copies watches.sqlite into PostgreSQL: watches, channels with secrets, alerts, outbox, progress of evaluation. The
// transactions are small and repeatable; existing rows stay as they are.
import { all, copyRows, run, type SqlDatabase, type Value } from '../../state/database.ts'
import type { SqliteFile } from '../../state/open-sqlite.ts'

type Row = Record<string, Value>

/** The number of the file's rows that PostgreSQL has now. */
export type CopiedWatches = Readonly<Record<'watch' | 'channel' | 'alert', number>>

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
  const copyTable = (table: string, rows: readonly Row[]) => copyRows(postgres, table, rows)
  const copyOwn = (table: string) =>
    copyTable(
      table,
      rowsOf(table).filter(({ account }) => accounts.has(account!)),
    )
  const copied = {
    channel: await copyOwn('channel'),
    watch: await copyOwn('watch'),
    alert: await copyOwn('alert'),
  }
  const alerts = rowsOf('alert').filter(({ account }) => accounts.has(account!))
  const ids = new Set(alerts.map(({ id }) => id!))
  await copyTable(
    'incident',
    rowsOf('incident').filter(({ alert }) => ids.has(alert!)),
  )
  for (const table of ['maintenance', 'outbox', 'progress', 'unjudged']) await copyOwn(table)
  for (const table of ['blind', 'set_back']) await copyTable(table, rowsOf(table))
  const alive = db.query<{ alive_us: number }, []>('SELECT alive_us FROM alive').get()
  if (alive !== null)
    await postgres.write(function* () {
      if ((yield* all('SELECT 1 FROM alive')).length === 0) yield* run('INSERT INTO alive VALUES ($1)', alive.alive_us)
    })
  return copied
}
