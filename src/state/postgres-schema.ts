// The schema in PostgreSQL: the tables of SQLite and, for several nodes, `changed`: the value of the change counter at
// the row's last change that other nodes must learn of. Writers hold the counter's row until they commit, so a reader
// of its value n has seen every change up to n.
// Nodes of 2.0 run beside this version during an upgrade, and refuse a database of a version that they do not know: the
// version and the count of added steps stay theirs, and nothing that they read is dropped.
import { PROCESS_NOTE, SENT_NOTIFICATIONS } from './alert-tables.ts'
import { PROOF_TABLES } from './proof-tables.ts'
import type { Schema } from './schema.ts'
import { ACCOUNT_TABLES, BOUND_KEYS, KEY_PLACES, QUOTA_NOTICES, SUSPENSIONS } from './shared-tables.ts'
import { ALIVE_LEAD, FEED_DATA_DIR, REFUSED_TIMES, WATCH_TABLES } from './watch-tables.ts'

/** A table whose rows bear `changed`, set when a row is inserted or one of these columns updated. */
const followed = (table: string, columns = ''): string => `
  ALTER TABLE ${table} ADD COLUMN changed BIGINT NOT NULL;
  CREATE INDEX ${table}_by_change ON ${table} (changed);
  CREATE TRIGGER note_change BEFORE INSERT${columns && ` OR UPDATE OF ${columns}`} ON ${table}
    FOR EACH ROW EXECUTE FUNCTION note_change();
`

const CHANGES = `
  CREATE TABLE change_counter (version BIGINT NOT NULL, database_id TEXT NOT NULL);
  INSERT INTO change_counter VALUES (0, gen_random_uuid()::text);

  CREATE FUNCTION note_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    SELECT version INTO NEW.changed FROM change_counter;
    RETURN NEW;
  END $$;
  ${followed('account', 'operator')}
  ${followed('api_key', 'expires_ms, revoked_ms, is_capped')}
  ${followed('removal')}

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
`

const NODES = `
  -- One row: who evaluates, until when by this server's clock. The token grows with each new holder.
  CREATE TABLE watch_lease (token BIGINT NOT NULL, holder TEXT NOT NULL, until_us BIGINT NOT NULL);
  INSERT INTO watch_lease VALUES (0, '', 0);
  -- The sign of life of each node, by this server's clock, and what it reported with it (JSON).
  CREATE TABLE node (node BIGINT PRIMARY KEY, seen_us BIGINT NOT NULL, report TEXT NOT NULL);
  -- Leases of NODE_IDs (node-lease.ts), and which of these nodes keep events in an embedded engine.
  CREATE TABLE node_lease (
    data_dir TEXT PRIMARY KEY,
    node     BIGINT NOT NULL,
    held     BIGINT NOT NULL,
    embedded BIGINT NOT NULL,
    at_us    BIGINT NOT NULL
  );
`

const PROOFS = `${PROOF_TABLES}
  CREATE TRIGGER note_dispute BEFORE UPDATE OF disputed_by ON account FOR EACH ROW EXECUTE FUNCTION note_change();
`

export const POSTGRES: Schema = {
  oldest: 10,
  tables: [
    ACCOUNT_TABLES,
    'INSERT INTO series_salt VALUES (gen_random_uuid()::text);',
    CHANGES,
    WATCH_TABLES,
    NODES,
  ].join('\n'),
  steps: [],
}

/** The steps that 2.0 counts beside the version. */
export const ADDED_STEPS = 2

const SUSPENDING = `${SUSPENSIONS}
  CREATE TRIGGER note_suspension BEFORE UPDATE OF suspended_ms, resumed_ms ON account
    FOR EACH ROW EXECUTE FUNCTION note_change();
`

/** The steps after 2.0, in a count that 2.0 does not read. Each only adds. Never edit a released one. */
export const LATER_STEPS: readonly string[] = [
  ...[BOUND_KEYS, PROOFS, ALIVE_LEAD, REFUSED_TIMES, SUSPENDING],
  ...[PROCESS_NOTE, SENT_NOTIFICATIONS, QUOTA_NOTICES, KEY_PLACES, FEED_DATA_DIR],
]
