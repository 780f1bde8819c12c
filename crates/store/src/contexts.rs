//! Context rows: one for each key, and one with their sum, written only by [`crate::queue`] together with the event that explains
//! them.

use std::collections::BTreeMap;

use handoff_core::context::{ContextPattern, ContextRecord, Entry, Totals};
use handoff_core::{ContextKey, ContextScope, ProjectId};

use crate::column::{field, from_json, json, number, parsed, unsigned};
use crate::error::StoreError;
use crate::sql::{Row, RowLock};
use crate::store::Transaction;

/// The sum of a context.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sum {
    pub(crate) version: u64,
    pub(crate) totals: Totals,
}

/// The sum of a context, locked for a change. One that was never written to is made first, so that two first writers wait for
/// each other.
pub(crate) fn lock(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    scope: ContextScope,
) -> Result<Sum, StoreError> {
    tx.execute(
        "INSERT INTO contexts (scope, project, version, keys, bytes) VALUES ($1, $2, 0, 0, 0) \
         ON CONFLICT (scope) DO NOTHING",
        &[scope.to_string().into(), project.to_string().into()],
    )?;
    let rows = tx.query(
        "SELECT version, keys, bytes FROM contexts WHERE scope = $1",
        &[scope.to_string().into()],
        RowLock::Wait,
    )?;
    rows.first().map_or_else(|| Ok(Sum::default()), sum)
}

fn sum(row: &Row) -> Result<Sum, StoreError> {
    let count = |place| unsigned(field(row.int(place))?);
    let size = |place| Ok::<_, StoreError>(usize::try_from(count(place)?).unwrap_or(usize::MAX));
    let totals = Totals {
        keys: size(1)?,
        bytes: size(2)?,
    };
    Ok(Sum {
        version: count(0)?,
        totals,
    })
}

pub(crate) fn save(
    tx: &mut Transaction<'_>,
    scope: ContextScope,
    sum: Sum,
) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE contexts SET version = $1, keys = $2, bytes = $3 WHERE scope = $4",
        &[
            number(sum.version)?.into(),
            number(sum.totals.keys as u64)?.into(),
            number(sum.totals.bytes as u64)?.into(),
            scope.to_string().into(),
        ],
    )?;
    Ok(())
}

pub(crate) fn write(
    tx: &mut Transaction<'_>,
    scope: ContextScope,
    version: u64,
    entry: &Entry,
) -> Result<(), StoreError> {
    tx.execute(
        "INSERT INTO context_entries (scope, key, version, body) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (scope, key) DO UPDATE SET version = excluded.version, body = excluded.body",
        &[
            scope.to_string().into(),
            entry.key.as_str().into(),
            number(version)?.into(),
            json(entry)?.into(),
        ],
    )?;
    Ok(())
}

pub(crate) fn remove(
    tx: &mut Transaction<'_>,
    scope: ContextScope,
    key: &ContextKey,
) -> Result<(), StoreError> {
    tx.execute(
        "DELETE FROM context_entries WHERE scope = $1 AND key = $2",
        &[scope.to_string().into(), key.as_str().into()],
    )?;
    Ok(())
}

/// A value with its version.
pub fn get(
    tx: &mut Transaction<'_>,
    scope: ContextScope,
    key: &ContextKey,
) -> Result<Option<(u64, Entry)>, StoreError> {
    let rows = tx.query(
        "SELECT version, body FROM context_entries WHERE scope = $1 AND key = $2",
        &[scope.to_string().into(), key.as_str().into()],
        RowLock::None,
    )?;
    rows.first().map(entry).transpose()
}

fn entry(row: &Row) -> Result<(u64, Entry), StoreError> {
    let version = unsigned(field(row.int(0))?)?;
    Ok((version, from_json(field(row.text(1))?)?))
}

/// The values whose key matches, in order of their keys.
pub fn matching(
    tx: &mut Transaction<'_>,
    scope: ContextScope,
    pattern: Option<&ContextPattern>,
) -> Result<BTreeMap<ContextKey, (u64, Entry)>, StoreError> {
    let rows = tx.query(
        "SELECT version, body FROM context_entries WHERE scope = $1",
        &[scope.to_string().into()],
        RowLock::None,
    )?;
    let mut found = BTreeMap::new();
    for row in &rows {
        let (version, entry) = entry(row)?;
        if pattern.is_none_or(|pattern| pattern.matches(&entry.key)) {
            found.insert(entry.key.clone(), (version, entry));
        }
    }
    Ok(found)
}

/// All of a context, as its rows have it.
pub fn whole(tx: &mut Transaction<'_>, scope: ContextScope) -> Result<ContextRecord, StoreError> {
    let rows = tx.query(
        "SELECT version, keys, bytes FROM contexts WHERE scope = $1",
        &[scope.to_string().into()],
        RowLock::None,
    )?;
    let sum = rows.first().map(sum).transpose()?.unwrap_or_default();
    Ok(ContextRecord {
        scope,
        entries: matching(tx, scope, None)?,
        version: sum.version,
    })
}

/// Scopes in order, for the audit.
pub(crate) fn scopes_after(
    tx: &mut Transaction<'_>,
    after: &str,
    limit: u32,
) -> Result<Vec<ContextScope>, StoreError> {
    let rows = tx.query(
        "SELECT scope FROM contexts WHERE scope > $1 ORDER BY scope LIMIT $2",
        &[after.into(), i64::from(limit).into()],
        RowLock::None,
    )?;
    rows.iter().map(|row| parsed(row, 0)).collect()
}
