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
