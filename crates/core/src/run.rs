//! The run: one execution of a workflow, from its first phase to its end.
//!
//! ```text
//!  begin ─► Working ──── proved, next phase ────┐
//!             ▲ │ ▲ ◄────────────────────────────┘
//!             │ │ └── approve, reject ── Gated ◄── proved, and a person must agree
//!             │ ├──── proved, fan-out ──► FannedOut ── joined ──► Working
//!             │ ├──── refused too often, no progress, blocked ──► Stopped ── retry ──► Working
//!             │ └──── pause ──► Paused ── resume ──► Working
//!             └──────── refused: the same phase again
//!                        (Done from Working and Gated, Cancelled from anywhere)
//! ```
//!
//! Each attempt at a phase is a task of its own. A run decides nothing about its tasks while they are worked on; when one has ended
//! it follows ([`Run::follow`]), in the same transaction; and so it hears of the batch that it waits for ([`Run::hear`]). So there is always exactly one task at work, or none, and a crash
//! between two phases cannot be: there is no moment between them.

mod adoption;
mod cause;
mod command;
mod event;
mod fan_out;
mod fold;
mod follow;
#[cfg(test)]
mod simulation;
mod spec;

pub use adoption::AdoptedRun;
pub use cause::{Cause, Policy};
pub use command::{RunCommand, RunRefusal};
pub use event::{ChangeKind, RunEvent, Verdict, Weaker};
pub use fold::HistoryError;
pub use spec::{Attempt, Refused, Run, RunSpec, RunState, Step, Used};
