//! Everything that a database has, to be compared.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};

/// The rows of each table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tables(BTreeMap<String, Vec<Vec<Value>>>);

impl Tables {
    /// Of the ledger in a directory.
    #[track_caller]
    pub(crate) fn of(directory: &Path) -> Self {
        let path = directory.join("handoff.db");
        let database =
            Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
        let mut names = database
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
            .unwrap();
        let names = names.query_map((), |row| row.get::<_, String>(0)).unwrap();
        let names: Vec<String> = names.map(Result::unwrap).collect();
        let rows = |name: &String| {
            let mut all = database
                .prepare(&format!("SELECT * FROM {name} ORDER BY 1, 2"))
                .unwrap();
            let columns = all.column_count();
            let found = all.query_map((), |row| (0..columns).map(|it| row.get(it)).collect());
            found.unwrap().map(Result::unwrap).collect()
        };
        Self(
            names
                .iter()
                .map(|name| (name.clone(), rows(name)))
                .collect(),
        )
    }

    /// Everything is there that was in another, and nothing else but what follows from a restore: the tasks know it.
    #[track_caller]
    pub(crate) fn assert_continues(&self, other: &Self) {
        for (name, rows) in &other.0 {
            let found = &self.0[name];
            match name.as_str() {
                "events" => {
                    assert_eq!(&found[..rows.len()], &rows[..], "{name}");
                    for event in &found[rows.len()..] {
                        assert!(format!("{event:?}").contains("restored"), "{event:?}");
                    }
                }
                "tasks" => assert_eq!(lasting(found), lasting(rows), "{name}"),
                // The time is noted there.
                "meta" => assert_eq!(
                    found.iter().find(is_identity),
                    rows.iter().find(is_identity)
                ),
                _ => assert_eq!(found, rows, "{name}"),
            }
        }
    }

    /// The first rows of this table are those of the other's.
    pub(crate) fn begins_like(&self, other: &Self, table: &str) -> bool {
        self.0[table].starts_with(&other.0[table])
    }

    pub(crate) fn count(&self, table: &str) -> usize {
        self.0[table].len()
    }
}

fn is_identity(row: &&Vec<Value>) -> bool {
    row[0] == Value::Text("store_id".to_owned())
}

/// What a restore does not change of a task: number, id, project, name and rank.
fn lasting(rows: &[Vec<Value>]) -> Vec<&[Value]> {
    rows.iter().map(|row| &row[..5]).collect()
}
