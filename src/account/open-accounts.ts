// Accounts in accounts.sqlite of DATA_DIR, this node's own file: its schema and how it is opened.
import { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import type { Logger } from '../log.ts'
import { openSqlite, type SqliteFile } from '../state/open-sqlite.ts'
import { createSqliteDatabase, withDiskProblems } from '../state/sqlite-database.ts'
import { type Accounts, type AccountsOptions, createAccounts } from './accounts.ts'
import { normalizeEmail } from './credentials.ts'
import { loadKeyRing } from './key-ring.ts'
import { createSeriesBudget } from './series-budget.ts'

export interface OpenAccountsOptions extends AccountsOptions {
  /** Path of accounts.sqlite. */
  readonly path: string
}

/** Throws an Error that tells the operator what to do when the file is damaged or of a newer Stint. */
export function openAccounts(options: OpenAccountsOptions): Accounts {
  const { path, clock, log, seriesMax = 0 } = options
  const local = openAccountsFile(path, log)
  const parts = {
    database: createSqliteDatabase(local),
    local,
    ring: loadKeyRing(local.db, clock),
    series: createSeriesBudget({ database: local, max: seriesMax, log }),
  }
  return createAccounts(parts, options)
}

/** 'Stnt'. */
const APPLICATION_ID = 0x53746e74

/**
 * `write` throws Problem `disk_low` or `disk_failed` when the disk does not take the change.
 * Throws an Error whose message tells the operator the fault of the file and what to do.
 */
export function openAccountsFile(path: string, log: Logger): SqliteFile {
  const file = openSqlite({
    path,
    what: 'accounts',
    applicationId: APPLICATION_ID,
    migrations,
    withoutIt: 'the accounts (every API key stops working)',
    log,
  })
  return withDiskProblems(file)
}

// The schema of accounts.sqlite as numbered steps: step n leads from version n−1 to n. Steps are never edited once released, only added.
// Times are ms since the epoch. Of keys and sessions only SHA-256 is kept, of passwords only argon2id.

export const migrations: readonly string[] = [
  `
  CREATE TABLE account (
    id         TEXT PRIMARY KEY,
    email      TEXT NOT NULL UNIQUE,
    password   TEXT NOT NULL,
    operator   INTEGER NOT NULL,
    created_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE api_key (
    id           TEXT PRIMARY KEY,
    account      TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    name         TEXT NOT NULL,
    prefix       TEXT NOT NULL,
    hash         TEXT NOT NULL UNIQUE,
    may_write    INTEGER NOT NULL,
    may_read     INTEGER NOT NULL,
    created_ms   INTEGER NOT NULL,
    last_used_ms INTEGER,
    expires_ms   INTEGER,
    revoked_ms   INTEGER
  ) STRICT;
  CREATE INDEX api_key_by_account ON api_key (account, created_ms);

  CREATE TABLE session (
    id         TEXT PRIMARY KEY,
    account    TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    hash       TEXT NOT NULL UNIQUE,
    user_agent TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    seen_ms    INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX session_by_account ON session (account, created_ms);

  -- Accounts that are gone while their data may still be in the spools and stores.
  CREATE TABLE removal (
    account    TEXT PRIMARY KEY,
    deleted_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE series (
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    series  INTEGER NOT NULL,
    PRIMARY KEY (account, series)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE series_salt (salt TEXT NOT NULL) STRICT;
  INSERT INTO series_salt (salt) VALUES (hex(randomblob(8)));
  `,
  // Keys that may only ping: they stand in addresses.
  `
  ALTER TABLE api_key ADD COLUMN may_ping INTEGER NOT NULL DEFAULT 0;
  `,
  // Keys that may manage watches, channels and keys.
  `
  ALTER TABLE api_key ADD COLUMN may_manage INTEGER NOT NULL DEFAULT 0;
  `,
]

// Which account an operator means, for commands that work on DATA_DIR beside the server.
/** The id of the account with this e-mail address or id in the accounts file; undefined for an unknown account. Only reads, and may run beside a server. */
export function findAccountId(path: string, emailOrId: string): string | undefined {
  if (!existsSync(path)) return undefined
  const db = new Database(path, { readonly: true })
  try {
    const query = db.query<{ id: string }, [string, string]>('SELECT id FROM account WHERE id = ? OR email = ?')
    return query.get(emailOrId, normalizeEmail(emailOrId) ?? '')?.id
  } finally {
    db.close()
  }
}
