//! What of a batch is in its result, as the tool brought it together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CommitId, PartName};

/// The results of a batch, brought together before anybody judged what is left over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gathered {
    /// The commit with everything that is in.
    pub tip: CommitId,
    /// The parts whose work is in it, in order.
    pub parts: Vec<PartName>,
    /// The parts whose work is not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
}

/// A part whose work is not in the result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// Which.
    pub part: PartName,
    /// Why.
    pub why: Omission,
}

/// Why the work of a part is not in a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Omission {
    /// It changes the same lines as a part that is in.
    Conflict,
    /// The check of the fan-in fails with it.
    FailedCheck,
    /// It is built on one with which the check fails.
    BuiltOnFailed,
    /// It did not end well.
    NotDone,
}

impl Omission {
    /// The same for people.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Conflict => "it conflicts with others",
            Self::FailedCheck => "the check fails with it",
            Self::BuiltOnFailed => "it is built on one with which the check fails",
            Self::NotDone => "it is not done",
        }
    }
}

impl Gathered {
    /// What is left out, for people; nothing if everything is in.
    pub fn omissions(&self) -> Option<String> {
        let told = self.left_out.iter();
        let told: Vec<_> = told
            .map(|it| format!("{} ({})", it.part, it.why.text()))
            .collect();
        (!told.is_empty()).then(|| told.join(", "))
    }
}
