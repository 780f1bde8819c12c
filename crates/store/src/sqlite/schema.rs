//! The schema of the embedded store, and how a file gets it.

use std::path::PathBuf;

use handoff_core::StoreId;
use rusqlite::Connection;

use super::connection::{int_pragma, sql_error, unusable};
use super::{Place, copy, log, rollback};
use crate::error::StoreError;
use crate::migration::{self, Migration, Plan};

pub(super) const MIGRATIONS: &[Migration] = &[
    Migration {
        version: 1,
        sql: include_str!("../../migrations/sqlite/0001.sql"),
    },
    Migration {
        version: 2,
        sql: include_str!("../../migrations/sqlite/0002.sql"),
    },
    Migration {
        version: 3,
        sql: include_str!("../../migrations/sqlite/0003.sql"),
    },
    Migration {
        version: 4,
        sql: include_str!("../../migrations/sqlite/0004.sql"),
    },
    Migration {
        version: 5,
        sql: include_str!("../../migrations/sqlite/0005.sql"),
    },
    Migration {
        version: 6,
        sql: include_str!("../../migrations/sqlite/0006.sql"),
    },
    Migration {
        version: 7,
        sql: include_str!("../../migrations/sqlite/0007.sql"),
    },
    Migration {
        version: 8,
        sql: include_str!("../../migrations/sqlite/0008.sql"),
    },
    Migration {
        version: 9,
        sql: include_str!("../../migrations/sqlite/0009.sql"),
    },
];

/// Makes sure that the file has the newest schema, and says which store it is.
pub(super) fn bring_up_to_date(
    connection: &Connection,
    place: &Place,
    migrations: &[Migration],
) -> Result<StoreId, StoreError> {
    if plan(connection, migrations)? == Plan::Current {
        return store_id(connection);
    }
    // Others may be at it; only the plan made in line counts.
    let _turn = place.line_up()?;
    match plan(connection, migrations)? {
        Plan::Current => {}
        // The application's mark comes after the schema, see `creation`.
        Plan::Create => {
            return Err(StoreError::Inconsistent(
                "the database has no schema".to_owned(),
            ));
        }
        Plan::Upgrade { from } => {
            back_up(connection, place, from)?;
            run(connection, migrations, from, None)?;
        }
        Plan::TooNew { found } => {
            return Err(StoreError::TooNew {
                found,
                known: migration::latest(migrations),
            });
        }
    }
    store_id(connection)
}

/// Gives an empty database its schema and its identity.
pub(super) fn create(connection: &Connection, id: StoreId) -> Result<(), StoreError> {
    run(connection, MIGRATIONS, 0, Some(id))
}

fn plan(connection: &Connection, migrations: &[Migration]) -> Result<Plan, StoreError> {
    let found = int_pragma(connection, "user_version").map_err(sql_error)?;
    Ok(migration::plan(found, migrations))
}

fn run(
    connection: &Connection,
    migrations: &[Migration],
    from: i64,
    fresh_id: Option<StoreId>,
) -> Result<(), StoreError> {
    let steps: String = migration::after(from, migrations)
        .map(|step| step.sql)
        .collect();
    let identity = fresh_id.map_or_else(String::new, |id| {
        format!("INSERT INTO meta (name, value) VALUES ('store_id', '{id}');")
    });
    let latest = migration::latest(migrations);
    let script =
        format!("BEGIN IMMEDIATE; {steps} {identity} PRAGMA user_version = {latest}; COMMIT;");
    let outcome = connection.execute_batch(&script);
    if outcome.is_err() {
        rollback(connection).map_err(sql_error)?;
    }
    outcome.map_err(|error| {
        let step = "the schema could not be brought up to date";
        StoreError::unavailable(step, sql_error(error))
    })
}

/// A whole copy of the store as it was, beside it. An older copy of the same version is never overwritten: it
/// may be from before an upgrade that failed half-way elsewhere.
fn back_up(connection: &Connection, place: &Place, version: i64) -> Result<(), StoreError> {
    let copy = backup_path(place, version);
    if copy.exists() {
        return Ok(());
    }
    let partial = copy.with_extension("partial");
    if partial.exists() {
        std::fs::remove_file(&partial).map_err(|error| unusable(&partial, error))?;
    }
    copy::write(connection, &partial)?;
    std::fs::rename(&partial, &copy).map_err(|error| unusable(&copy, error))?;
    log::sync_names(place)
}

