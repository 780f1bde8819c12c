//! Holds above single tasks: everything, a project, a batch.

use handoff_core::hold::{Hold, HoldScope};
use handoff_core::{BatchId, ProjectId};

use crate::column::{field, from_json, json, number, parsed, unsigned};
use crate::error::StoreError;
use crate::sql::{RowLock, Value};
use crate::store::Transaction;

/// The hold on a scope, with the number of its last event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) version: u64,
    pub(crate) hold: Option<Hold>,
}

pub(crate) fn load(tx: &mut Transaction<'_>, scope: HoldScope) -> Result<Held, StoreError> {
    find(tx, scope, RowLock::Wait)
}

/// As [`load`], for whoever changes nothing.
pub(crate) fn look(tx: &mut Transaction<'_>, scope: HoldScope) -> Result<Held, StoreError> {
    find(tx, scope, RowLock::None)
}

fn find(tx: &mut Transaction<'_>, scope: HoldScope, lock: RowLock) -> Result<Held, StoreError> {
    let rows = tx.query(
        "SELECT version, body FROM holds WHERE scope = $1",
        &[scope.to_string().into()],
        lock,
    )?;
    let Some(row) = rows.first() else {
        return Ok(Held::default());
    };
    let hold = field(row.optional_text(1))?.map(from_json).transpose()?;
    Ok(Held {
        version: unsigned(field(row.int(0))?)?,
        hold,
    })
}

pub(crate) fn save(
    tx: &mut Transaction<'_>,
    scope: HoldScope,
    held: &Held,
) -> Result<(), StoreError> {
    let body: Value = held.hold.as_ref().map(json).transpose()?.into();
    tx.execute(
        "INSERT INTO holds (scope, version, body) VALUES ($1, $2, $3) \
         ON CONFLICT (scope) DO UPDATE SET version = excluded.version, body = excluded.body",
        &[scope.to_string().into(), number(held.version)?.into(), body],
    )?;
    Ok(())
}

/// Each scope that was ever held, with what is known of it.
pub(crate) fn all(tx: &mut Transaction<'_>) -> Result<Vec<(HoldScope, Held)>, StoreError> {
    let rows = tx.query("SELECT scope FROM holds ORDER BY scope", &[], RowLock::None)?;
    let mut found = vec![];
    for row in &rows {
        let scope = parsed(row, 0)?;
        found.push((scope, look(tx, scope)?));
    }
    Ok(found)
}

/// The hold in force on one of these scopes, the first that has one.
pub fn in_force(
    tx: &mut Transaction<'_>,
    scopes: &[HoldScope],
) -> Result<Option<(HoldScope, Hold)>, StoreError> {
    for scope in scopes {
        let rows = tx.query(
            "SELECT body FROM holds WHERE scope = $1 AND body IS NOT NULL",
            &[scope.to_string().into()],
            RowLock::None,
        )?;
        if let Some(row) = rows.first() {
            return Ok(Some((*scope, from_json(field(row.text(0))?)?)));
        }
    }
    Ok(None)
}

/// The holds in force on batches of a project.
pub fn of_batches(
    tx: &mut Transaction<'_>,
    project: ProjectId,
) -> Result<Vec<(BatchId, Hold)>, StoreError> {
    let rows = tx.query(
        "SELECT batches.id, holds.body FROM holds JOIN batches ON batches.id = holds.scope \
         WHERE batches.project = $1 AND holds.body IS NOT NULL ORDER BY batches.id",
        &[project.to_string().into()],
        RowLock::None,
    )?;
    rows.iter()
        .map(|row| Ok((parsed(row, 0)?, from_json(field(row.text(1))?)?)))
        .collect()
}
