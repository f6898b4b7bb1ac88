// Copies watches.sqlite into PostgreSQL: watches, channels with secrets, alerts, outbox, progress of evaluation. The
// transactions are small and repeatable; existing rows stay as they are.
import { all, copyRows, run, type SqlDatabase, type Value } from '../../state/database.ts'
import type { SqliteFile } from '../../state/open-sqlite.ts'

const COLUMNS = {
  channel: ['id', 'account', 'name', 'kind', 'target', 'secret', 'state', 'confirm', 'last', 'settings', 'created_us'],
  watch: ['id', 'account', 'spec', 'created_us', 'since_us', 'badge', 'changed', 'deleted_us'],
  alert: [
    ...['id', 'account', 'watch', 'instance', 'condition', 'process', 'meta', 'uid', 'started_us', 'since_us'],
    ...[
      'resolved_us',
      'notified_us',
      'remind_us',
      'dismissed',
      'summary',
      'identity',
      'ended_by',
      'episode',
      'channels',
    ],
    ...['acked_by', 'acked_us'],
  ],
  outbox: ['id', 'account', 'channel', 'alert', 'body', 'created_us', 'next_us', 'attempts', 'held', 'refused'],
  incident: ['channel', 'alert'],
  maintenance: ['id', 'account', 'spec', 'created_us'],
  progress: ['account', 'judged_us'],
  blind: ['from_us', 'to_us'],
  set_back: ['until_us', 'since_us'],
  unjudged: ['account', 'id', 'since_us', 'channels'],
} as const

type Table = keyof typeof COLUMNS
type Row = Record<string, Value>

/** The number of the file's rows that PostgreSQL has now. */
export type CopiedWatches = Readonly<Record<'watch' | 'channel' | 'alert', number>>

/** Omits rows of accounts that are not in PostgreSQL. The nodes must be stopped. Throws Problem `store_unavailable`. */
export async function copyWatches({ db }: SqliteFile, postgres: SqlDatabase): Promise<CopiedWatches> {
  const known = await postgres.read(() => all<{ id: string }>('SELECT id FROM account'))
  const accounts = new Set<Value>(known.map(({ id }) => id))
  const rowsOf = (table: Table, order: string) => db.query<Row, []>(`SELECT * FROM ${table} ORDER BY ${order}`).all()
  const ofAccounts = (rows: readonly Row[]) => rows.filter(({ account }) => accounts.has(account!))

  const copyTable = (table: Table, rows: readonly Row[]) => copyRows(postgres, table, COLUMNS[table], rows)
  const copied = {
    channel: await copyTable('channel', ofAccounts(rowsOf('channel', 'id'))),
    watch: await copyTable('watch', ofAccounts(rowsOf('watch', 'id'))),
    alert: await copyTable('alert', ofAccounts(rowsOf('alert', 'seq'))),
  }
  const ids = new Set(ofAccounts(rowsOf('alert', 'seq')).map(({ id }) => id!))
  await copyTable(
    'incident',
    rowsOf('incident', 'alert').filter(({ alert }) => ids.has(alert!)),
  )
  await copyTable('maintenance', ofAccounts(rowsOf('maintenance', 'id')))
  await copyTable('outbox', ofAccounts(rowsOf('outbox', 'seq')))
  await copyTable('progress', ofAccounts(rowsOf('progress', 'account')))
  await copyTable('unjudged', ofAccounts(rowsOf('unjudged', 'account')))
  await copyTable('blind', rowsOf('blind', 'from_us'))
  await copyTable('set_back', rowsOf('set_back', 'until_us'))
  const alive = db.query<{ alive_us: number }, []>('SELECT alive_us FROM alive').get()
  if (alive !== null)
    await postgres.write(function* () {
      if ((yield* all('SELECT 1 FROM alive')).length === 0) yield* run('INSERT INTO alive VALUES ($1)', alive.alive_us)
    })
  return copied
}
