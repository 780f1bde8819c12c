//! Between columns and values: what a field holds and what it means.

use std::fmt::Display;
use std::str::FromStr;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::StoreError;
use crate::sql::{FieldError, Row};

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
