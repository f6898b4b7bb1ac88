// The schema in PostgreSQL as steps: step n leads from version n−1 to n. Never edit a released step; add one.
// Columns are those of SQLite (../account/open-accounts.ts, ../watch/storage/migrations.ts), and `changed`:
// the value of the change counter at the row's last change that other nodes must learn of.
// Writers hold the counter's row until they commit, so a reader of its value n has seen every change up to n.
import { PEOPLE_STEP } from './postgres-people.ts'
import { ALERT_COLUMNS, EXCEPTION_GROUP, MAINTENANCE_TABLES, UNJUDGED_TABLES, WATCH_TABLES } from './shared-tables.ts'

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
  `
  CREATE TABLE channel (
    id         TEXT PRIMARY KEY,
    account    TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    name       TEXT NOT NULL,
    kind       TEXT NOT NULL,
    target     TEXT NOT NULL,
    secret     TEXT,
    state      TEXT NOT NULL,
    confirm    TEXT UNIQUE,
    last       TEXT,
    created_us BIGINT NOT NULL
  );
  CREATE INDEX channel_by_account ON channel (account);

${WATCH_TABLES}
  CREATE TABLE progress (account TEXT PRIMARY KEY, judged_us BIGINT NOT NULL);
  CREATE TABLE alive (alive_us BIGINT NOT NULL);
  CREATE TABLE blind (from_us BIGINT PRIMARY KEY, to_us BIGINT NOT NULL);

  -- One row: who evaluates, until when by this server's clock. The token grows with each new holder.
  CREATE TABLE watch_lease (token BIGINT NOT NULL, holder TEXT NOT NULL, until_us BIGINT NOT NULL);
  INSERT INTO watch_lease VALUES (0, '', 0);
  -- The sign of life of each node, by this server's clock, and what it reported with it (JSON).
  CREATE TABLE node (node INTEGER PRIMARY KEY, seen_us BIGINT NOT NULL, report TEXT NOT NULL);
  `,
  `
  -- A random mark for each of the newest values of the change counter. After a failover to a replica that lagged, or
  -- a restore, the counter reaches the same values again, but with other marks.
  CREATE TABLE change_history (version BIGINT PRIMARY KEY, mark TEXT NOT NULL);
  INSERT INTO change_history SELECT version, gen_random_uuid()::text FROM change_counter;

  CREATE FUNCTION mark_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    DELETE FROM change_history WHERE version <= NEW.version - 10000 OR version >= NEW.version;
    INSERT INTO change_history VALUES (NEW.version, gen_random_uuid()::text);
    RETURN NULL;
  END $$;
  CREATE TRIGGER mark_change AFTER UPDATE ON change_counter FOR EACH ROW EXECUTE FUNCTION mark_change();
  `,
  `
  ALTER TABLE channel ADD COLUMN settings TEXT NOT NULL DEFAULT '{}';
  UPDATE channel SET secret = replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '')
    WHERE kind = 'email';
  ALTER TABLE outbox DROP CONSTRAINT outbox_alert_fkey;
  ALTER TABLE outbox ADD COLUMN held INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE outbox ADD COLUMN refused INTEGER NOT NULL DEFAULT 0;

${MAINTENANCE_TABLES}
  `,
  `
  -- Leases of NODE_IDs (../store/node-lease.ts), and which of these nodes keep events in an embedded engine.
  CREATE TABLE node_lease (
    data_dir TEXT PRIMARY KEY,
    node     INTEGER NOT NULL,
    held     INTEGER NOT NULL,
    embedded INTEGER NOT NULL,
    at_us    BIGINT NOT NULL
  );
  `,
  ALERT_COLUMNS,
  PEOPLE_STEP,
  `
  -- The session that a ticket begins ends by then.
  ALTER TABLE ticket ADD COLUMN until_ms BIGINT;
  `,
  EXCEPTION_GROUP,
  UNJUDGED_TABLES,
]
