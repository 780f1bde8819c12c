-- Packages have a life of their own now: a row is the fold of the package's events. The rows of the first schema named files of a
-- format that is gone; the events of their tasks still tell of them.
DROP TABLE packages;
CREATE TABLE packages (
    id         TEXT    NOT NULL PRIMARY KEY,
    project    TEXT    NOT NULL,
    task       TEXT,
    created_at BIGINT  NOT NULL,
    version    BIGINT  NOT NULL,
    body       TEXT    NOT NULL,
    -- The sealed bytes, where machines share no directory.
    sealed     TEXT
);
CREATE INDEX packages_project ON packages (project, created_at, id);
CREATE INDEX packages_task ON packages (task);

-- A row is the sum of the context's entries; its version is the number of its last event.
CREATE TABLE contexts (
    scope   TEXT    NOT NULL PRIMARY KEY,
    project TEXT    NOT NULL,
    version BIGINT  NOT NULL,
    keys    BIGINT  NOT NULL,
    bytes   BIGINT  NOT NULL
);

CREATE TABLE context_entries (
    scope   TEXT    NOT NULL,
    key     TEXT    NOT NULL,
    version BIGINT  NOT NULL,
    body    TEXT    NOT NULL,
    PRIMARY KEY (scope, key)
);
