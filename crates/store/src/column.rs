//! Between columns and values: what a field holds and what it means.

use std::fmt::Display;
use std::str::FromStr;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::StoreError;
use crate::sql::{FieldError, Row, RowLock, Value};
use crate::store::Transaction;

/// A field as the schema promises it.
pub(crate) fn field<T>(value: Result<T, FieldError>) -> Result<T, StoreError> {
    value.map_err(|error| StoreError::Inconsistent(error.to_string()))
}

/// A field with an id or a name.
pub(crate) fn parsed<T: FromStr<Err: Display>>(row: &Row, place: usize) -> Result<T, StoreError> {
    let text = field(row.text(place))?;
    text.parse()
        .map_err(|error| StoreError::Inconsistent(format!("{text:?}: {error}")))
}

/// A count as the database takes it.
pub(crate) fn number(count: u64) -> Result<i64, StoreError> {
    i64::try_from(count).map_err(|error| StoreError::Inconsistent(error.to_string()))
}

/// A count as the database gives it.
pub(crate) fn unsigned(value: i64) -> Result<u64, StoreError> {
    u64::try_from(value).map_err(|error| StoreError::Inconsistent(error.to_string()))
}

/// Whether the row with this id has these fields. The body, which is the last of them, is what they were made from.
pub(crate) fn agree(
    tx: &mut Transaction<'_>,
    (table, columns): (&str, &str),
    id: &str,
    fields: &[Value],
) -> Result<bool, StoreError> {
    let sql = format!("SELECT {columns} FROM {table} WHERE id = $1");
    let rows = tx.query(&sql, &[id.into()], RowLock::None)?;
    let beside = fields.len() - 1;
    Ok(rows
        .first()
        .is_some_and(|row| row.0[..beside] == fields[..beside]))
}

/// A value for a JSON column.
pub(crate) fn json(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Inconsistent(error.to_string()))
}

/// A value from a JSON column.
pub(crate) fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| {
        StoreError::Inconsistent(format!("a stored value cannot be read ({error})"))
    })
}
