//! Package rows: what is known of each package, written only by [`crate::queue`] together with the event that explains it. The
//! bytes lie in files, or, where machines share no directory, beside the row.

use std::collections::{BTreeMap, BTreeSet};

use handoff_core::package::PackageStanding;
use handoff_core::{BatchName, PackageId, PackageRecord, ProjectId, TaskId, TaskName, Timestamp};

use crate::column::{self, field, from_json, json, number, parsed, unsigned};
use crate::error::StoreError;
use crate::high_water;
use crate::sql::{Row, RowLock, Value};
use crate::store::{Store, Transaction, write};

const COLUMNS: &str = "id, project, task, created_at, version, body";

fn fields(package: &PackageRecord) -> Result<Vec<Value>, StoreError> {
    let label = &package.label;
    Ok(vec![
        label.id.to_string().into(),
        package.project.to_string().into(),
        package.task().map(|task| task.to_string()).into(),
        label.created_at.as_millisecond().into(),
        number(package.version)?.into(),
        json(package)?.into(),
    ])
}

/// Whether the columns beside the body say what it says.
pub(crate) fn is_row_of(
    tx: &mut Transaction<'_>,
    package: &PackageRecord,
) -> Result<bool, StoreError> {
    let id = package.label.id.to_string();
    column::agree(tx, ("packages", COLUMNS), &id, &fields(package)?)
}

pub(crate) fn insert(
    tx: &mut Transaction<'_>,
    package: &PackageRecord,
    sealed: Option<&str>,
) -> Result<(), StoreError> {
    let sql =
        format!("INSERT INTO packages ({COLUMNS}, sealed) VALUES ($1, $2, $3, $4, $5, $6, $7)");
    let mut values = fields(package)?;
    values.push(sealed.into());
    tx.execute(&sql, &values)?;
    Ok(())
}

/// Replaces the row that had version `from`.
pub(crate) fn update(
    tx: &mut Transaction<'_>,
    package: &PackageRecord,
    from: u64,
) -> Result<(), StoreError> {
    let id = package.label.id;
    let changed = tx.execute(
        "UPDATE packages SET version = $1, body = $2, task = $3 WHERE id = $4 AND version = $5",
        &[
            number(package.version)?.into(),
            json(package)?.into(),
            package.task().map(|task| task.to_string()).into(),
            id.to_string().into(),
            number(from)?.into(),
        ],
    )?;
    match changed {
        1 => Ok(()),
        _ => Err(StoreError::Inconsistent(format!(
            "{id} changed under our lock"
        ))),
    }
}

/// The package with this id, locked for a change.
pub(crate) fn lock(tx: &mut Transaction<'_>, id: PackageId) -> Result<PackageRecord, StoreError> {
    find(tx, id, RowLock::Wait)
}

/// The package with this id.
pub fn get(tx: &mut Transaction<'_>, id: PackageId) -> Result<PackageRecord, StoreError> {
    find(tx, id, RowLock::None)
}

fn find(
    tx: &mut Transaction<'_>,
    id: PackageId,
    lock: RowLock,
) -> Result<PackageRecord, StoreError> {
    let rows = tx.query(
        "SELECT body FROM packages WHERE id = $1",
        &[id.to_string().into()],
        lock,
    )?;
    let row = rows.first().ok_or_else(|| StoreError::NotFound {
        what: format!("package {id}"),
    })?;
    from_json(field(row.text(0))?)
}

/// The packages of a project, newest first, with where each is now. At most `limit`, after the given one.
pub fn page(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    after: Option<&PackageRecord>,
    limit: u32,
) -> Result<Vec<(PackageRecord, PackageStanding)>, StoreError> {
    let (at, id) = after.map_or((i64::MAX, String::new()), |it| {
        (
            it.label.created_at.as_millisecond(),
            it.label.id.to_string(),
        )
    });
    let rows = tx.query(
        "SELECT body FROM packages WHERE project = $1 \
         AND (created_at < $2 OR (created_at = $2 AND id < $3)) \
         ORDER BY created_at DESC, id DESC LIMIT $4",
        &[
            project.to_string().into(),
            at.into(),
            id.into(),
            i64::from(limit).into(),
        ],
        RowLock::None,
    )?;
    let wall = clock(tx)?;
    let moment = tx.now.moment.clone();
    rows.iter()
        .map(|row| {
            let package: PackageRecord = from_json(field(row.text(0))?)?;
            let standing = package.standing(wall, &moment);
            Ok((package, standing))
        })
        .collect()
}

/// The packages of all projects in the order of their ids, with where each is now. At most `limit`, after the given one.
pub fn all_after(
    tx: &mut Transaction<'_>,
    after: &str,
    limit: u32,
) -> Result<Vec<(PackageRecord, PackageStanding)>, StoreError> {
    let wall = clock(tx)?;
    let moment = tx.now.moment.clone();
    let mut found = vec![];
    for id in ids_after(tx, after, limit)? {
        let package = get(tx, id)?;
        let standing = package.standing(wall, &moment);
        found.push((package, standing));
    }
    Ok(found)
}

