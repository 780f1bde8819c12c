CREATE TABLE meta (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
);

-- A row is the fold of the task's events; the columns beside `body` repeat what queries look at.
CREATE TABLE tasks (
    number            BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id                TEXT    NOT NULL UNIQUE,
    project           TEXT    NOT NULL,
    name              TEXT    NOT NULL,
    -- The negative priority, so that the order of the queue is one ascending key.
    rank              BIGINT  NOT NULL,
    state             TEXT    NOT NULL,
    is_held           BIGINT  NOT NULL,
    is_live           BIGINT  NOT NULL,
    is_open           BIGINT  NOT NULL,
    has_ownership     BIGINT  NOT NULL,
    lease_timeline    TEXT,
    lease_expires     BIGINT,
    lease_awake_until BIGINT,
    lease_session     TEXT,
    version           BIGINT  NOT NULL,
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
    is_live BIGINT  NOT NULL,
    version BIGINT  NOT NULL,
    body    TEXT    NOT NULL
);
CREATE UNIQUE INDEX features_live_name ON features (project, name) WHERE is_live = 1;

CREATE TABLE dependencies (
    on_task TEXT NOT NULL,
    task    TEXT NOT NULL,
    PRIMARY KEY (on_task, task)
);

CREATE TABLE holds (
    scope   TEXT    NOT NULL PRIMARY KEY,
    version BIGINT  NOT NULL,
    body    TEXT
);

CREATE TABLE packages (
    id      TEXT NOT NULL PRIMARY KEY,
    task    TEXT NOT NULL,
    project TEXT NOT NULL,
    digest  TEXT NOT NULL
);
CREATE INDEX packages_task ON packages (task);

CREATE TABLE events (
    -- The transaction leads the order: see the cursor of handoff-core.
    transaction BIGINT NOT NULL DEFAULT pg_current_xact_id()::text::bigint,
    position BIGINT GENERATED ALWAYS AS IDENTITY,
    stream   TEXT    NOT NULL,
    seq      BIGINT  NOT NULL,
    project  TEXT,
    at       BIGINT  NOT NULL,
    caller   TEXT    NOT NULL,
    key      TEXT,
    digest   TEXT,
    body     TEXT    NOT NULL,
    PRIMARY KEY (transaction, position)
);
CREATE UNIQUE INDEX events_stream ON events (stream, seq);
CREATE UNIQUE INDEX events_key ON events (key) WHERE key IS NOT NULL;
CREATE INDEX events_project ON events (project, transaction, position);
