//! The ledger and the queue, on embedded SQLite or on a PostgreSQL server.
//!
//! Three layers, each with one job:
//!
//! - [`sqlite`] and [`postgres`] know how to run one statement and one durable transaction: clock, locks,
//!   migrations, what an error means, how to wait for a change. Nothing else differs between them.
//! - One module a noun ([`tasks`], [`batches`], [`runs`], [`events`], [`holds`], [`packages`], [`contexts`], [`repositories`]) has its SQL, written once for both.
//! - [`queue::submit`] is the one way to change anything; [`read`] with the functions of the nouns is
//!   the way to look. Only [`blobs`] are written otherwise: they are content under its own digest, and mean nothing before a
//!   package names them.
//!
//! Rows change only together with their event, in one transaction, and only as `handoff-core` decides.
//! This crate decides nothing about tasks, opens no repository and starts no process.

pub mod audit;
pub mod batches;
pub mod blobs;
mod column;
pub mod contexts;
mod error;
pub mod events;
pub mod features;
mod high_water;
pub mod holds;
mod migration;
mod named_rows;
pub mod packages;
pub mod postgres;
pub mod queue;
pub mod repositories;
pub mod runs;
mod sql;
pub mod sqlite;
mod store;
pub mod tasks;

pub use error::StoreError;
pub use store::{Bell, Mode, Ring, Store, StoreInfo, StoreKind, Transaction, read};
