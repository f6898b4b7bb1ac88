// The schema in PostgreSQL as numbered steps: step n leads from version n−1 to n. Steps are never edited once released, only added. Columns are
// those of SQLite (../migrations.ts), and `changed`: the value of the change counter at the row's last change that other nodes must learn of.
// Writers hold the counter's row until they commit, so whoever has seen its value n has seen every change up to n.

export const migrations: readonly string[] = [
  `
  CREATE TABLE change_counter (version BIGINT NOT NULL, database_id TEXT NOT NULL);
  INSERT INTO change_counter VALUES (0, gen_random_uuid()::text);

  CREATE FUNCTION note_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    SELECT version INTO NEW.changed FROM change_counter;
    RETURN NEW;
  END $$;

  CREATE TABLE account (
    id         TEXT PRIMARY KEY,
    email      TEXT NOT NULL UNIQUE,
    password   TEXT NOT NULL,
    operator   INTEGER NOT NULL,
    created_ms BIGINT NOT NULL,
    changed    BIGINT NOT NULL
  );
  CREATE INDEX account_by_change ON account (changed);
  CREATE TRIGGER note_change BEFORE INSERT OR UPDATE OF operator ON account FOR EACH ROW EXECUTE FUNCTION note_change();

  CREATE TABLE api_key (
    rowid        BIGINT GENERATED ALWAYS AS IDENTITY,
    id           TEXT PRIMARY KEY,
    account      TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    name         TEXT NOT NULL,
    prefix       TEXT NOT NULL,
    hash         TEXT NOT NULL UNIQUE,
    may_write    INTEGER NOT NULL,
    may_read     INTEGER NOT NULL,
    may_ping     INTEGER NOT NULL,
    may_manage   INTEGER NOT NULL,
    created_ms   BIGINT NOT NULL,
    last_used_ms BIGINT,
    expires_ms   BIGINT,
    revoked_ms   BIGINT,
    changed      BIGINT NOT NULL
  );
  CREATE INDEX api_key_by_account ON api_key (account, created_ms);
  CREATE INDEX api_key_by_change ON api_key (changed);
  CREATE TRIGGER note_change BEFORE INSERT OR UPDATE OF expires_ms, revoked_ms ON api_key
    FOR EACH ROW EXECUTE FUNCTION note_change();

  CREATE TABLE session (
    rowid      BIGINT GENERATED ALWAYS AS IDENTITY,
    id         TEXT PRIMARY KEY,
    account    TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    hash       TEXT NOT NULL UNIQUE,
    user_agent TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    seen_ms    BIGINT NOT NULL
  );
  CREATE INDEX session_by_account ON session (account, created_ms);

  -- Accounts that are gone. Never emptied: each node erases what it has of them when it learns of it.
  CREATE TABLE removal (
    account    TEXT PRIMARY KEY,
    deleted_ms BIGINT NOT NULL,
    changed    BIGINT NOT NULL
  );
  CREATE INDEX removal_by_change ON removal (changed);
  CREATE TRIGGER note_change BEFORE INSERT ON removal FOR EACH ROW EXECUTE FUNCTION note_change();

  CREATE TABLE series (
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    series  BIGINT NOT NULL,
    changed BIGINT NOT NULL,
    PRIMARY KEY (account, series)
  );
  CREATE INDEX series_by_change ON series (changed, account, series);
  CREATE TRIGGER note_change BEFORE INSERT ON series FOR EACH ROW EXECUTE FUNCTION note_change();

  CREATE TABLE series_salt (salt TEXT NOT NULL);
  INSERT INTO series_salt VALUES (gen_random_uuid()::text);
  `,
]