/// The packages that come from a task, or were received for it, oldest first.
pub fn of_task(tx: &mut Transaction<'_>, task: TaskId) -> Result<Vec<PackageRecord>, StoreError> {
    let rows = tx.query(
        "SELECT body FROM packages WHERE task = $1 ORDER BY created_at, id",
        &[task.to_string().into()],
        RowLock::None,
    )?;
    rows.iter()
        .map(|row| from_json(field(row.text(0))?))
        .collect()
}

/// The names of the tasks that packages of a project belong to, each with that of its batch.
pub fn task_names(
    tx: &mut Transaction<'_>,
    project: ProjectId,
) -> Result<BTreeMap<TaskId, (TaskName, Option<BatchName>)>, StoreError> {
    let rows = tx.query(
        "SELECT DISTINCT tasks.id, tasks.name, batches.name FROM packages \
         JOIN tasks ON tasks.id = packages.task LEFT JOIN batches ON batches.id = tasks.batch \
         WHERE packages.project = $1",
        &[project.to_string().into()],
        RowLock::None,
    )?;
    let batch = |row: &Row| -> Result<Option<BatchName>, StoreError> {
        let name = field(row.optional_text(2))?.map(str::parse).transpose();
        name.map_err(|error| StoreError::Inconsistent(format!("the name of a batch: {error}")))
    };
    rows.iter()
        .map(|row| Ok((parsed(row, 0)?, (parsed(row, 1)?, batch(row)?))))
        .collect()
}

/// All packages of a project.
pub fn ids_of(
    tx: &mut Transaction<'_>,
    project: ProjectId,
) -> Result<BTreeSet<PackageId>, StoreError> {
    let rows = tx.query(
        "SELECT id FROM packages WHERE project = $1",
        &[project.to_string().into()],
        RowLock::None,
    )?;
    rows.iter().map(|row| parsed(row, 0)).collect()
}

/// The bytes of a package, where they are kept beside its row.
pub fn sealed(tx: &mut Transaction<'_>, id: PackageId) -> Result<Option<String>, StoreError> {
    let rows = tx.query(
        "SELECT sealed FROM packages WHERE id = $1",
        &[id.to_string().into()],
        RowLock::None,
    )?;
    let row = rows.first().map(|row| field(row.optional_text(0)));
    Ok(row.transpose()?.flatten().map(str::to_owned))
}

/// How much of each package of a project is kept beside its row.
pub fn sealed_sizes(
    tx: &mut Transaction<'_>,
    project: ProjectId,
) -> Result<BTreeMap<PackageId, u64>, StoreError> {
    let rows = tx.query(
        "SELECT id, CAST(octet_length(sealed) AS BIGINT) FROM packages \
         WHERE project = $1 AND sealed IS NOT NULL",
        &[project.to_string().into()],
        RowLock::None,
    )?;
    rows.iter()
        .map(|row| Ok((parsed(row, 0)?, unsigned(field(row.int(1))?)?)))
        .collect()
}

/// Takes the bytes away that are kept beside the row of a package, unless it was changed since; whether it did. The row stays:
/// it is the record.
pub fn forget_sealed(store: &mut dyn Store, package: &PackageRecord) -> Result<bool, StoreError> {
    write(store, |tx| {
        let forgotten = tx.execute(
            "UPDATE packages SET sealed = NULL WHERE id = $1 AND version = $2 AND sealed IS NOT NULL",
            &[
                package.label.id.to_string().into(),
                number(package.version)?.into(),
            ],
        )?;
        Ok(forgotten > 0)
    })
}

/// The time that packages expire by: the wall clock, but never less than the latest time that the ledger has seen. Turning the
/// clock back revives nothing.
pub fn clock(tx: &mut Transaction<'_>) -> Result<Timestamp, StoreError> {
    let mark = high_water::mark(tx)?;
    Ok(mark.map_or(tx.now.wall, |mark| mark.max(tx.now.wall)))
}

/// Keeps the time of a change, and answers with the time to judge it by.
pub(crate) fn keep_time(tx: &mut Transaction<'_>) -> Result<Timestamp, StoreError> {
    let before = clock(tx)?;
    high_water::keep(tx)?;
    Ok(before)
}

/// Ids in order, for the audit.
pub(crate) fn ids_after(
    tx: &mut Transaction<'_>,
    after: &str,
    limit: u32,
) -> Result<Vec<PackageId>, StoreError> {
    let rows = tx.query(
        "SELECT id FROM packages WHERE id > $1 ORDER BY id LIMIT $2",
        &[after.into(), i64::from(limit).into()],
        RowLock::None,
    )?;
    rows.iter().map(|row| parsed(row, 0)).collect()
}
