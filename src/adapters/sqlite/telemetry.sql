-- When each machine last polled, in microseconds since 1970. `round` counts flushes, so that each server reads only
-- what the others wrote since its last one.
CREATE TABLE polls (
    account TEXT    NOT NULL,
    machine TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    round   INTEGER NOT NULL,
    PRIMARY KEY (account, machine)
) STRICT, WITHOUT ROWID;
CREATE INDEX polls_by_round ON polls (round);

-- Apply results in the order they came in; `body` is JSON.
CREATE TABLE results (
    seq        INTEGER NOT NULL PRIMARY KEY,
    account    TEXT    NOT NULL,
    machine    TEXT    NOT NULL,
    release    TEXT    NOT NULL,
    generation INTEGER NOT NULL,
    started_at TEXT    NOT NULL,
    body       TEXT    NOT NULL,
    UNIQUE (account, machine, release, generation, started_at)
) STRICT;
CREATE INDEX results_by_account ON results (account, seq);
CREATE INDEX results_by_release ON results (account, release, seq);

-- Written to find out whether the file can be written again.
CREATE TABLE pulse (
    id    INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    count INTEGER NOT NULL
) STRICT;
INSERT INTO pulse VALUES (1, 0);
