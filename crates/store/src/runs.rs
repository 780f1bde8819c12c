//! Run rows: what is known of each run, written only by [`crate::queue`] together with the event that explains it.

use handoff_core::{ProjectId, Run, RunId, RunName};

use crate::column::{field, from_json, json, number, parsed};
use crate::error::StoreError;
use crate::sql::{RowLock, Value};
use crate::store::Transaction;

pub(crate) fn insert(tx: &mut Transaction<'_>, run: &Run) -> Result<(), StoreError> {
    let mut values: Vec<Value> = vec![
        run.id.to_string().into(),
        run.project.to_string().into(),
        run.spec.name.as_str().into(),
        run.begun_at.as_millisecond().into(),
    ];
    values.extend(moving_columns(run)?);
    tx.execute(
        "INSERT INTO runs (id, project, name, begun_at, is_live, version, body) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
        &values,
    )?;
    Ok(())
}

/// Replaces the row that had version `from`.
pub(crate) fn update(tx: &mut Transaction<'_>, run: &Run, from: u64) -> Result<(), StoreError> {
    let mut values = moving_columns(run)?;
    values.extend([run.id.to_string().into(), number(from)?.into()]);
    let changed = tx.execute(
        "UPDATE runs SET is_live = $1, version = $2, body = $3 WHERE id = $4 AND version = $5",
        &values,
    )?;
    match changed {
        1 => Ok(()),
        _ => Err(StoreError::Inconsistent(format!(
            "{} changed under our lock",
            run.id
        ))),
    }
}

fn moving_columns(run: &Run) -> Result<Vec<Value>, StoreError> {
    Ok(vec![
        run.state.is_live().into(),
        number(run.version)?.into(),
        json(run)?.into(),
    ])
}

/// The run with this id, locked for a change.
pub(crate) fn lock(tx: &mut Transaction<'_>, id: RunId) -> Result<Run, StoreError> {
    find(tx, id, RowLock::Wait)
}

/// The run with this id.
pub fn get(tx: &mut Transaction<'_>, id: RunId) -> Result<Run, StoreError> {
    find(tx, id, RowLock::None)
}

fn find(tx: &mut Transaction<'_>, id: RunId, lock: RowLock) -> Result<Run, StoreError> {
    let rows = tx.query(
        "SELECT body FROM runs WHERE id = $1",
        &[id.to_string().into()],
        lock,
    )?;
    let row = rows.first().ok_or_else(|| StoreError::NotFound {
        what: format!("run {id}"),
    })?;
    from_json(field(row.text(0))?)
}

/// The run that a name means: the live one, else the newest that ended.
pub fn named(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    name: &RunName,
) -> Result<Run, StoreError> {
    let rows = tx.query(
        "SELECT body FROM runs WHERE project = $1 AND name = $2 \
         ORDER BY is_live DESC, begun_at DESC, id DESC LIMIT 1",
        &[project.to_string().into(), name.as_str().into()],
        RowLock::None,
    )?;
    let missing = || StoreError::NotFound {
        what: format!("run `{name}` in this project"),
    };
    from_json(field(rows.first().ok_or_else(missing)?.text(0))?)
}

/// The runs of a project, newest first; at most `limit`, after the given one.
pub fn page(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    after: Option<&Run>,
    limit: u32,
) -> Result<Vec<Run>, StoreError> {
    let (at, id) = after.map_or((i64::MAX, String::new()), |it| {
        (it.begun_at.as_millisecond(), it.id.to_string())
    });
    let rows = tx.query(
        "SELECT body FROM runs WHERE project = $1 \
         AND (begun_at < $2 OR (begun_at = $2 AND id < $3)) \
         ORDER BY begun_at DESC, id DESC LIMIT $4",
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
) -> Result<Vec<RunId>, StoreError> {
    let rows = tx.query(
        "SELECT id FROM runs WHERE id > $1 ORDER BY id LIMIT $2",
        &[after.into(), i64::from(limit).into()],
        RowLock::None,
    )?;
    rows.iter().map(|row| parsed(row, 0)).collect()
}
