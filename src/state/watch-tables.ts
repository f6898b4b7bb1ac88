// The tables of watches, alerts and notifications, how far the log is fed, and the judge's memory: written as those of
// shared-tables.ts.
import { IDENTITY_KEY, REFERENCES_ACCOUNT, toSqlite } from './shared-tables.ts'

/** Accounts are in another file than watches. */
export const toWatchesFile = (tables: string): string => toSqlite(tables.replaceAll(REFERENCES_ACCOUNT, ''))

/** By how much the stamps led the wall clock at `judged_us`. */
export const ALIVE_LEAD = 'ALTER TABLE alive ADD COLUMN lead_us BIGINT;'

/** The id of the DATA_DIR whose spool a position is of; null in rows of 2.0. */
export const FEED_DATA_DIR = 'ALTER TABLE feed ADD COLUMN data_dir TEXT;'

export const WATCH_TABLES = `
  CREATE TABLE channel (
    id         TEXT PRIMARY KEY,
    account    TEXT NOT NULL${REFERENCES_ACCOUNT},
    name       TEXT NOT NULL,
    kind       TEXT NOT NULL,
    target     TEXT NOT NULL,
    -- Signs webhooks; in the link that unsubscribes an e-mail address.
    secret     TEXT,
    state      TEXT NOT NULL,
    confirm    TEXT UNIQUE,
    last       TEXT,
    created_us BIGINT NOT NULL,
    -- JSON: headers and credentials of its kind, filters and delay.
    settings   TEXT NOT NULL DEFAULT '{}'
  );
  CREATE INDEX channel_by_account ON channel (account);

  CREATE TABLE watch (
    id         TEXT PRIMARY KEY,
    account    TEXT NOT NULL${REFERENCES_ACCOUNT},
    spec       TEXT NOT NULL,
    created_us BIGINT NOT NULL,
    since_us   BIGINT NOT NULL,
    badge      TEXT UNIQUE,
    -- When its conditions were changed (JSON).
    changed    TEXT,
    -- A deleted watch is kept while its alerts are listed.
    deleted_us BIGINT
  );
  CREATE INDEX watch_by_account ON watch (account);

  CREATE TABLE alert (
    seq         ${IDENTITY_KEY},
    id          TEXT NOT NULL UNIQUE,
    account     TEXT NOT NULL,
    watch       TEXT NOT NULL REFERENCES watch (id) ON DELETE CASCADE,
    instance    TEXT NOT NULL,
    condition   TEXT NOT NULL,
    process     TEXT NOT NULL,
    meta        TEXT,
    uid         TEXT,
    started_us  BIGINT,
    since_us    BIGINT NOT NULL,
    resolved_us BIGINT,
    notified_us BIGINT,
    remind_us   BIGINT,
    dismissed   BIGINT NOT NULL DEFAULT 0,
    summary     TEXT NOT NULL,
    -- The subject of an alert, once per watch.
    identity    TEXT,
    ended_by    TEXT,
    -- The judged episode (JSON).
    episode     TEXT,
    -- The ids that its firing was sent to (JSON).
    channels    TEXT,
    acked_by    TEXT,
    acked_us    BIGINT
  );
  CREATE INDEX alert_by_watch ON alert (watch, seq);
  CREATE INDEX alert_by_account ON alert (account, seq);
  CREATE INDEX alert_resolved ON alert (resolved_us);
  CREATE INDEX alert_dismissed ON alert (dismissed) WHERE dismissed = 1;
  CREATE INDEX alert_firing ON alert (account) WHERE resolved_us IS NULL;
  CREATE UNIQUE INDEX alert_identity ON alert (watch, identity);
  -- Thousands of alerts may open at once: what is asked for each of them reads one row.
  CREATE INDEX alert_instance ON alert (watch, instance) WHERE resolved_us IS NULL;

  -- Notifications outlive their alert. held: 1 while a notification waits for the delay of its channel or the end of a
  -- maintenance, 2 while somebody has acknowledged its alert. refused: 1 after a 4xx; later notifications of its alert
  -- do not wait for it.
  CREATE TABLE outbox (
    seq        ${IDENTITY_KEY},
    id         TEXT NOT NULL UNIQUE,
    account    TEXT NOT NULL,
    channel    TEXT NOT NULL REFERENCES channel (id) ON DELETE CASCADE,
    alert      TEXT,
    body       TEXT NOT NULL,
    created_us BIGINT NOT NULL,
    next_us    BIGINT NOT NULL,
    attempts   BIGINT NOT NULL DEFAULT 0,
    held       BIGINT NOT NULL DEFAULT 0,
    refused    BIGINT NOT NULL DEFAULT 0
  );
  CREATE INDEX outbox_due ON outbox (next_us);
  CREATE INDEX outbox_by_channel ON outbox (channel, seq);
  CREATE INDEX outbox_by_alert ON outbox (alert, channel, seq);

  -- The alerts of a watch whose firing a channel was sent, if its vendor keeps one incident per watch.
  CREATE TABLE incident (
    channel TEXT NOT NULL REFERENCES channel (id) ON DELETE CASCADE,
    alert   TEXT NOT NULL REFERENCES alert (id) ON DELETE CASCADE,
    PRIMARY KEY (channel, alert)
  );

  CREATE TABLE maintenance (
    id         TEXT PRIMARY KEY,
    account    TEXT NOT NULL${REFERENCES_ACCOUNT},
    spec       TEXT NOT NULL,
    created_us BIGINT NOT NULL
  );
  CREATE INDEX maintenance_by_account ON maintenance (account);

  -- Stint was alive and accepted events until alive_us. judged_us: the log's time of the last commit. seed_us: what the
  -- stores have since then was not fed.
  CREATE TABLE alive (alive_us BIGINT NOT NULL, judged_us BIGINT, seed_us BIGINT);
  CREATE TABLE blind (from_us BIGINT PRIMARY KEY, to_us BIGINT NOT NULL);

  -- How far each node's feeder has read its spools. What arrived before known_us is in blocks, or in the state.
  CREATE TABLE feed (
    node     BIGINT NOT NULL,
    spool    TEXT NOT NULL,
    segment  BIGINT NOT NULL,
    byte     BIGINT NOT NULL,
    seq      BIGINT NOT NULL,
    known_us BIGINT NOT NULL,
    PRIMARY KEY (node, spool)
  );
  -- Records that a node has fed and no judge has taken: [arrival, record] as JSON lines, so many of them taken.
  CREATE TABLE watch_block (
    seq     ${IDENTITY_KEY},
    node    BIGINT NOT NULL,
    spool   TEXT NOT NULL,
    from_us BIGINT NOT NULL,
    to_us   BIGINT NOT NULL,
    records TEXT NOT NULL,
    taken   BIGINT NOT NULL DEFAULT 0
  );
  -- The judge's memory. name, as JSON: [process, meta] of a series, [watch, process] of a gauge, [watch] of a seed.
  CREATE TABLE watch_state (
    account TEXT NOT NULL,
    name    TEXT NOT NULL,
    state   TEXT NOT NULL,
    PRIMARY KEY (account, name)
  );
`

/** Since 2.1: when a node refused events of an account. `noted_us`: when the row was written, by the node's clock. */
export const REFUSED_TIMES = `
  CREATE TABLE refused_time (
    account  TEXT NOT NULL,
    node     BIGINT NOT NULL,
    from_us  BIGINT NOT NULL,
    to_us    BIGINT NOT NULL,
    noted_us BIGINT NOT NULL,
    PRIMARY KEY (account, node, from_us)
  );
  CREATE INDEX refused_time_by_note ON refused_time (noted_us);
`
