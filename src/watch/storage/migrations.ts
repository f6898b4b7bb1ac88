// The schema of watches.sqlite as steps: n leads from version n−1 to n. Never edit a released step. Times: epoch µs.
// Webhook secrets are plain text, because every notification is signed with them; only the file's owner can read it.
import {
  ALERT_COLUMNS,
  MAINTENANCE_TABLES,
  toSqlite,
  UNJUDGED_TABLES,
  WATCH_TABLES,
} from '../../state/shared-tables.ts'

/** Accounts are in another file. */
const toWatchesFile = (tables: string): string =>
  toSqlite(tables.replaceAll(' REFERENCES account (id) ON DELETE CASCADE', '')).replace(
    /(seq +INTEGER PRIMARY KEY)/g,
    '$1 AUTOINCREMENT',
  )

export const migrations: readonly string[] = [
  `
  CREATE TABLE channel (
    id         TEXT PRIMARY KEY,
    account    TEXT NOT NULL,
    name       TEXT NOT NULL,
    kind       TEXT NOT NULL,
    target     TEXT NOT NULL,
    secret     TEXT,
    state      TEXT NOT NULL,
    confirm    TEXT,
    last       TEXT,
    created_us INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX channel_by_account ON channel (account);
  CREATE UNIQUE INDEX channel_by_confirm ON channel (confirm) WHERE confirm IS NOT NULL;

${toWatchesFile(WATCH_TABLES)}
  -- How far an account's watches were judged; Stint was alive and accepted events until alive_us.
  CREATE TABLE progress (account TEXT PRIMARY KEY, judged_us INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE alive (alive_us INTEGER NOT NULL) STRICT;
  CREATE TABLE blind (from_us INTEGER PRIMARY KEY, to_us INTEGER NOT NULL) STRICT;
  `,
  `
  -- JSON: headers and credentials of its kind, filters and delay.
  ALTER TABLE channel ADD COLUMN settings TEXT NOT NULL DEFAULT '{}';
  -- In the link that unsubscribes.
  UPDATE channel SET secret = lower(hex(randomblob(32))) WHERE kind = 'email';

  -- The outbox without its foreign key to alert: notifications outlive a deleted watch. held: 1 while a notification
  -- waits for the delay of its channel or the end of a maintenance, 2 while somebody has acknowledged its alert.
  -- refused: 1 after a 4xx; later notifications of its alert do not wait for it.
  CREATE TABLE outbox_2 (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    account    TEXT NOT NULL,
    channel    TEXT NOT NULL REFERENCES channel (id) ON DELETE CASCADE,
    alert      TEXT,
    body       TEXT NOT NULL,
    created_us INTEGER NOT NULL,
    next_us    INTEGER NOT NULL,
    attempts   INTEGER NOT NULL DEFAULT 0,
    held       INTEGER NOT NULL DEFAULT 0,
    refused    INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  INSERT INTO outbox_2 (seq, id, account, channel, alert, body, created_us, next_us, attempts)
    SELECT seq, id, account, channel, alert, body, created_us, next_us, attempts FROM outbox;
  DROP TABLE outbox;
  ALTER TABLE outbox_2 RENAME TO outbox;
  CREATE INDEX outbox_due ON outbox (next_us);
  CREATE INDEX outbox_by_channel ON outbox (channel);
  CREATE INDEX outbox_by_alert ON outbox (alert);

${toWatchesFile(MAINTENANCE_TABLES)}  `,
  toWatchesFile(ALERT_COLUMNS),
  `${toWatchesFile(UNJUDGED_TABLES)}
  DELETE FROM blind WHERE from_us > to_us;
  `,
]
