//! One statement on either engine.
//!
//! Statements are written once. They number their parameters `$1`, `$2` … in the order of first appearance: PostgreSQL
//! means the number, SQLite takes each as a name and binds by order, and so both agree. Integers are
//! 64 bits, pieces of files are bytes, everything else is text; neither engine's richer types are worth two versions of a query.

use std::error::Error;
use std::fmt;

use handoff_core::time::Moment;

/// A parameter or a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// NULL.
    Null,
    /// A whole number, or a yes/no as 1/0.
    Int(i64),
    /// Text, JSON included.
    Text(String),
    /// A piece of a file.
    Bytes(Vec<u8>),
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<bool> for Value {
    fn from(yes: bool) -> Self {
        Self::Int(i64::from(yes))
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<u8>> for Value {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// One row of an answer.
#[derive(Debug, Clone)]
pub(crate) struct Row(pub(crate) Vec<Value>);

/// A field that is not what the schema says.
#[derive(Debug, thiserror::Error)]
#[error("field {place} is {found:?}")]
pub(crate) struct FieldError {
    place: usize,
    found: Value,
}

impl Row {
    /// Field `place` as a number.
    pub(crate) fn int(&self, place: usize) -> Result<i64, FieldError> {
        match &self.0[place] {
            Value::Int(number) => Ok(*number),
            found @ (Value::Null | Value::Text(_) | Value::Bytes(_)) => Err(FieldError {
                place,
                found: found.clone(),
            }),
        }
    }

    /// Field `place` as text.
    pub(crate) fn text(&self, place: usize) -> Result<&str, FieldError> {
        match &self.0[place] {
            Value::Text(text) => Ok(text),
            found @ (Value::Null | Value::Int(_) | Value::Bytes(_)) => Err(FieldError {
                place,
                found: found.clone(),
            }),
        }
    }

    /// Field `place` as bytes.
    pub(crate) fn into_bytes(mut self, place: usize) -> Result<Vec<u8>, FieldError> {
        match self.0.swap_remove(place) {
            Value::Bytes(bytes) => Ok(bytes),
            found @ (Value::Null | Value::Int(_) | Value::Text(_)) => {
                Err(FieldError { place, found })
            }
        }
    }

    /// Field `place` as text that may be missing.
    pub(crate) fn optional_text(&self, place: usize) -> Result<Option<&str>, FieldError> {
        if self.0[place] == Value::Null {
            Ok(None)
        } else {
            self.text(place).map(Some)
        }
    }
}

/// What to do about rows that another transaction has locked. SQLite has one writer at a time and
/// need not ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowLock {
    /// Only look.
    None,
    /// Wait for them and lock them.
    Wait,
    /// Leave them out, lock the rest.
    Skip,
}

/// A statement that changes rows, with its parameters.
#[derive(Debug, Clone)]
pub(crate) struct Act {
    pub(crate) sql: String,
    pub(crate) values: Vec<Value>,
}

/// What both engines can do inside a transaction.
pub(crate) trait Sql {
    /// Runs a statement and says how many rows it changed.
    fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64, SqlError>;

    /// Runs statements none of which looks at what another changes, and says how many rows each changed. Over
    /// a connection it costs one message.
    fn execute_all(&mut self, acts: &[Act]) -> Result<Vec<u64>, SqlError> {
        acts.iter()
            .map(|act| self.execute(&act.sql, &act.values))
            .collect()
    }

    /// Runs a query.
    fn query(&mut self, sql: &str, values: &[Value], lock: RowLock) -> Result<Vec<Row>, SqlError>;

    /// Makes claimers of one project that look at each other's ownership stand in line until this transaction
    /// ends; with a single writer they already do.
    fn line_up(&mut self, project: &str) -> Result<(), SqlError>;

    /// The clock as it was read under the lock that was last waited for. `None` where a transaction reads its clock after its
    /// only lock, or has taken no lock since it began.
    fn moment_under_lock(&self) -> Option<Moment> {
        None
    }

    /// How a follower finds the events after a cursor.
    fn following(&self) -> &'static Following;

    /// The first transaction that may still be running. What is read after asking has everything that the ones before
    /// it wrote.
    fn horizon(&mut self) -> Result<i64, SqlError>;
}

/// The fragments in which engines differ when a ledger is followed.
pub(crate) struct Following {
    /// The column with the transaction of an event.
    pub(crate) transaction: &'static str,
    /// Holds for events after the cursor (`$1` transaction, `$2` position) and before the horizon (`$3`).
    pub(crate) after: &'static str,
    /// The order to read in.
    pub(crate) order: &'static str,
    /// The same, newest first.
    pub(crate) newest_first: &'static str,
    /// What a new event of the stream at `$STREAM` has in that column, where it has to be said.
    pub(crate) number: Option<&'static str>,
}

/// What a database said no with.
#[derive(Debug)]
pub struct SqlError {
    pub(crate) kind: SqlErrorKind,
    pub(crate) source: Box<dyn Error + Send + Sync>,
}

/// What follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SqlErrorKind {
    /// A unique value is there already.
    Taken,
    /// Others were in the way for too long; trying again may help.
    Busy,
    /// The server takes no connection at the moment, or has ended ours: what had not been committed is undone.
    Away,
    /// Nobody answers where the server should be.
    Absent,
    /// The disk or the quota is full.
    NoSpace,
    /// The file is not a sound database.
    Damaged,
    /// Anything else.
    Other,
}

impl SqlError {
    pub(crate) fn other(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            kind: SqlErrorKind::Other,
            source: source.into(),
        }
    }
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.source, f)
    }
}

impl Error for SqlError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.source()
    }
}
