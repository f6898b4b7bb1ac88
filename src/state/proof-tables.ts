// What the accounts keep since 2.1 about whose an address is, in both databases.

export const PROOF_TABLES = `
  -- 1: a stranger signed up with the address and has not proved it; 0: somebody vouched; NULL: made by 2.0.
  ALTER TABLE person ADD COLUMN claim BIGINT;
  -- The person whose proof ended a claim, until they have chosen what becomes of the account.
  ALTER TABLE account ADD COLUMN disputed_by TEXT;
  -- Links that make an account. Nothing else that the sender typed is kept.
  CREATE TABLE sign_up (hash TEXT PRIMARY KEY, email TEXT NOT NULL, ends_ms BIGINT NOT NULL);
  -- E-mails that a stranger caused to an address that did not ask, and links that a site asked for.
  CREATE TABLE stranger_mail (email TEXT NOT NULL, sent_ms BIGINT NOT NULL);
  CREATE INDEX stranger_mail_by_email ON stranger_mail (email, sent_ms);
  CREATE INDEX stranger_mail_by_age ON stranger_mail (sent_ms);
`
