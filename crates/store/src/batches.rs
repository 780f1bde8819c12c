//! Batch rows: what is known of each batch, written only by [`crate::queue`] together with the event that explains it.

use handoff_core::{Batch, BatchId, BatchName, ProjectId};

use crate::column::{field, from_json, json, number, parsed};
use crate::error::StoreError;
use crate::sql::{RowLock, Value};
use crate::store::Transaction;

pub(crate) fn insert(tx: &mut Transaction<'_>, batch: &Batch) -> Result<(), StoreError> {
    let mut values: Vec<Value> = vec![
        batch.id.to_string().into(),
        batch.project.to_string().into(),
        batch.spec.name.as_str().into(),
        batch.opened_at.as_millisecond().into(),
    ];
    values.extend(moving_columns(batch)?);
    tx.execute(
        "INSERT INTO batches (id, project, name, opened_at, is_live, version, body) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
        &values,
    )?;
    Ok(())
}

/// Replaces the row that had version `from`.
pub(crate) fn update(tx: &mut Transaction<'_>, batch: &Batch, from: u64) -> Result<(), StoreError> {
    let mut values = moving_columns(batch)?;
    values.extend([batch.id.to_string().into(), number(from)?.into()]);
    let changed = tx.execute(
        "UPDATE batches SET is_live = $1, version = $2, body = $3 WHERE id = $4 AND version = $5",
        &values,
    )?;
    match changed {
        1 => Ok(()),
        _ => Err(StoreError::Inconsistent(format!(
            "{} changed under our lock",
            batch.id
        ))),
    }
}

fn moving_columns(batch: &Batch) -> Result<Vec<Value>, StoreError> {
    Ok(vec![
        batch.state.is_live().into(),
        number(batch.version)?.into(),
        json(batch)?.into(),
    ])
}

/// The batch with this id, locked for a change.
pub(crate) fn lock(tx: &mut Transaction<'_>, id: BatchId) -> Result<Batch, StoreError> {
    find(tx, id, RowLock::Wait)
}

/// The batch with this id.
pub fn get(tx: &mut Transaction<'_>, id: BatchId) -> Result<Batch, StoreError> {
    find(tx, id, RowLock::None)
}

fn find(tx: &mut Transaction<'_>, id: BatchId, lock: RowLock) -> Result<Batch, StoreError> {
    let rows = tx.query(
        "SELECT body FROM batches WHERE id = $1",
        &[id.to_string().into()],
        lock,
    )?;
    let row = rows.first().ok_or_else(|| StoreError::NotFound {
        what: format!("batch {id}"),
    })?;
    from_json(field(row.text(0))?)
}

/// The batch that a name means: the live one, else the newest that ended.
pub fn named(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    name: &BatchName,
) -> Result<Batch, StoreError> {
    let rows = tx.query(
        "SELECT body FROM batches WHERE project = $1 AND name = $2 \
         ORDER BY is_live DESC, opened_at DESC, id DESC LIMIT 1",
        &[project.to_string().into(), name.as_str().into()],
        RowLock::None,
    )?;
    let missing = || StoreError::NotFound {
        what: format!("batch `{name}` in this project"),
    };
    from_json(field(rows.first().ok_or_else(missing)?.text(0))?)
}

/// The batches of a project, newest first; at most `limit`, after the given one.
pub fn page(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    after: Option<&Batch>,
    limit: u32,
) -> Result<Vec<Batch>, StoreError> {
    let (at, id) = after.map_or((i64::MAX, String::new()), |it| {
        (it.opened_at.as_millisecond(), it.id.to_string())
    });
    let rows = tx.query(
        "SELECT body FROM batches WHERE project = $1 \
         AND (opened_at < $2 OR (opened_at = $2 AND id < $3)) \
         ORDER BY opened_at DESC, id DESC LIMIT $4",
        &[
            project.to_string().into(),
            at.into(),
            id.into(),
            i64::from(limit).into(),
        ],
        RowLock::None,
    )?;
    let body = |row| from_json(field(crate::sql::Row::text(row, 0))?);
    rows.iter().map(body).collect()
}

/// Ids in order, for the audit.
pub(crate) fn ids_after(
    tx: &mut Transaction<'_>,
    after: &str,
    limit: u32,
) -> Result<Vec<BatchId>, StoreError> {
    let rows = tx.query(
        "SELECT id FROM batches WHERE id > $1 ORDER BY id LIMIT $2",
        &[after.into(), i64::from(limit).into()],
        RowLock::None,
    )?;
    rows.iter().map(|row| parsed(row, 0)).collect()
}
