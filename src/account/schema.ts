// The schema of accounts.sqlite as steps: step n leads from version n−1 to n. Never edit a released step; add one.
// Times are ms since the epoch. Of keys, sessions and links only SHA-256 is kept, of passwords only argon2id.
import { EXCEPTION_GROUP, MEMBERSHIP, PEOPLE_TABLES, toSqlite } from '../state/shared-tables.ts'

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
  // People and their roles. Everyone who signed up becomes a person and the owner of the account; the columns that move
  // there leave `account`, and with them the rule "one account per address": people may leave accounts they made.
  `
  CREATE TABLE person (
    id           TEXT PRIMARY KEY,
    email        TEXT NOT NULL UNIQUE,
    -- NULL: signs in by the provider alone.
    password     TEXT,
    -- When the person proved to receive e-mail at the address.
    verified_ms  INTEGER,
    -- Where the next sign-in leads.
    last_account TEXT,
    created_ms   INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  INSERT INTO person (id, email, password, last_account, created_ms)
    SELECT 'per_' || substr(id, 5), email, password, id, created_ms FROM account;

  ALTER TABLE account RENAME TO former_account;
  ALTER TABLE api_key RENAME TO former_api_key;
  ALTER TABLE session RENAME TO former_session;
  ALTER TABLE series RENAME TO former_series;
  DROP INDEX api_key_by_account;
  DROP INDEX session_by_account;

  CREATE TABLE account (
    id         TEXT PRIMARY KEY,
    name       TEXT NOT NULL,
    -- The address that made the account.
    email      TEXT NOT NULL,
    operator   INTEGER NOT NULL,
    created_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  INSERT INTO account SELECT id, email, email, operator, created_ms FROM former_account;

${toSqlite(MEMBERSHIP)}
  CREATE TABLE api_key (
    id            TEXT PRIMARY KEY,
    account       TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    name          TEXT NOT NULL,
    prefix        TEXT NOT NULL,
    hash          TEXT NOT NULL UNIQUE,
    may_write     INTEGER NOT NULL,
    may_read      INTEGER NOT NULL,
    created_ms    INTEGER NOT NULL,
    last_used_ms  INTEGER,
    expires_ms    INTEGER,
    revoked_ms    INTEGER,
    may_ping      INTEGER NOT NULL DEFAULT 0,
    may_manage    INTEGER NOT NULL DEFAULT 0,
    -- The person; NULL once they have left.
    creator       TEXT REFERENCES person (id) ON DELETE SET NULL,
    creator_email TEXT,
    -- The creator is a viewer now: outside /v1 the key is one, too.
    is_capped     INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  INSERT INTO api_key
    SELECT id, account, name, prefix, hash, may_write, may_read, created_ms, last_used_ms, expires_ms, revoked_ms,
      may_ping, may_manage,
      'per_' || substr(account, 5), (SELECT email FROM account WHERE account.id = former_api_key.account), 0
    FROM former_api_key ORDER BY rowid;
  CREATE INDEX api_key_by_account ON api_key (account, created_ms);
  CREATE INDEX api_key_by_creator ON api_key (creator);

  CREATE TABLE session (
    id         TEXT PRIMARY KEY,
    account    TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    person     TEXT NOT NULL REFERENCES person (id) ON DELETE CASCADE,
    hash       TEXT NOT NULL UNIQUE,
    user_agent TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    seen_ms    INTEGER NOT NULL,
    -- The session ends then at the latest; NULL: by its age alone.
    ends_ms    INTEGER,
    -- 'password' or 'oidc': how the person signed in.
    proof      TEXT NOT NULL DEFAULT 'password'
  ) STRICT;
  INSERT INTO session
    SELECT id, account, 'per_' || substr(account, 5), hash, user_agent, created_ms, seen_ms, NULL, 'password'
    FROM former_session ORDER BY rowid;
  CREATE INDEX session_by_account ON session (account);
  CREATE INDEX session_by_person ON session (person, created_ms);

  CREATE TABLE series (
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    series  INTEGER NOT NULL,
    PRIMARY KEY (account, series)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO series SELECT account, series FROM former_series;

  DROP TABLE former_api_key;
  DROP TABLE former_session;
  DROP TABLE former_series;
  DROP TABLE former_account;

${toSqlite(PEOPLE_TABLES)}  `,
  `
  -- The session that a ticket begins ends by then.
  ALTER TABLE ticket ADD COLUMN until_ms INTEGER;
  `,
  toSqlite(EXCEPTION_GROUP),
]
