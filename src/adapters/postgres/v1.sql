-- Where the journal of each account stands. Moved by append only, together with the rows it counts.
CREATE TABLE heads (
    account  TEXT   NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL CHECK (revision >= 0),
    epoch    BIGINT NOT NULL CHECK (epoch >= 0),
    oldest   BIGINT NOT NULL CHECK (oldest >= 1)
);

-- Facts. `cause` and `change` are JSON as it was written, so that a value has one text for ever; `at` is RFC 3339 in UTC.
CREATE TABLE entries (
    account  TEXT   NOT NULL,
    revision BIGINT NOT NULL CHECK (revision >= 1),
    at       TEXT   NOT NULL,
    "by"     TEXT   NOT NULL,
    cause    TEXT   NOT NULL,
    change   TEXT   NOT NULL,
    PRIMARY KEY (account, revision)
);

-- Links of the audit among the entries, so that reading them costs as much as there are, whatever lies between. The
-- kind of a change is the first thing written of it.
CREATE INDEX entries_links ON entries (account, revision) WHERE left(change, 17) = '{"kind":"audited"';

-- Links of the audit among the archived entries, as they stood there: the chain stays whole.
CREATE TABLE archived_links (
    account  TEXT   NOT NULL,
    revision BIGINT NOT NULL CHECK (revision >= 1),
    at       TEXT   NOT NULL,
    "by"     TEXT   NOT NULL,
    cause    TEXT   NOT NULL,
    change   TEXT   NOT NULL,
    PRIMARY KEY (account, revision)
);

CREATE FUNCTION facts_are_never_edited() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are facts: they are never edited or deleted', TG_TABLE_NAME;
END $$;

CREATE FUNCTION entries_are_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.revision >= (SELECT oldest FROM heads WHERE account = OLD.account) THEN
        RAISE EXCEPTION 'entries are facts: only those before heads.oldest may be archived';
    END IF;
    RETURN OLD;
END $$;

CREATE TRIGGER entries_are_never_edited BEFORE UPDATE ON entries
    FOR EACH ROW EXECUTE FUNCTION facts_are_never_edited();
CREATE TRIGGER entries_are_kept BEFORE DELETE ON entries
    FOR EACH ROW EXECUTE FUNCTION entries_are_kept();
CREATE TRIGGER archived_links_are_never_edited BEFORE UPDATE OR DELETE ON archived_links
    FOR EACH ROW EXECUTE FUNCTION facts_are_never_edited();

-- Worlds, so that loading need not start at entry 1. `fold` is the version of the fold that made them.
CREATE TABLE snapshots (
    account  TEXT   NOT NULL,
    fold     BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    world    BYTEA  NOT NULL,
    PRIMARY KEY (account, fold, revision)
);

-- What the archived entries of an account came to: its world right before heads.oldest. Unlike a snapshot it cannot be
-- made anew, so it is kept whatever the fold.
CREATE TABLE bases (
    account  TEXT   NOT NULL PRIMARY KEY,
    fold     BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    world    BYTEA  NOT NULL
);

-- Signs of life of the seat's holder.
CREATE TABLE beats (
    account TEXT   NOT NULL PRIMARY KEY,
    holder  TEXT   NOT NULL,
    epoch   BIGINT NOT NULL,
    count   BIGINT NOT NULL
);
