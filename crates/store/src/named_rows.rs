//! Rows of things that people name: a batch, a run. What is known of each is its body; the columns beside it are what is looked
//! for. They are written only by [`crate::queue`], together with the event that explains them.

use std::fmt::Display;
use std::str::FromStr;

use handoff_core::{ProjectId, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::column::{self, field, from_json, json, number, parsed};
use crate::error::StoreError;
use crate::sql::{Row, RowLock, Value};
use crate::store::Transaction;

/// Something with a name, unique among the live ones of its project.
pub(crate) trait Named: Serialize + DeserializeOwned {
    type Id: Display + FromStr<Err: Display>;

    /// Its table.
    const TABLE: &str;
    /// The column with when it began.
    const SINCE: &str;
    /// What one is called.
    const NOUN: &str;

    fn id(&self) -> Self::Id;
    fn project(&self) -> ProjectId;
    fn name(&self) -> &str;
    fn since(&self) -> Timestamp;
    fn is_live(&self) -> bool;
    fn version(&self) -> u64;
}

fn columns<T: Named>() -> String {
    format!("id, project, name, {}, is_live, version, body", T::SINCE)
}

/// Whether the columns beside the body say what it says.
pub(crate) fn is_row_of<T: Named>(tx: &mut Transaction<'_>, it: &T) -> Result<bool, StoreError> {
    column::agree(
        tx,
        (T::TABLE, &columns::<T>()),
        &it.id().to_string(),
        &fields(it)?,
    )
}

fn fields<T: Named>(it: &T) -> Result<Vec<Value>, StoreError> {
    let mut values: Vec<Value> = vec![
        it.id().to_string().into(),
        it.project().to_string().into(),
        it.name().into(),
        it.since().as_millisecond().into(),
    ];
    values.extend(moving_columns(it)?);
    Ok(values)
}

pub(crate) fn insert<T: Named>(tx: &mut Transaction<'_>, it: &T) -> Result<(), StoreError> {
    let (table, columns) = (T::TABLE, columns::<T>());
    let sql = format!("INSERT INTO {table} ({columns}) VALUES ($1, $2, $3, $4, $5, $6, $7)");
    tx.execute(&sql, &fields(it)?)?;
    Ok(())
}

/// Replaces the row that had version `from`.
pub(crate) fn update<T: Named>(
    tx: &mut Transaction<'_>,
    it: &T,
    from: u64,
) -> Result<(), StoreError> {
    let mut values = moving_columns(it)?;
    values.extend([it.id().to_string().into(), number(from)?.into()]);
    let sql = format!(
        "UPDATE {} SET is_live = $1, version = $2, body = $3 WHERE id = $4 AND version = $5",
        T::TABLE
    );
    match tx.execute(&sql, &values)? {
        1 => Ok(()),
        _ => Err(StoreError::Inconsistent(format!(
            "{} changed under our lock",
            it.id()
        ))),
    }
}

fn moving_columns<T: Named>(it: &T) -> Result<Vec<Value>, StoreError> {
    Ok(vec![
        it.is_live().into(),
        number(it.version())?.into(),
        json(it)?.into(),
    ])
}

pub(crate) fn find<T: Named>(
    tx: &mut Transaction<'_>,
    id: &T::Id,
    lock: RowLock,
) -> Result<T, StoreError> {
    let sql = format!("SELECT body FROM {} WHERE id = $1", T::TABLE);
    let rows = tx.query(&sql, &[id.to_string().into()], lock)?;
    let row = rows.first().ok_or_else(|| StoreError::NotFound {
        what: format!("{} {id}", T::NOUN),
    })?;
    body(row)
}

/// The one that a name means: the live one, else the newest that ended.
pub(crate) fn named<T: Named>(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    name: &str,
) -> Result<T, StoreError> {
    let sql = format!(
        "SELECT body FROM {} WHERE project = $1 AND name = $2 ORDER BY is_live DESC, {} DESC, id DESC LIMIT 1",
        T::TABLE,
        T::SINCE
    );
    let values = [project.to_string().into(), name.into()];
    let rows = tx.query(&sql, &values, RowLock::None)?;
    let missing = || StoreError::NotFound {
        what: format!("{} `{name}` in this project", T::NOUN),
    };
    body(rows.first().ok_or_else(missing)?)
}

/// Those of a project, newest first; at most `limit`, after the given one.
pub(crate) fn page<T: Named>(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    after: Option<&T>,
    limit: u32,
) -> Result<Vec<T>, StoreError> {
    let (at, id) = after.map_or((i64::MAX, String::new()), |it| {
        (it.since().as_millisecond(), it.id().to_string())
    });
    let (table, since) = (T::TABLE, T::SINCE);
    let sql = format!(
        "SELECT body FROM {table} WHERE project = $1 AND ({since} < $2 OR ({since} = $2 AND id < $3)) \
         ORDER BY {since} DESC, id DESC LIMIT $4"
    );
    let values = [
        project.to_string().into(),
        at.into(),
        id.into(),
        i64::from(limit).into(),
    ];
    let rows = tx.query(&sql, &values, RowLock::None)?;
    rows.iter().map(body).collect()
}

/// Those of a project that can still come to something, the oldest first.
pub(crate) fn live<T: Named>(
    tx: &mut Transaction<'_>,
    project: ProjectId,
) -> Result<Vec<T>, StoreError> {
    let sql = format!(
        "SELECT body FROM {} WHERE project = $1 AND is_live = 1 ORDER BY {}, id",
        T::TABLE,
        T::SINCE
    );
    let rows = tx.query(&sql, &[project.to_string().into()], RowLock::None)?;
    rows.iter().map(body).collect()
}

/// Ids in order, for the audit.
pub(crate) fn ids_after<T: Named>(
    tx: &mut Transaction<'_>,
    after: &str,
    limit: u32,
) -> Result<Vec<T::Id>, StoreError> {
    let sql = format!(
        "SELECT id FROM {} WHERE id > $1 ORDER BY id LIMIT $2",
        T::TABLE
    );
    let values = [after.into(), i64::from(limit).into()];
    let rows = tx.query(&sql, &values, RowLock::None)?;
    rows.iter().map(|row| parsed(row, 0)).collect()
}

fn body<T: Named>(row: &Row) -> Result<T, StoreError> {
    from_json(field(row.text(0))?)
}
