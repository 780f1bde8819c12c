//! Stores of any size, in seconds.
//!
//! The product makes one task of each kind; SQL makes the others from its rows, with their own ids
//! and names in all columns. So they are what the product would have written, whatever its schema
//! says, and an audit finds no fault with them.

use anyhow::Result;
use handoff_core::Task;
use handoff_core::task::Command;

use super::ledger::{Ledger, Place, complete};

/// Tasks of an ordinary size.
pub(super) const BRIEF: &str = "Rename the setting in the parser, its tests and the manual, \
                     and say in the changelog what users of the old name have to do.";

/// What the tasks have been through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Past {
    /// They were added, and wait to be claimed.
    Added,
    /// Ten events each; one half is queued again, the other half is done.
    Long,
}

/// Columns that the engine fills in.
const GENERATED: [&str; 3] = ["number", "position", "transaction"];

/// Brings a store to `tasks` tasks, and a few more.
pub(crate) fn fill(place: &Place, ledger: &mut Ledger, tasks: usize, past: Past) -> Result<()> {
    let templates = match past {
        Past::Added => vec![ledger.add("template", BRIEF)?],
        Past::Long => vec![
            tried(ledger, "template-queued", release)?,
            tried(ledger, "template-done", complete)?,
        ],
    };
    for (first, template) in (1..).zip(&templates) {
        let copies = Copies {
            template,
            first,
            step: templates.len(),
            last: tasks,
        };
        for table in ["tasks", "events"] {
            place.execute(&copies.sql(table, &columns(place, table)?))?;
        }
    }
    settle(place)
}

/// The name of the copy with this number.
pub(crate) fn name(number: usize) -> String {
    format!("bulk-{number:09}")
}

/// Three attempts that came to nothing, and a fourth with this end: ten events.
fn tried(ledger: &mut Ledger, name: &str, end: impl Fn(&Task) -> Command) -> Result<Task> {
    let mut task = ledger.add(name, BRIEF)?;
    for _ in 0..3 {
        task = ledger.claim_this(&task)?;
        task = ledger.tell(&task, release(&task))?;
    }
    task = ledger.claim_this(&task)?;
    task = ledger.tell(&task, Command::Renew { fence: task.fence })?;
    ledger.tell(&task, end(&task))
}

fn release(task: &Task) -> Command {
    Command::Release {
        fence: task.fence,
        reason: None,
    }
}

fn columns(place: &Place, table: &str) -> Result<Vec<String>> {
    let mut columns = place.query(&match place {
        Place::Sqlite(_) => format!("SELECT name FROM pragma_table_info('{table}')"),
        Place::Postgres(_) => format!(
            "SELECT column_name::text FROM information_schema.columns \
             WHERE table_schema = 'handoff' AND table_name = '{table}'"
        ),
    })?;
    columns.retain(|column| !GENERATED.contains(&column.as_str()));
    Ok(columns)
}

/// What a store that has been in use for a while has done by itself.
fn settle(place: &Place) -> Result<()> {
    place.execute(match place {
        Place::Sqlite(_) => "PRAGMA wal_checkpoint(TRUNCATE)",
        Place::Postgres(_) => "VACUUM ANALYZE",
    })
}

/// A template and the numbers of its copies.
struct Copies<'a> {
    template: &'a Task,
    first: usize,
    step: usize,
    last: usize,
}

impl Copies<'_> {
    /// The statement that copies the template's rows of a table, in words that both engines know.
    fn sql(&self, table: &str, columns: &[String]) -> String {
        let Self {
            template,
            first,
            step,
            last,
        } = self;
        let (id, name) = (template.id, template.spec.name.as_str());
        let (whose, order) = match table {
            "tasks" => ("id", "i"),
            _ => ("stream", "i, seq"),
        };
        let values: Vec<_> = columns
            .iter()
            .map(|column| match column.as_str() {
                "key" => "key || '-' || CAST(i AS TEXT)".to_owned(),
                "id" | "stream" | "name" | "body" => {
                    format!("replace(replace({column}, '{id}', {COPY_ID}), '{name}', {COPY_NAME})")
                }
                // SQL cannot make a digest of what it changes: as in events from before there were any.
                "sum" if table == "events" => "NULL".to_owned(),
                column => column.to_owned(),
            })
            .collect();
        format!(
            "INSERT INTO {table} ({}) \
             WITH RECURSIVE numbers(i) AS (\
             SELECT {first} UNION ALL SELECT i + {step} FROM numbers WHERE i + {step} <= {last}) \
             SELECT {} FROM numbers CROSS JOIN {table} WHERE {whose} = '{id}' ORDER BY {order}",
            columns.join(", "),
            values.join(", ")
        )
    }
}

/// Decimal digits are hexadecimal ones too.
const COPY_ID: &str = "'task_00000000000000' || substr(CAST(1000000000000000000 + i AS TEXT), 2)";
const COPY_NAME: &str = "'bulk-' || substr(CAST(1000000000 + i AS TEXT), 2)";

#[cfg(test)]
mod tests {
    use handoff_core::ProjectId;
    use handoff_process::mint;
    use handoff_store::{audit, read};

    use super::*;

    #[test]
    fn copies_are_what_the_product_would_have_written() {
        let home = tempfile::tempdir().unwrap();
        let place = Place::Sqlite(home.path().to_owned());
        let mut ledger = Ledger::open(&place, ProjectId::from_uuid(mint())).unwrap();
        fill(&place, &mut ledger, 20, Past::Long).unwrap();
        let audit = read(&mut *ledger.store, audit::audit).unwrap();
        assert_eq!((audit.tasks, audit.events), (22, 220));
        assert_eq!(audit.faults, []);
        let names = place.query("SELECT name FROM tasks WHERE is_open = 1 ORDER BY name");
        assert_eq!(names.unwrap()[..2], [name(1), name(3)]);
    }
}
