// This node's copy of PostgreSQL, in a file of DATA_DIR: enough to accept events while PostgreSQL is down, also after a
// restart. Hashes and scopes of keys, the ids of accounts, and the series in use. No e-mail address, password or session.
import type { Logger } from '../../log.ts'
import { openSqlite } from '../../state/open-sqlite.ts'
import type { Schema } from '../../state/schema.ts'
import { withDiskProblems } from '../../state/sqlite-database.ts'
import { KEY_COLUMNS, type KeyRow } from '../key-ring.ts'

/** 'Stnk'. */
const APPLICATION_ID = 0x53746e6b
/** A new node, or one of 1.1, has nothing of accounts deleted before. */
const REMOVALS_OF_NEW_NODE_MS = 30 * 86_400_000

const SCHEMA: Schema = {
  oldest: 3,
  tables: `
  -- One row. version 0 = nothing was read yet.
  CREATE TABLE followed (
    database_id    TEXT NOT NULL,
    version        INTEGER NOT NULL,
    series_version INTEGER NOT NULL,
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
  CREATE TABLE series_salt (salt TEXT NOT NULL) STRICT;
  INSERT INTO series_salt (salt) VALUES ('');
  `,
  steps: [
    `
    UPDATE followed SET version = 0;
    UPDATE series_salt SET salt = hex(randomblob(8)) WHERE salt = '';
    -- Deleted accounts whose data this node has erased, or never had.
    CREATE TABLE erased (account TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
    CREATE TRIGGER note_erased AFTER DELETE ON removal BEGIN INSERT OR IGNORE INTO erased VALUES (OLD.account); END;
    `,
    'ALTER TABLE api_key ADD COLUMN process TEXT;',
    'ALTER TABLE account ADD COLUMN disputed_by TEXT;',
  ],
}

/** The part of an account's row that decides about a request. */
interface AccountState {
  readonly id: string
  readonly operator: number
  readonly disputed_by: string | null
}

/** All that a node knows of PostgreSQL, at one moment. */
export interface Snapshot {
  readonly databaseId: string
  readonly accounts: readonly AccountState[]
  readonly removed: readonly { readonly account: string; readonly deleted_ms: number }[]
  /** Those that were not revoked. */
  readonly keys: readonly KeyRow[]
}

export type Replica = ReturnType<typeof openReplica>

/** Throws an Error that tells the operator what to do when the file is damaged or of a newer Stint. */
export function openReplica(path: string, log: Logger) {
  const options = { path, what: 'known keys', applicationId: APPLICATION_ID, schema: SCHEMA, log }
  const file = withDiskProblems(
    openSqlite({ ...options, withoutIt: 'the copy of the keys (it is read from PostgreSQL again)' }),
  )
  const { db, write } = file
  const query = (sql: string) => db.query<null, (string | number | null)[]>(sql)
  const addKey = query(`INSERT INTO api_key (${KEY_COLUMNS}) VALUES (${KEY_COLUMNS.map(() => '?')})`)
  const setAccount = query(
    `INSERT INTO account (id, operator, disputed_by) VALUES (?1, ?2, ?3)
     ON CONFLICT (id) DO UPDATE SET operator = ?2, disputed_by = ?3`,
  )
  const addErased = query('INSERT OR IGNORE INTO erased VALUES (?)')
  const addRemoval = query(
    'INSERT OR IGNORE INTO removal SELECT ?1 WHERE NOT EXISTS (SELECT 1 FROM erased WHERE account = ?1)',
  )
  const followed = () =>
    db.query<{ database_id: string; version: number }, []>('SELECT database_id, version FROM followed').get()!
  let written: number | bigint | undefined

  function replaceAll({ databaseId, accounts, removed, keys }: Snapshot, nowMs: number): void {
    const isNew = followed().version === 0
    const ids = JSON.stringify(accounts.map(({ id }) => id))
    db.run('DELETE FROM api_key')
    query('DELETE FROM account WHERE id NOT IN (SELECT value FROM json_each(?))').run(ids)
    for (const table of ['removal', 'erased']) // a restored database has these accounts again
      query(`DELETE FROM ${table} WHERE account IN (SELECT value FROM json_each(?))`).run(ids)
    for (const { id, operator, disputed_by } of accounts) setAccount.run(id, operator, disputed_by)
    for (const key of keys) addKey.run(...KEY_COLUMNS.map((column) => key[column]))
    for (const { account, deleted_ms } of removed)
      (isNew && deleted_ms < nowMs - REMOVALS_OF_NEW_NODE_MS ? addErased : addRemoval).run(account)
    query('UPDATE followed SET database_id = ?, version = 1').run(databaseId)
  }

  return {
    file,
    /** It knows no keys yet. */
    isEmpty: (): boolean => followed().database_id === '',
    /** Accounts of the file that the snapshot lacks. */
    accountsMissingFrom({ accounts }: Snapshot): readonly string[] {
      const there = new Set(accounts.map(({ id }) => id))
      const known = db.query<{ id: string }, []>('SELECT id FROM account').all()
      return known.map(({ id }) => id).filter((id) => !there.has(id))
    },
    /** Replaces what the file holds; writes nothing if the snapshot is the one before. Throws when it cannot. */
    apply(snapshot: Snapshot, nowMs: number): void {
      const hash = Bun.hash(JSON.stringify(snapshot))
      if (hash === written) return
      write(() => replaceAll(snapshot, nowMs))
      written = hash
    },
  }
}
