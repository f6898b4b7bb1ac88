// The step of PostgreSQL's schema that brings people and their roles, as in ../account/schema.ts. During an upgrade,
// nodes of the version before continue to work beside this one:
// * their sign-ups, keys and sessions become those of the owner who made the account (rows without the newer columns);
// * they sign in by account.password, which follows the person's while that person owns the account, and is no password
//   otherwise;
// * they find no session that this version made: its hashes start with `person:`. They know no roles.
import { MEMBERSHIP, PEOPLE_TABLES } from './shared-tables.ts'

/** No password has this hash. */
const NO_PASSWORD =
  '$argon2id$v=19$m=19456,t=2,p=1$' +
  'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'

// Parts of statements, named to keep lines short: PostgreSQL stores the bodies of functions as they are written.
const NO_MEMBER = 'NOT EXISTS (SELECT 1 FROM membership WHERE membership.person = person.id)'
const FOUNDER_ID = '(SELECT id FROM founder(NEW.id))'
const CURRENT = "('NOBODY', coalesce(NEW.password, ''))"
const FORMER_EMAIL = '(SELECT email FROM person WHERE person.id = OLD.person)'

export const PEOPLE_STEP = `
  CREATE TABLE person (
    id           TEXT PRIMARY KEY,
    email        TEXT NOT NULL UNIQUE,
    password     TEXT,
    verified_ms  BIGINT,
    last_account TEXT,
    created_ms   BIGINT NOT NULL
  );
  INSERT INTO person (id, email, password, last_account, created_ms)
    SELECT 'per_' || substr(id, 5), email, password, id, created_ms FROM account;

${MEMBERSHIP}
  ALTER TABLE account DROP CONSTRAINT account_email_key;
  ALTER TABLE account ADD COLUMN name TEXT;
  ALTER TABLE account ALTER COLUMN password SET DEFAULT 'NOBODY';
  UPDATE account SET name = email;

  ALTER TABLE api_key ADD COLUMN creator TEXT REFERENCES person (id) ON DELETE SET NULL;
  ALTER TABLE api_key ADD COLUMN creator_email TEXT;
  ALTER TABLE api_key ADD COLUMN is_capped INTEGER NOT NULL DEFAULT 0;
  UPDATE api_key SET creator = 'per_' || substr(account, 5),
    creator_email = (SELECT email FROM account WHERE account.id = api_key.account);
  CREATE INDEX api_key_by_creator ON api_key (creator);
  DROP TRIGGER note_change ON api_key;
  CREATE TRIGGER note_change BEFORE INSERT OR UPDATE OF expires_ms, revoked_ms, is_capped ON api_key
    FOR EACH ROW EXECUTE FUNCTION note_change();

  ALTER TABLE session ADD COLUMN person TEXT REFERENCES person (id) ON DELETE CASCADE;
  ALTER TABLE session ADD COLUMN ends_ms BIGINT;
  ALTER TABLE session ADD COLUMN proof TEXT NOT NULL DEFAULT 'password';
  UPDATE session SET person = 'per_' || substr(account, 5);
  ALTER TABLE session ALTER COLUMN person SET NOT NULL;
  CREATE INDEX session_by_person ON session (person, created_ms);

${PEOPLE_TABLES}
  -- The person who made the account and still owns it.
  CREATE FUNCTION founder(of_account TEXT) RETURNS TABLE (id TEXT, email TEXT) LANGUAGE sql STABLE AS $$
    SELECT person.id, person.email FROM account JOIN person ON person.email = account.email
      JOIN membership ON membership.account = account.id AND membership.person = person.id AND membership.role = 'owner'
      WHERE account.id = of_account
  $$;

  CREATE FUNCTION adopt_account() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    DELETE FROM person WHERE email = NEW.email AND ${NO_MEMBER};
    INSERT INTO person VALUES ('per_' || substr(NEW.id, 5), NEW.email, NEW.password, NULL, NEW.id, NEW.created_ms);
    INSERT INTO membership VALUES (NEW.id, 'per_' || substr(NEW.id, 5), 'owner', NEW.created_ms);
    UPDATE account SET name = NEW.email WHERE id = NEW.id;
    RETURN NULL;
  END $$;
  CREATE TRIGGER adopt_account AFTER INSERT ON account
    FOR EACH ROW WHEN (NEW.name IS NULL) EXECUTE FUNCTION adopt_account();

  CREATE FUNCTION adopt_key() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    SELECT id, email INTO NEW.creator, NEW.creator_email FROM founder(NEW.account);
    RETURN NEW;
  END $$;
  CREATE TRIGGER adopt_key BEFORE INSERT ON api_key
    FOR EACH ROW WHEN (NEW.creator_email IS NULL) EXECUTE FUNCTION adopt_key();

  CREATE FUNCTION adopt_session() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    SELECT id INTO NEW.person FROM founder(NEW.account);
    RETURN NEW;
  END $$;
  CREATE TRIGGER adopt_session BEFORE INSERT ON session
    FOR EACH ROW WHEN (NEW.person IS NULL) EXECUTE FUNCTION adopt_session();

  CREATE FUNCTION adopt_password() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE person SET password = NEW.password WHERE id = ${FOUNDER_ID} AND password IS DISTINCT FROM NEW.password;
    IF NOT FOUND AND NOT EXISTS (SELECT 1 FROM founder(NEW.id)) THEN
      UPDATE account SET password = 'NOBODY' WHERE id = NEW.id;
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER adopt_password AFTER UPDATE OF password ON account FOR EACH ROW
    WHEN (NEW.password <> OLD.password AND NEW.password <> 'NOBODY') EXECUTE FUNCTION adopt_password();

  -- What changed here proves nothing there.
  CREATE FUNCTION end_former_password() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_TABLE_NAME = 'person' THEN
      UPDATE account SET password = 'NOBODY' WHERE email = NEW.email AND password NOT IN ${CURRENT};
    ELSE
      UPDATE account SET password = 'NOBODY' WHERE id = OLD.account AND email = ${FORMER_EMAIL};
      UPDATE session SET hash = 'person:' || hash WHERE person = OLD.person AND hash NOT LIKE 'person:%';
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER end_former_password AFTER UPDATE OF password ON person
    FOR EACH ROW EXECUTE FUNCTION end_former_password();
  CREATE TRIGGER end_former_password AFTER UPDATE OF role OR DELETE ON membership
    FOR EACH ROW EXECUTE FUNCTION end_former_password();
  `.replaceAll('NOBODY', () => NO_PASSWORD)
