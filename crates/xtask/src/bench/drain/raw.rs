//! The tables of the floor: rows as long as the product's, with the one index that finding work needs.

use anyhow::Result;
use handoff_core::ProjectId;
use postgres::NoTls;
use rusqlite::Connection;

use super::raw_sqlite;
use crate::bench::ledger::Place;

/// As long as a leased task is as JSON.
const TASK_LENGTH: usize = 600;
/// As long as an event with its caller, key and digest.
const EVENT_LENGTH: usize = 350;

/// What a transaction writes into the row.
pub(super) fn task_body() -> String {
    "t".repeat(TASK_LENGTH)
}

/// What it writes into the ledger.
pub(super) fn event_body() -> String {
    "e".repeat(EVENT_LENGTH)
}

pub(super) const FIND: &str = "SELECT number, body FROM tasks \
     WHERE project = $1 AND state = 'queued' ORDER BY priority DESC, number LIMIT 1";
pub(super) const LOOK: &str = "SELECT body FROM tasks WHERE number = $1";
pub(super) const CHANGE: &str = "UPDATE tasks SET state = $1, body = $2 WHERE number = $3";
pub(super) const APPEND: &str = "INSERT INTO events (task, body) VALUES ($1, $2)";

pub(super) fn fill(place: &Place, project: ProjectId, tasks: usize) -> Result<()> {
    match place {
        Place::Sqlite(home) => {
            let connection = Connection::open(home.join(raw_sqlite::DATABASE))?;
            connection.execute_batch("PRAGMA journal_mode = WAL")?;
            let generated = "INTEGER PRIMARY KEY AUTOINCREMENT";
            connection.execute_batch(&schema(project, tasks, generated))?;
            connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?;
        }
        Place::Postgres(url) => {
            let mut client = postgres::Client::connect(url, NoTls)?;
            let generated = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY";
            client.batch_execute(&schema(project, tasks, generated))?;
            client.batch_execute("VACUUM ANALYZE")?;
        }
    }
    Ok(())
}

fn schema(project: ProjectId, tasks: usize, generated: &str) -> String {
    let body = task_body();
    format!(
        "BEGIN; \
         CREATE TABLE tasks (number {generated}, project TEXT NOT NULL, \
         priority BIGINT NOT NULL, state TEXT NOT NULL, body TEXT NOT NULL); \
         CREATE INDEX tasks_ready ON tasks (project, priority DESC, number) WHERE state = 'queued'; \
         CREATE TABLE events (position {generated}, task BIGINT NOT NULL, body TEXT NOT NULL); \
         INSERT INTO tasks (project, priority, state, body) \
         WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < {tasks}) \
         SELECT '{project}', 0, 'queued', '{body}' FROM numbers; \
         COMMIT;"
    )
}
