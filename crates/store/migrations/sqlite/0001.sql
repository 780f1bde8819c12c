CREATE TABLE meta (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- A row is the fold of the task's events; the columns beside `body` repeat what queries look at.
CREATE TABLE tasks (
    -- Counts up without AUTOINCREMENT too, as long as the newest row is never deleted; none ever is.
    number            INTEGER PRIMARY KEY,
    id                TEXT    NOT NULL UNIQUE,
    project           TEXT    NOT NULL,
    name              TEXT    NOT NULL,
    -- The negative priority, so that the order of the queue is one ascending key.
    rank              INTEGER NOT NULL,
    state             TEXT    NOT NULL,
    is_held           INTEGER NOT NULL,
    is_live           INTEGER NOT NULL,
    is_open           INTEGER NOT NULL,
    has_ownership     INTEGER NOT NULL,
    lease_timeline    TEXT,
    lease_expires     INTEGER,
    lease_awake_until INTEGER,
    lease_session     TEXT,
    version           INTEGER NOT NULL,
    body              TEXT    NOT NULL
);
CREATE UNIQUE INDEX tasks_live_name ON tasks (project, name) WHERE is_live = 1;
CREATE INDEX tasks_name ON tasks (project, name, number);
CREATE INDEX tasks_ready ON tasks (project, rank, number) WHERE state = 'queued' AND is_held = 0;
CREATE INDEX tasks_open ON tasks (project, rank, number) WHERE is_open = 1;
CREATE INDEX tasks_all ON tasks (project, number);
CREATE INDEX tasks_leased ON tasks (project) WHERE state IN ('leased', 'running');

-- A row is the fold of the feature's events.
CREATE TABLE features (
    id      TEXT    NOT NULL PRIMARY KEY,
    project TEXT    NOT NULL,
    name    TEXT    NOT NULL,
    is_live INTEGER NOT NULL,
    version INTEGER NOT NULL,
    body    TEXT    NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX features_live_name ON features (project, name) WHERE is_live = 1;

CREATE TABLE dependencies (
    on_task TEXT NOT NULL,
    task    TEXT NOT NULL,
    PRIMARY KEY (on_task, task)
) WITHOUT ROWID;

CREATE TABLE holds (
    scope   TEXT    NOT NULL PRIMARY KEY,
    version INTEGER NOT NULL,
    body    TEXT
) WITHOUT ROWID;

CREATE TABLE packages (
    id      TEXT NOT NULL PRIMARY KEY,
    task    TEXT NOT NULL,
    project TEXT NOT NULL,
    digest  TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX packages_task ON packages (task);

CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    stream   TEXT    NOT NULL,
    seq      INTEGER NOT NULL,
    project  TEXT,
    at       INTEGER NOT NULL,
    caller   TEXT    NOT NULL,
    key      TEXT,
    digest   TEXT,
    body     TEXT    NOT NULL
);
CREATE UNIQUE INDEX events_stream ON events (stream, seq);
CREATE UNIQUE INDEX events_key ON events (key) WHERE key IS NOT NULL;
CREATE INDEX events_project ON events (project, position);
