// This node's copy of PostgreSQL, in a file of DATA_DIR: enough to accept events while PostgreSQL is down, also after a
// restart. Hashes and scopes of keys, the ids of accounts, the series in use, and the bytes that this node accepted. No
// e-mail address, password or session.
import type { Logger } from '../../log.ts'
import { openSqlite } from '../../state/open-sqlite.ts'
import type { Schema } from '../../state/schema.ts'
import { SUSPENSIONS, toSqlite } from '../../state/shared-tables.ts'
import { withDiskProblems } from '../../state/sqlite-database.ts'
import { KEY_COLUMNS, type KeyRow } from '../key-ring.ts'
import type { SuspensionState } from '../suspensions.ts'
import { ACCOUNT_USE } from '../use.ts'

/** 'Stnk'. */
const APPLICATION_ID = 0x53746e6b
/** A new node has nothing of accounts deleted before. */
const REMOVALS_OF_NEW_NODE_MS = 30 * 86_400_000
const CHANGES_AT_ONCE = 200

const SCHEMA: Schema = {
  oldest: 4,
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
  -- Deleted accounts whose data this node has erased, or never had.
  CREATE TABLE erased (account TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  CREATE TRIGGER note_erased AFTER DELETE ON removal BEGIN INSERT OR IGNORE INTO erased VALUES (OLD.account); END;

  CREATE TABLE series (
    account   TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    series    INTEGER NOT NULL,
    is_merged INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (account, series)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE series_salt (salt TEXT NOT NULL) STRICT;
  INSERT INTO series_salt (salt) VALUES (hex(randomblob(8)));
  `,
  steps: [
    'ALTER TABLE api_key ADD COLUMN process TEXT;',
    'ALTER TABLE account ADD COLUMN disputed_by TEXT;',
    `${ACCOUNT_USE}
    -- 0 until it was read: such an account counts as an old one.
    ALTER TABLE account ADD COLUMN created_ms INTEGER NOT NULL DEFAULT 0;`,
    toSqlite(SUSPENSIONS),
  ],
}

/** The part of an account's row that decides about a request. */
export interface AccountState extends SuspensionState {
  readonly operator: number
  readonly disputed_by: string | null
  readonly created_ms: number
}

export const ACCOUNT_COLUMNS = [
  ...(['id', 'operator', 'disputed_by', 'created_ms', 'suspended_ms', 'resumed_ms'] as const),
] satisfies (keyof AccountState)[]

export type ChangedKey = KeyRow & { readonly revoked_ms: number | null }

export interface Removal {
  readonly account: string
  readonly deleted_ms: number
}

/** All rows with keys behind `after`, up to `last`. */
export interface Stretch {
  readonly after: string
  readonly last: string
}

/** Filling a new file in the order of hashes would write most pages of this index once for each page of keys. */
const DROP_INDEX = 'DROP INDEX IF EXISTS api_key_by_account'
const ADD_INDEX = 'CREATE INDEX IF NOT EXISTS api_key_by_account ON api_key (account)'

/** A moment of PostgreSQL's history: everything up to it is known. */
export interface Moment {
  readonly databaseId: string
  readonly version: number
  readonly mark: string
}

export type Replica = ReturnType<typeof openReplica>

/** Changes are differences, a page at a time. Throws an Error for the operator when the file is damaged or newer. */
export function openReplica(path: string, log: Logger) {
  const options = { path, what: 'known keys', applicationId: APPLICATION_ID, schema: SCHEMA, log }
  const file = withDiskProblems(
    openSqlite({ ...options, withoutIt: 'the copy of the keys (it is read from PostgreSQL again)' }),
  )
  const { db, commit } = file
  const followed = () =>
    db.query<{ database_id: string; version: number; mark: string }, []>('SELECT * FROM followed').get()!
  if (followed().version === 0) file.write(() => db.run(DROP_INDEX))
  const query = (sql: string) => db.query<null, (string | number | null)[]>(sql)
  /** Changes nothing where all of it is the same. */
  const put = (table: string, columns: readonly string[], where: string) => {
    const [, ...rest] = columns
    const set = rest.map((column) => `${column} = excluded.${column}`)
    return query(
      `INSERT INTO ${table} (${columns}) SELECT ${columns.map((_, i) => `?${i + 1}`)} WHERE ${where}
       ON CONFLICT DO UPDATE SET ${set}
       WHERE (${rest.map((column) => `${table}.${column}`)}) IS NOT (${rest.map((column) => `excluded.${column}`)})`,
    )
  }
  const setAccount = put('account', ACCOUNT_COLUMNS, 'true')
  const isThere = `EXISTS (SELECT 1 FROM account WHERE id = ?${KEY_COLUMNS.indexOf('account') + 1})`
  const setKey = put('api_key', KEY_COLUMNS, isThere)
  const deleteKey = query('DELETE FROM api_key WHERE hash = ?')
  const deleteAccount = query('DELETE FROM account WHERE id = ?')
  const setMoment = query('UPDATE followed SET database_id = ?, version = ?, mark = ?')
  const addErased = query('INSERT OR IGNORE INTO erased VALUES (?)')
  const addRemoval = query(
    'INSERT OR IGNORE INTO removal SELECT ?1 WHERE NOT EXISTS (SELECT 1 FROM erased WHERE account = ?1)',
  )
  /** Rows of a stretch whose keys are not among the given. */
  const missing = (table: string, key: string) => {
    const select = db.query<{ key: string }, [string, string, string]>(
      `SELECT ${key} AS key FROM ${table} WHERE ${key} > ? AND ${key} <= ?
       AND ${key} NOT IN (SELECT value FROM json_each(?))`,
    )
    return (stretch: Stretch | undefined, keys: readonly string[]): string[] =>
      stretch === undefined ? [] : select.all(stretch.after, stretch.last, JSON.stringify(keys)).map(({ key }) => key)
  }
  const missingKeys = missing('api_key', 'hash')
  const missingAccounts = missing('account', 'id')
  /** Account → the person who disputes it. In memory before it is in the file: it holds although the disk is full. */
  const disputes = new Map(
    db
      .query<{ id: string; by: string }, []>(
        'SELECT id, disputed_by AS "by" FROM account WHERE disputed_by IS NOT NULL',
      )
      .all()
      .map(({ id, by }) => [id, by]),
  )

  /** A restored database has these accounts again. */
  function forgetRemovals(ids: readonly string[]): void {
    for (const table of ['removal', 'erased'])
      query(`DELETE FROM ${table} WHERE account IN (SELECT value FROM json_each(?))`).run(JSON.stringify(ids))
  }

  /** In transactions of which none holds the event loop up for long, unless nothing runs yet: then one. */
  async function writeAll(changes: readonly (() => unknown)[]): Promise<void> {
    const atOnce = followed().version === 0 ? changes.length : CHANGES_AT_ONCE
    for (let from = 0; from < changes.length; from += atOnce) {
      await commit(() => {
        for (const change of changes.slice(from, from + atOnce)) change()
      })
    }
  }

  return {
    file,
    /** No keys are known yet. */
    isEmpty: (): boolean => followed().database_id === '',
    /** The file knows every change up to this; undefined before the first time, and for a file of 2.0. */
    moment(): Moment | undefined {
      const { database_id: databaseId, version, mark } = followed()
      return mark === '' ? undefined : { databaseId, version, mark }
    },
    noteMoment: ({ databaseId, version, mark }: Moment): Promise<void> =>
      writeAll([() => setMoment.run(databaseId, version, mark), () => db.run(ADD_INDEX)]),
    disputedBy: (account: string): string | undefined => disputes.get(account),
    /** `lost`: those of the stretch that are there no more. */
    setAccounts(rows: readonly AccountState[], stretch?: Stretch) {
      const ids = rows.map(({ id }) => id)
      const lost = missingAccounts(stretch, ids)
      for (const id of lost) disputes.delete(id)
      for (const { id, disputed_by } of rows) {
        if (disputed_by === null) disputes.delete(id)
        else disputes.set(id, disputed_by)
      }
      const written = writeAll([
        ...rows.map((row) => () => setAccount.run(...ACCOUNT_COLUMNS.map((column) => row[column]))),
        ...lost.map((id) => () => deleteAccount.run(id)),
        () => forgetRemovals(ids),
      ])
      return { lost, written }
    },
    setKeys: (rows: readonly ChangedKey[], stretch?: Stretch): Promise<void> => {
      const hashes = rows.map(({ hash }) => hash)
      return writeAll([
        ...rows.map((row) => () => {
          if (row.revoked_ms === null) setKey.run(...KEY_COLUMNS.map((column) => row[column]))
          else deleteKey.run(row.hash)
        }),
        ...missingKeys(stretch, hashes).map((hash) => () => deleteKey.run(hash)),
      ])
    },
    /** Accounts that were deleted: their data is to be erased here, too. */
    setRemovals(rows: readonly Removal[], nowMs: number): Promise<void> {
      const isNew = followed().version === 0
      for (const { account } of rows) disputes.delete(account)
      return writeAll(
        rows.map(({ account, deleted_ms }) => () => {
          const isOld = isNew && deleted_ms < nowMs - REMOVALS_OF_NEW_NODE_MS
          deleteAccount.run(account)
          ;(isOld ? addErased : addRemoval).run(account)
        }),
      )
    },
  }
}
