-- A row is the fold of the batch's events.
CREATE TABLE batches (
    id        TEXT    NOT NULL PRIMARY KEY,
    project   TEXT    NOT NULL,
    name      TEXT    NOT NULL,
    opened_at INTEGER NOT NULL,
    is_live   INTEGER NOT NULL,
    version   INTEGER NOT NULL,
    body      TEXT    NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX batches_live_name ON batches (project, name) WHERE is_live = 1;
CREATE INDEX batches_name ON batches (project, name, opened_at);
CREATE INDEX batches_all ON batches (project, opened_at, id);

-- The batch that a task is a part or the fan-in of.
ALTER TABLE tasks ADD COLUMN batch TEXT;
CREATE INDEX tasks_batch ON tasks (batch, number) WHERE batch IS NOT NULL;
