// What the watches keep since 2.0, in both databases: how far the log is fed, and the judge's memory.
import { IDENTITY_KEY } from './shared-tables.ts'

export const FEED_TABLES = `
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
  -- judged_us: the log's time of the last commit. seed_us: what the stores have since then was not fed.
  ALTER TABLE alive ADD COLUMN judged_us BIGINT;
  ALTER TABLE alive ADD COLUMN seed_us BIGINT;
  -- Version 1 notes how far it judged only now and then: without a row nothing since the watch was made.
  UPDATE alive SET seed_us = (
    SELECT min(coalesce(progress.judged_us, watch.since_us))
    FROM watch LEFT JOIN progress ON progress.account = watch.account
    WHERE watch.deleted_us IS NULL
  );
  -- Thousands of alerts may open at once: what is asked for each of them reads one row.
  CREATE INDEX alert_instance ON alert (watch, instance) WHERE resolved_us IS NULL;
  DROP INDEX outbox_by_channel;
  CREATE INDEX outbox_by_channel ON outbox (channel, seq);
  DROP INDEX outbox_by_alert;
  CREATE INDEX outbox_by_alert ON outbox (alert, channel, seq);
  -- Notifications about watches that were not judged.
  DELETE FROM outbox WHERE alert LIKE 'unj@_%' ESCAPE '@';
`
