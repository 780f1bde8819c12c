//! The store against real SQLite and real PostgreSQL.

#![expect(
    clippy::unwrap_used,
    reason = "clippy knows only test functions as tests, not what they share"
)]

mod contract;
mod fixture;
mod lock_waits;
mod proxy;
mod server_away;
mod sqlite;
