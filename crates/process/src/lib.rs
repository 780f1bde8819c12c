//! The machine we run on: its clocks, its randomness, and the programs we start on it.
//!
//! | module | noun |
//! |---|---|
//! | [`clock`] | the wall clock, and the clocks that leases run on |
//! | [`id`] | fresh ids |
//!
//! Nothing here knows a task, a session or git, and nothing is inherited by what is started here:
//! whoever describes a program says its whole environment. Only what this crate started is ever
//! signalled. This is the only crate with unsafe code, and it has one block of it.

#![warn(missing_docs)]

pub mod clock;
pub mod id;

pub use clock::{ClockError, SystemClock};
pub use id::mint;
