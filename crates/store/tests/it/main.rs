//! The store against real SQLite and real PostgreSQL.

mod contract;
mod fixture;
mod sqlite;
