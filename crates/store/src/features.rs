//! Feature rows: what is known of each feature, written only by [`crate::queue`] together with the event that explains it.

use handoff_core::{FeatureId, FeatureName, FeatureRecord, ProjectId};

use crate::column::{self, field, from_json, json, number};
use crate::error::StoreError;
use crate::sql::{RowLock, Value};
use crate::store::Transaction;

const COLUMNS: &str = "id, project, name, is_live, version, body";

/// Whether the columns beside the body say what it says.
pub(crate) fn is_row_of(
    tx: &mut Transaction<'_>,
    feature: &FeatureRecord,
) -> Result<bool, StoreError> {
    column::agree(
        tx,
        ("features", COLUMNS),
        &feature.id.to_string(),
        &fields(feature)?,
    )
}

fn fields(feature: &FeatureRecord) -> Result<Vec<Value>, StoreError> {
    let mut values: Vec<Value> = vec![
        feature.id.to_string().into(),
        feature.project.to_string().into(),
        feature.name.as_str().into(),
    ];
    values.extend(moving_columns(feature)?);
    Ok(values)
}

pub(crate) fn insert(tx: &mut Transaction<'_>, feature: &FeatureRecord) -> Result<(), StoreError> {
    let sql = format!("INSERT INTO features ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6)");
    tx.execute(&sql, &fields(feature)?)?;
    Ok(())
}

/// Replaces the row that had version `from`.
pub(crate) fn update(
    tx: &mut Transaction<'_>,
    feature: &FeatureRecord,
    from: u64,
) -> Result<(), StoreError> {
    let mut values = moving_columns(feature)?;
    values.extend([feature.id.to_string().into(), number(from)?.into()]);
    let changed = tx.execute(
        "UPDATE features SET is_live = $1, version = $2, body = $3 WHERE id = $4 AND version = $5",
        &values,
    )?;
    match changed {
        1 => Ok(()),
        _ => Err(StoreError::Inconsistent(format!(
            "{} changed under our lock",
            feature.id
        ))),
    }
}

fn moving_columns(feature: &FeatureRecord) -> Result<Vec<Value>, StoreError> {
    Ok(vec![
        feature.archived_at.is_none().into(),
        number(feature.version)?.into(),
        json(feature)?.into(),
    ])
}

/// The feature that has this name now, locked for a change.
pub(crate) fn lock(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    name: &FeatureName,
) -> Result<Option<FeatureRecord>, StoreError> {
    live(tx, project, name, RowLock::Wait)
}

/// What is known of the feature that has this name now.
pub fn named(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    name: &FeatureName,
) -> Result<Option<FeatureRecord>, StoreError> {
    live(tx, project, name, RowLock::None)
}

fn live(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    name: &FeatureName,
    lock: RowLock,
) -> Result<Option<FeatureRecord>, StoreError> {
    let rows = tx.query(
        "SELECT body FROM features WHERE project = $1 AND name = $2 AND is_live = 1",
        &[project.to_string().into(), name.as_str().into()],
        lock,
    )?;
    let body = rows.first().map(|row| field(row.text(0))).transpose()?;
    body.map(from_json).transpose()
}

/// The feature with this id.
pub fn get(tx: &mut Transaction<'_>, id: FeatureId) -> Result<FeatureRecord, StoreError> {
    let rows = tx.query(
        "SELECT body FROM features WHERE id = $1",
        &[id.to_string().into()],
        RowLock::None,
    )?;
    let row = rows.first().ok_or_else(|| StoreError::NotFound {
        what: format!("feature {id}"),
    })?;
    from_json(field(row.text(0))?)
}

/// Ids in order, for the audit.
pub(crate) fn ids_after(
    tx: &mut Transaction<'_>,
    after: &str,
    limit: u32,
) -> Result<Vec<FeatureId>, StoreError> {
    let rows = tx.query(
        "SELECT id FROM features WHERE id > $1 ORDER BY id LIMIT $2",
        &[after.into(), i64::from(limit).into()],
        RowLock::None,
    )?;
    rows.iter()
        .map(|row| crate::column::parsed(row, 0))
        .collect()
}
