// The watches' store in both databases, each empty, with two accounts.
import { SQL } from 'bun'
import { openPostgres } from '../../../src/state/postgres.ts'
import type { WatchStore } from '../../../src/watch/storage/create-watch-store.ts'
import { createWatchStore } from '../../../src/watch/storage/create-watch-store.ts'
import { missing } from '../../support/needs.ts'
import { sharedPostgres } from '../../support/postgres.ts'
import { inMemoryDir } from '../../support/temp-dir.ts'
import { ACCOUNT, openStore } from '../watch-cast.ts'

export const OTHER = 'acc_2'
async function openInPostgres(): Promise<WatchStore> {
  const url = await (await sharedPostgres()).createDatabase()
  const store = createWatchStore(openPostgres(url, 'watches'))
  await store.watches() // brings the schema up to date
  const sql = new SQL(url, { max: 1 })
  for (const id of [ACCOUNT, OTHER])
    await sql.unsafe(`INSERT INTO account VALUES ($1, $1, $1 || '@example.com', 0, 0)`, [id])
  await sql.close()
  return store
}

export const databases: { database: string; open: () => Promise<WatchStore> }[] = [
  { database: 'SQLite', open: async () => openStore(inMemoryDir()) },
  ...(missing('postgresql') === undefined ? [{ database: 'PostgreSQL', open: openInPostgres }] : []),
]
