// The schema of watches.sqlite as steps: n leads from version n−1 to n. Never edit a released step. Times: epoch µs.
// Webhook secrets are plain text, because every notification is signed with them; only the file's owner can read it.

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

  CREATE TABLE watch (
    id         TEXT PRIMARY KEY,
    account    TEXT NOT NULL,
    spec       TEXT NOT NULL,
    created_us INTEGER NOT NULL,
    since_us   INTEGER NOT NULL,
    badge      TEXT UNIQUE
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX watch_by_account ON watch (account);

  CREATE TABLE alert (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT NOT NULL UNIQUE,
    account     TEXT NOT NULL,
    watch       TEXT NOT NULL REFERENCES watch (id) ON DELETE CASCADE,
    instance    TEXT NOT NULL,
    condition   TEXT NOT NULL,
    process     TEXT NOT NULL,
    meta        TEXT,
    uid         TEXT,
    started_us  INTEGER,
    since_us    INTEGER NOT NULL,
    resolved_us INTEGER,
    notified_us INTEGER,
    remind_us   INTEGER,
    dismissed   INTEGER NOT NULL DEFAULT 0,
    summary     TEXT NOT NULL
  ) STRICT;
  CREATE INDEX alert_by_watch ON alert (watch, seq);
  CREATE INDEX alert_by_account ON alert (account, seq);
  CREATE INDEX alert_resolved ON alert (resolved_us);
  CREATE INDEX alert_dismissed ON alert (dismissed) WHERE dismissed = 1;
  CREATE INDEX alert_firing ON alert (account) WHERE resolved_us IS NULL;

  CREATE TABLE outbox (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    account    TEXT NOT NULL,
    channel    TEXT NOT NULL REFERENCES channel (id) ON DELETE CASCADE,
    alert      TEXT REFERENCES alert (id) ON DELETE CASCADE,
    body       TEXT NOT NULL,
    created_us INTEGER NOT NULL,
    next_us    INTEGER NOT NULL,
    attempts   INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX outbox_due ON outbox (next_us);
  CREATE INDEX outbox_by_channel ON outbox (channel);
  CREATE INDEX outbox_by_alert ON outbox (alert);

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

  -- The alerts of a watch whose firing a channel was sent, if its vendor keeps one incident per watch.
  CREATE TABLE incident (
    channel TEXT NOT NULL REFERENCES channel (id) ON DELETE CASCADE,
    alert   TEXT NOT NULL REFERENCES alert (id) ON DELETE CASCADE,
    PRIMARY KEY (channel, alert)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE maintenance (
    id         TEXT PRIMARY KEY,
    account    TEXT NOT NULL,
    spec       TEXT NOT NULL,
    created_us INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX maintenance_by_account ON maintenance (account);
  `,
  `
  -- identity: the subject, once per watch. episode: as judged (JSON). channels: the ids that got its firing (JSON).
  ALTER TABLE alert ADD COLUMN identity TEXT;
  ALTER TABLE alert ADD COLUMN ended_by TEXT;
  ALTER TABLE alert ADD COLUMN episode TEXT;
  ALTER TABLE alert ADD COLUMN channels TEXT;
  ALTER TABLE alert ADD COLUMN acked_by TEXT;
  ALTER TABLE alert ADD COLUMN acked_us INTEGER;
  CREATE UNIQUE INDEX alert_identity ON alert (watch, identity);
  -- changed: when its conditions were changed (JSON). A deleted watch is kept while its alerts are listed.
  ALTER TABLE watch ADD COLUMN changed TEXT;
  ALTER TABLE watch ADD COLUMN deleted_us INTEGER;
  `,
  `
  -- Accounts whose watches could not be judged for long: the notice about it, and the channels that got it (JSON).
  CREATE TABLE unjudged (
    account  TEXT PRIMARY KEY,
    id       TEXT NOT NULL,
    since_us INTEGER NOT NULL,
    channels TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  -- The clock was set back: these times came twice. An earlier version kept them in blind, ending before they begin.
  CREATE TABLE set_back (until_us INTEGER PRIMARY KEY, since_us INTEGER NOT NULL) STRICT;
  INSERT INTO set_back SELECT from_us, to_us FROM blind WHERE from_us > to_us;
  DELETE FROM blind WHERE from_us > to_us;
  `,
]
