//! Connecting, and what the server's errors mean.

use std::error::Error;
use std::io;
use std::time::Duration;

use bytes::BytesMut;
use postgres::error::SqlState;
use postgres::types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};
use postgres::{Client, NoTls};

use super::Address;
use crate::error::StoreError;
use crate::sql::{SqlError, SqlErrorKind, Value};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Set for each of our sessions, whatever the server's or the database's defaults are: what is acknowledged is durable,
/// names mean our schema, and nobody waits for a lock for ever. Every statement of ours walks one index, whatever its
/// parameters: planning it anew each time, or compiling it, costs more than running it.
const SETTINGS: &str = "-c synchronous_commit=on -c search_path=handoff -c lock_timeout=30s \
                        -c idle_in_transaction_session_timeout=60s \
                        -c plan_cache_mode=force_generic_plan -c jit=off";

pub(super) fn connect(address: &Address) -> Result<Client, StoreError> {
    let mut config = address.config().clone();
    config
        .application_name("handoff")
        .options(SETTINGS)
        .connect_timeout(CONNECT_TIMEOUT);
    config.connect(NoTls).map_err(|error| {
        StoreError::unavailable(format!("no connection to {address}"), sql_error(error))
    })
}

/// What an error of the message with COMMIT in it means. Behind the commit comes the hint to followers: an error does not say
/// which of them failed, nor does a connection that broke.
pub(super) fn outcome_of_commit(error: postgres::Error) -> StoreError {
    StoreError::OutcomeUnknown {
        cause: sql_error(error),
    }
}

pub(super) fn sql_error(error: postgres::Error) -> SqlError {
    let kind = match error.code() {
        Some(&SqlState::UNIQUE_VIOLATION) => SqlErrorKind::Taken,
        Some(&SqlState::DISK_FULL) => SqlErrorKind::NoSpace,
        Some(&SqlState::DATA_CORRUPTED | &SqlState::INDEX_CORRUPTED) => SqlErrorKind::Damaged,
        Some(
            &SqlState::T_R_SERIALIZATION_FAILURE
            | &SqlState::T_R_DEADLOCK_DETECTED
            | &SqlState::LOCK_NOT_AVAILABLE,
        ) => SqlErrorKind::Busy,
        Some(code) if is_away(code) => SqlErrorKind::Away,
        Some(_) => SqlErrorKind::Other,
        None => without_code(&error),
    };
    SqlError {
        kind,
        source: error.into(),
    }
}

/// What a server says that is full, starting, going down, or has ended our session.
fn is_away(code: &SqlState) -> bool {
    let one_of = [
        SqlState::TOO_MANY_CONNECTIONS,
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        SqlState::IDLE_SESSION_TIMEOUT,
    ];
    // Class 08 is the connection itself.
    one_of.contains(code) || code.code().starts_with("08")
}

/// A server that said nothing: the connection broke, or there was none.
fn without_code(error: &postgres::Error) -> SqlErrorKind {
    if error.is_closed() {
        return SqlErrorKind::Away;
    }
    let causes =
        std::iter::successors(error.source(), |it: &&(dyn Error + 'static)| (*it).source());
    let kind = { causes }.find_map(|it| it.downcast_ref::<io::Error>().map(io::Error::kind));
    match kind {
        Some(io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound) => SqlErrorKind::Absent,
        Some(
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::NotConnected
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::UnexpectedEof
            | io::ErrorKind::TimedOut,
        ) => SqlErrorKind::Away,
        Some(_) | None => SqlErrorKind::Other,
    }
}

impl ToSql for Value {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(number) => number.to_sql(ty, out),
            Self::Text(text) => text.to_sql(ty, out),
            Self::Bytes(bytes) => bytes.to_sql(ty, out),
        }
    }

    accepts!(INT8, TEXT, BYTEA);

    to_sql_checked!();
}

impl<'a> FromSql<'a> for Value {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        if *ty == Type::INT8 {
            i64::from_sql(ty, raw).map(Self::Int)
        } else if *ty == Type::BYTEA {
            Ok(Self::Bytes(raw.to_vec()))
        } else {
            String::from_sql(ty, raw).map(Self::Text)
        }
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self::Null)
    }

    accepts!(INT8, TEXT, BYTEA);
}
