//! Whom a signal is meant for.

use serde::{Deserialize, Serialize};

/// Whom a signal is meant for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// The program that was started.
    #[default]
    Agent,
    /// That, and everything that it has started.
    All,
}
