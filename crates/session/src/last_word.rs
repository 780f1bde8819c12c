//! What a session says last of its task: that it has finished, or that it cannot go on without a person.
//!
//! It says so to its holder, which writes it down: inside a sandbox the ledger is out of reach, and whoever attends to the
//! session reads the journal anyway. It proves nothing.

use handoff_core::task::{Reason, Report};
use serde::{Deserialize, Serialize};

/// The longest of it all: a line of the journal has it.
pub const LONGEST: usize = 256 * 1024;

/// What a session says last of its task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum LastWord {
    /// It has finished.
    Done {
        #[serde(flatten)]
        report: Report,
    },
    /// It needs a person.
    Blocked {
        /// What for.
        reason: Reason,
    },
}