fn backup_path(place: &Place, version: i64) -> PathBuf {
    place.database.with_extension(format!("v{version}.backup"))
}

fn store_id(connection: &Connection) -> Result<StoreId, StoreError> {
    let text: String = connection
        .query_row(
            "SELECT value FROM meta WHERE name = 'store_id'",
            [],
            |row| row.get(0),
        )
        .map_err(sql_error)?;
    text.parse()
        .map_err(|error| StoreError::Inconsistent(format!("the store id: {error}")))
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use handoff_testkit::ManualClock;
    use uuid::Uuid;

    use super::*;
    use crate::sqlite::{Ambient, connection};

    const LATEST: i64 = MIGRATIONS.len() as i64;

    /// All there are, and one more.
    fn with(sql: &'static str) -> Vec<Migration> {
        let version = LATEST + 1;
        let later = [Migration { version, sql }];
        MIGRATIONS.iter().copied().chain(later).collect()
    }

    fn next() -> Vec<Migration> {
        with("CREATE TABLE later (x TEXT);")
    }

    fn broken() -> Vec<Migration> {
        with("CREATE TABLE later (x TEXT); CREATE TABLE meta (x TEXT);")
    }

    struct Fixture {
        home: tempfile::TempDir,
        place: Place,
        connection: Connection,
        id: StoreId,
    }

    fn fixture() -> Fixture {
        let home = tempfile::tempdir().unwrap();
        let place = Place::in_home(home.path());
        let ambient = Ambient {
            clock: Rc::new(ManualClock::default()),
            fresh_id: StoreId::from_uuid(Uuid::from_u128(7)),
        };
        let opened = connection::open(&place, &ambient).unwrap();
        let (connection, id) = (opened.connection, opened.info.id);
        Fixture {
            home,
            place,
            connection,
            id,
        }
    }

    impl Fixture {
        fn upgrade(&self, migrations: &[Migration]) -> Result<StoreId, StoreError> {
            bring_up_to_date(&self.connection, &self.place, migrations)
        }

        fn has_table(&self, name: &str) -> bool {
            self.connection.table_exists(None, name).unwrap()
        }
    }

    #[test]
    fn versions_are_counted_without_gaps() {
        let versions: Vec<_> = MIGRATIONS.iter().map(|it| it.version).collect();
        let expected: Vec<_> = (1..=migration::latest(MIGRATIONS)).collect();
        assert_eq!(versions, expected);
    }

    #[test]
    fn an_upgrade_keeps_the_identity_and_leaves_a_backup_that_opens() {
        let fixture = fixture();
        assert_eq!(fixture.upgrade(&next()).unwrap(), fixture.id);
        assert!(fixture.has_table("later"));
        let backup = format!("handoff.v{LATEST}.backup");
        let backup = Connection::open(fixture.home.path().join(backup)).unwrap();
        assert_eq!(int_pragma(&backup, "user_version").unwrap(), LATEST);
        assert_eq!(store_id(&backup).unwrap(), fixture.id);
        assert_eq!(fixture.upgrade(&next()).unwrap(), fixture.id);
    }

    #[test]
    fn an_upgrade_that_fails_changes_nothing() {
        let fixture = fixture();
        assert!(fixture.upgrade(&broken()).is_err());
        assert!(!fixture.has_table("later"));
        assert_eq!(fixture.upgrade(MIGRATIONS).unwrap(), fixture.id);
    }

    #[test]
    fn a_downgrade_is_refused() {
        let fixture = fixture();
        fixture.upgrade(&next()).unwrap();
        let refused = fixture.upgrade(MIGRATIONS);
        assert!(
            matches!(refused, Err(StoreError::TooNew { found, known: LATEST }) if found > LATEST),
            "{refused:?}"
        );
    }
}
