// What the page of an alert shows since 2.1, in both databases.
import { REFERENCES_ACCOUNT } from './shared-tables.ts'

export const PROCESS_NOTE = `
  -- What to do if a process fails, in the words of those who run it.
  CREATE TABLE process_note (
    account    TEXT NOT NULL${REFERENCES_ACCOUNT},
    process    TEXT NOT NULL,
    note       TEXT NOT NULL,
    written_by TEXT NOT NULL,
    written_ms BIGINT NOT NULL,
    PRIMARY KEY (account, process)
  );
`

export const SENT_NOTIFICATIONS = `
  -- The last attempt to send each notification of an alert, and the receiver's answer. The channel may be gone.
  CREATE TABLE notification (
    id      TEXT PRIMARY KEY,
    alert   TEXT NOT NULL REFERENCES alert (id) ON DELETE CASCADE,
    channel TEXT NOT NULL,
    name    TEXT NOT NULL,
    kind    TEXT NOT NULL,
    type    TEXT NOT NULL,
    at_us   BIGINT NOT NULL,
    ok      BIGINT NOT NULL,
    answer  TEXT NOT NULL
  );
  CREATE INDEX notification_by_alert ON notification (alert);
`
