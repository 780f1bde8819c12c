-- What is known of the repository of a project; the version is the number of its last event.
CREATE TABLE repositories (
    project TEXT    NOT NULL PRIMARY KEY,
    version INTEGER NOT NULL
) WITHOUT ROWID;

-- The last commit of a branch that was proved good, with the number of the event that says so.
CREATE TABLE baselines (
    project TEXT    NOT NULL,
    branch  TEXT    NOT NULL,
    version INTEGER NOT NULL,
    body    TEXT    NOT NULL,
    PRIMARY KEY (project, branch)
) WITHOUT ROWID;
