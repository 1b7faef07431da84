-- What the archived entries of an account came to: its world right before heads.oldest. Unlike a snapshot it cannot be
-- made anew, so it is kept whatever the fold.
CREATE TABLE bases (
    account  TEXT    NOT NULL PRIMARY KEY,
    fold     INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    world    BLOB    NOT NULL
) STRICT;

-- Links of the audit among the archived entries, as they stood there: the chain stays whole.
CREATE TABLE archived_links (
    account  TEXT    NOT NULL,
    revision INTEGER NOT NULL CHECK (revision >= 1),
    at       TEXT    NOT NULL,
    "by"     TEXT    NOT NULL,
    cause    TEXT    NOT NULL,
    change   TEXT    NOT NULL,
    PRIMARY KEY (account, revision)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER archived_links_are_never_edited BEFORE UPDATE ON archived_links BEGIN
    SELECT RAISE(ABORT, 'links of the audit are facts: they are never edited');
END;

CREATE TRIGGER archived_links_are_kept BEFORE DELETE ON archived_links BEGIN
    SELECT RAISE(ABORT, 'links of the audit are facts: they are never deleted');
END;

-- Links of the audit among the entries, so that reading them costs as much as there are, whatever lies between. The
-- kind of a change is the first thing written of it.
CREATE INDEX entries_links ON entries (account, revision) WHERE substr(change, 1, 17) = '{"kind":"audited"';
