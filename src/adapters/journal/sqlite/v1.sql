-- Where the journal of each account stands. Moved by append only, together with the rows it counts.
CREATE TABLE heads (
    account  TEXT    NOT NULL PRIMARY KEY,
    revision INTEGER NOT NULL CHECK (revision >= 0),
    epoch    INTEGER NOT NULL CHECK (epoch >= 0),
    oldest   INTEGER NOT NULL CHECK (oldest >= 1)
) STRICT, WITHOUT ROWID;

-- Facts. `cause` and `change` are JSON, `at` is RFC 3339 in UTC.
CREATE TABLE entries (
    account  TEXT    NOT NULL,
    revision INTEGER NOT NULL CHECK (revision >= 1),
    at       TEXT    NOT NULL,
    "by"     TEXT    NOT NULL,
    cause    TEXT    NOT NULL,
    change   TEXT    NOT NULL,
    PRIMARY KEY (account, revision)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER entries_are_never_edited BEFORE UPDATE ON entries BEGIN
    SELECT RAISE(ABORT, 'entries are facts: they are never edited');
END;

CREATE TRIGGER entries_are_kept BEFORE DELETE ON entries
WHEN OLD.revision >= (SELECT oldest FROM heads WHERE account = OLD.account) BEGIN
    SELECT RAISE(ABORT, 'entries are facts: only those before heads.oldest may be archived');
END;

-- Worlds, so that loading need not start at entry 1. `fold` is the version of the fold that made them.
CREATE TABLE snapshots (
    account  TEXT    NOT NULL,
    fold     INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    world    BLOB    NOT NULL,
    PRIMARY KEY (account, fold, revision)
) STRICT;

-- Signs of life of the seat's holder.
CREATE TABLE beats (
    account TEXT    NOT NULL PRIMARY KEY,
    holder  TEXT    NOT NULL,
    epoch   INTEGER NOT NULL,
    count   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
