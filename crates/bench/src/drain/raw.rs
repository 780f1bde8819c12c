//! The floor: what a draining writes, by hand.
//!
//! The same rows into the product's own schema, with all its indexes and unique keys, in texts as
//! long as the product's and just as durable: one transaction that claims a task and one that
//! completes it. Nothing is decided, folded, made unrepeatable, swept up or rung for.

use anyhow::Result;
use handoff_process::mint;

use crate::ledger::Place;

/// As long as a leased task is as JSON.
const LEASED_LENGTH: usize = 591;
/// As long as one that is done.
const DONE_LENGTH: usize = 439;
/// As long as the event that a task was claimed.
const CLAIMED_LENGTH: usize = 215;
/// As long as the event that it was completed.
const COMPLETED_LENGTH: usize = 45;

pub(super) const FIND: &str = "SELECT number, id, body FROM tasks \
     WHERE project = $1 AND state = 'queued' AND is_held = 0 ORDER BY rank, number LIMIT 1";
pub(super) const LOOK: &str = "SELECT body FROM tasks WHERE id = $1";
pub(super) const CLAIM: &str = "UPDATE tasks SET state = 'leased', \
     lease_timeline = 'boot:00000000-0000-0000-0000-000000000000', \
     lease_expires = 1000000000000000, lease_awake_until = 1000000000000000, \
     version = 2, body = $1 WHERE number = $2";
pub(super) const COMPLETE: &str = "UPDATE tasks SET state = 'done', is_live = 0, is_open = 0, \
     lease_timeline = NULL, lease_expires = NULL, lease_awake_until = NULL, \
     version = 3, body = $1 WHERE number = $2";
pub(super) const APPEND: &str = "INSERT INTO events \
     (stream, seq, project, at, caller, key, digest, body) VALUES ($1, $2, $3, \
     1700000000000, '{\"type\":\"person\"}', $4, '00000000000000000000000000000000', $5)";

/// A task that was found.
pub(super) struct Found {
    pub(super) number: i64,
    pub(super) id: String,
}

/// One of the two changes that a task goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Claim,
    Complete,
}

impl Step {
    pub(super) fn sql(self) -> &'static str {
        match self {
            Self::Claim => CLAIM,
            Self::Complete => COMPLETE,
        }
    }

    pub(super) fn task(self) -> String {
        "t".repeat(match self {
            Self::Claim => LEASED_LENGTH,
            Self::Complete => DONE_LENGTH,
        })
    }

    pub(super) fn event(self) -> String {
        "e".repeat(match self {
            Self::Claim => CLAIMED_LENGTH,
            Self::Complete => COMPLETED_LENGTH,
        })
    }

    /// The number of its event: the first one was the adding.
    pub(super) fn seq(self) -> i64 {
        match self {
            Self::Claim => 2,
            Self::Complete => 3,
        }
    }
}

/// As long and as random as what the product's command line makes up.
pub(super) fn key() -> String {
    mint().simple().to_string()
}

/// What finding work and looking up a task can do without.
const INDEXES: [&str; 8] = [
    "tasks_live_name",
    "tasks_name",
    "tasks_open",
    "tasks_all",
    "tasks_leased",
    "events_stream",
    "events_key",
    "events_project",
];

/// Leaves the tables with the least that any queue needs, so that the cost of the schema can be seen.
pub(super) fn drop_indexes(place: &Place) -> Result<()> {
    place.execute(&INDEXES.map(|name| format!("DROP INDEX {name};")).concat())
}

#[cfg(test)]
mod tests {
    use handoff_core::ProjectId;

    use super::super::raw_sqlite::RawSqlite;
    use super::super::worker::Drainer;
    use super::*;
    use crate::ledger::Ledger;

    /// How long everything is that one draining of one task leaves in the store.
    fn written(drain: impl FnOnce(&Place, ProjectId)) -> i64 {
        let home = tempfile::tempdir().unwrap();
        let place = Place::Sqlite(home.path().to_owned());
        let project = ProjectId::from_uuid(mint());
        let mut ledger = Ledger::open(&place, project).unwrap();
        ledger.add("task", crate::fill::BRIEF).unwrap();
        drain(&place, project);
        let sum = "SELECT CAST(sum(length(body) + coalesce(length(key), 0) + length(caller)) AS TEXT) \
                   FROM events WHERE seq > 1";
        let bodies = "SELECT CAST(sum(length(body)) AS TEXT) FROM tasks WHERE state = 'done'";
        let number = |sql| place.query(sql).unwrap()[0].parse::<i64>().unwrap();
        number(sum) + number(bodies)
    }

    fn drain_one<D: Drainer>(mut drainer: D) {
        let claimed = drainer.claim().unwrap().unwrap();
        drainer.complete(claimed).unwrap();
    }

    #[test]
    fn the_floor_writes_as_much_as_the_product() {
        let product = written(|place, project| drain_one(Ledger::open(place, project).unwrap()));
        let raw = written(|place, project| {
            let Place::Sqlite(home) = place else { return };
            drain_one(RawSqlite::open(home, project).unwrap());
        });
        let difference = (product - raw).abs();
        assert!(difference * 10 < product, "{product} and {raw} bytes");
    }
}
