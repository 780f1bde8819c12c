//! Package rows: which package was sealed for which task. The bytes lie in files; a row exists only for a file that was
//! durable before it.

use handoff_core::task::Evidence;
use handoff_core::{PackageId, Task, TaskId};

use crate::column::{field, parsed};
use crate::error::StoreError;
use crate::sql::RowLock;
use crate::store::Transaction;

/// A sealed package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageRow {
    /// Which.
    pub id: PackageId,
    /// SHA-256 of its bytes.
    pub digest: String,
}

/// Adds the row for a package that the task's new evidence names.
pub(crate) fn record(
    tx: &mut Transaction<'_>,
    task: &Task,
    evidence: &Evidence,
) -> Result<(), StoreError> {
    let Evidence::Sealed { package, digest } = evidence else {
        return Ok(());
    };
    tx.execute(
        "INSERT INTO packages (id, task, project, digest) VALUES ($1, $2, $3, $4)",
        &[
            package.to_string().into(),
            task.id.to_string().into(),
            task.project.to_string().into(),
            digest.as_str().into(),
        ],
    )?;
    Ok(())
}

/// The packages of a task, oldest first.
pub fn of_task(tx: &mut Transaction<'_>, task: TaskId) -> Result<Vec<PackageRow>, StoreError> {
    let rows = tx.query(
        "SELECT id, digest FROM packages WHERE task = $1 ORDER BY id",
        &[task.to_string().into()],
        RowLock::None,
    )?;
    rows.iter()
        .map(|row| {
            Ok(PackageRow {
                id: parsed(row, 0)?,
                digest: field(row.text(1))?.to_owned(),
            })
        })
        .collect()
}
