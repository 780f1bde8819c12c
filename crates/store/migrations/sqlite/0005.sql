-- A row is the fold of the run's events.
CREATE TABLE runs (
    id        TEXT    NOT NULL PRIMARY KEY,
    project   TEXT    NOT NULL,
    name      TEXT    NOT NULL,
    begun_at  INTEGER NOT NULL,
    is_live   INTEGER NOT NULL,
    version   INTEGER NOT NULL,
    body      TEXT    NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX runs_live_name ON runs (project, name) WHERE is_live = 1;
CREATE INDEX runs_name ON runs (project, name, begun_at);
CREATE INDEX runs_all ON runs (project, begun_at, id);
