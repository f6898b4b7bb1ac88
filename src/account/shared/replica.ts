// This node's copy of PostgreSQL, in a file of DATA_DIR: enough to accept events while PostgreSQL is down, also after a
// restart. Hashes and scopes of keys, the ids of accounts, the series in use, and how far the node has followed the
// change counter. No e-mail address, password or session.
import type { Logger } from '../../log.ts'
import { openSqlite } from '../../state/open-sqlite.ts'
import type { Schema } from '../../state/schema.ts'
import { withDiskProblems } from '../../state/sqlite-database.ts'
import { KEY_COLUMNS, type KeyRow } from '../key-ring.ts'

/** 'Stnk'. */
const APPLICATION_ID = 0x53746e6b

const SCHEMA: Schema = {
  oldest: 3,
  tables: `
  -- One row. 0 = nothing was followed yet.
  CREATE TABLE followed (
    database_id    TEXT NOT NULL,
    version        INTEGER NOT NULL,
    series_version INTEGER NOT NULL,
    -- The mark of \`version\` (change_history in PostgreSQL); '' = not known.
    mark           TEXT NOT NULL
  ) STRICT;
  INSERT INTO followed VALUES ('', 0, 0, '');

  CREATE TABLE account (id TEXT PRIMARY KEY, operator INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE api_key (
    hash       TEXT PRIMARY KEY,
    id         TEXT NOT NULL,
    account    TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    may_write  INTEGER NOT NULL,
    may_read   INTEGER NOT NULL,
    may_ping   INTEGER NOT NULL,
    may_manage INTEGER NOT NULL,
    expires_ms INTEGER,
    revoked_ms INTEGER,
    -- The creator of the key is a viewer now.
    is_capped  INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX api_key_by_account ON api_key (account);

  -- Accounts that are gone while this node has not erased their data yet.
  CREATE TABLE removal (account TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

  CREATE TABLE series (
    account   TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    series    INTEGER NOT NULL,
    is_merged INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (account, series)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX series_to_merge ON series (is_merged) WHERE is_merged = 0;
  CREATE TABLE series_salt (salt TEXT NOT NULL) STRICT;
  INSERT INTO series_salt (salt) VALUES ('');
  `,
  steps: [],
}

export interface Followed {
  /** Which database; '' before the first contact. */
  readonly database_id: string
  readonly version: number
  readonly mark: string
  readonly series_version: number
}

export type SharedKeyRow = KeyRow & { readonly revoked_ms: number | null }

/** The changes in PostgreSQL after some version, up to `version`, or everything. */
export interface Delta {
  /** Set: this is all there is. It replaces what the node knew. */
  readonly whole?: { readonly databaseId: string; readonly salt: string }
  readonly version: number
  readonly mark: string
  readonly removed: readonly string[]
  readonly accounts: readonly { readonly id: string; readonly operator: number }[]
  readonly keys: readonly SharedKeyRow[]
}

export type SeriesRow = readonly [account: string, series: number]

export type Replica = ReturnType<typeof openReplica>

/** Throws an Error that tells the operator what to do when the file is damaged or of a newer Stint. */
export function openReplica(path: string, log: Logger) {
  const options = { path, what: 'known keys', applicationId: APPLICATION_ID, schema: SCHEMA, log }
  const file = withDiskProblems(
    openSqlite({ ...options, withoutIt: 'the copy of the keys (it is read from PostgreSQL again)' }),
  )
  const { db, write } = file
  const query = (sql: string) => db.query<null, (string | number | null)[]>(sql)
  const setKey = query(`INSERT OR REPLACE INTO api_key (${KEY_COLUMNS}) VALUES (${KEY_COLUMNS.map(() => '?')})`)
  const deleteKey = query('DELETE FROM api_key WHERE hash = ?')
  const setAccount = query(
    'INSERT INTO account (id, operator) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET operator = ?2',
  )
  const deleteAccount = query('DELETE FROM account WHERE id = ?')
  const addRemoval = query('INSERT OR IGNORE INTO removal (account) VALUES (?)')
  const setVersion = query('UPDATE followed SET version = ?, mark = ?')
  const markMerged = query('UPDATE series SET is_merged = 1 WHERE account = ? AND series = ?')
  const adopt = query(
    `INSERT INTO series (account, series, is_merged) SELECT id, ?1, 1 FROM account WHERE id = ?2
     ON CONFLICT (account, series) DO UPDATE SET is_merged = 1`,
  )

  function setKeyRow(row: SharedKeyRow): void {
    if (row.revoked_ms !== null) deleteKey.run(row.hash)
    else setKey.run(...KEY_COLUMNS.map((column) => row[column]))
  }

  /** Series stay while they are comparable, and are merged again: the database may have lost them. */
  function startOver({ databaseId, salt }: NonNullable<Delta['whole']>, accounts: Delta['accounts']): void {
    const ids = JSON.stringify(accounts.map(({ id }) => id))
    db.run('DELETE FROM api_key')
    query('DELETE FROM account WHERE id NOT IN (SELECT value FROM json_each(?))').run(ids)
    query('DELETE FROM removal WHERE account IN (SELECT value FROM json_each(?))').run(ids)
    query('DELETE FROM series WHERE (SELECT salt FROM series_salt) <> ?').run(salt)
    db.run('UPDATE series SET is_merged = 0')
    query('UPDATE series_salt SET salt = ?').run(salt)
    query('UPDATE followed SET database_id = ?, series_version = 0').run(databaseId)
  }

  return {
    file,
    followed: (): Followed => db.query<Followed, []>('SELECT * FROM followed').get()!,
    apply({ whole, version, mark, removed, accounts, keys }: Delta): void {
      write(() => {
        if (whole !== undefined) startOver(whole, accounts)
        for (const { id, operator } of accounts) setAccount.run(id, operator)
        for (const key of keys) setKeyRow(key)
        for (const account of removed) {
          deleteAccount.run(account)
          addRemoval.run(account)
        }
        setVersion.run(version, mark)
      })
    },
    /** Series that began at this node and are not in PostgreSQL yet. */
    seriesToMerge: (limit: number): SeriesRow[] =>
      db
        .query<{ account: string; series: number }, [number]>(
          'SELECT account, series FROM series WHERE is_merged = 0 LIMIT ?',
        )
        .all(limit)
        .map(({ account, series }) => [account, series] as const),
    seriesMerged(rows: readonly SeriesRow[]): void {
      write(() => {
        for (const row of rows) markMerged.run(...row)
      })
    },
    adoptSeries(rows: readonly SeriesRow[], version: number): void {
      write(() => {
        for (const [account, series] of rows) adopt.run(series, account)
        query('UPDATE followed SET series_version = ?').run(version)
      })
    },
  }
}
