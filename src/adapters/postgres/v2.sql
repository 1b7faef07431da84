-- When each machine last polled, in microseconds since 1970. `round` counts flushes, so that each server reads only
-- what the others wrote since its last one.
CREATE TABLE polls (
    account TEXT   NOT NULL,
    machine TEXT   NOT NULL,
    at      BIGINT NOT NULL,
    round   BIGINT NOT NULL,
    PRIMARY KEY (account, machine)
);
CREATE INDEX polls_by_round ON polls (round);

-- Apply results in the order they came in; `body` is JSON.
CREATE TABLE results (
    seq        BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account    TEXT   NOT NULL,
    machine    TEXT   NOT NULL,
    release    TEXT   NOT NULL,
    generation BIGINT NOT NULL,
    started_at TEXT   NOT NULL,
    body       TEXT   NOT NULL,
    UNIQUE (account, machine, release, generation, started_at)
);
CREATE INDEX results_by_account ON results (account, seq);
CREATE INDEX results_by_release ON results (account, release, seq);

-- Written to find out whether the database can be written again.
CREATE TABLE pulse (
    id    BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    count BIGINT NOT NULL
);
INSERT INTO pulse VALUES (1, 0);

-- The vault: contents by their digest, never changed, and secrets by their version.
CREATE TABLE contents (
    digest TEXT  NOT NULL PRIMARY KEY,
    body   BYTEA NOT NULL
);
CREATE TABLE secrets (
    account TEXT NOT NULL,
    version TEXT NOT NULL,
    value   TEXT NOT NULL,
    PRIMARY KEY (account, version)
);
