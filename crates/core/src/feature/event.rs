//! What happened to a feature, in past tense.

use serde::{Deserialize, Serialize};

use super::check::CheckRun;
use crate::text::{Reason, StepTitle};
use crate::{Digest, FeatureName, TreeState};

/// Where code and plan stood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The code.
    pub tree: TreeState,
    /// The digest of the plan's document as it was left; none if there was none.
    pub plan: Option<Digest>,
}

/// What a note is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteKind {
    /// Anything worth knowing.
    Note,
    /// What was tried and does not work.
    DeadEnd,
    /// What keeps the work from going on.
    Blocker,
    /// What nobody has answered yet.
    Question,
    /// A file that matters.
    File,
}

/// What happened to a feature. Everything but the first and the last carries where things stood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FeatureEvent {
    /// The ledger heard of it for the first time. The first event of each feature, and only that.
    Begun {
        /// What it is called.
        name: FeatureName,
    },
    /// A step became the current one.
    StepStarted {
        /// Which.
        step: StepTitle,
        /// Where things stood.
        mark: Mark,
    },
    /// A step was said to be done.
    StepFinished {
        /// Which.
        step: StepTitle,
        /// Where things stood.
        mark: Mark,
    },
    /// A step cannot go on.
    StepBlocked {
        /// Which.
        step: StepTitle,
        /// Why.
        reason: Reason,
        /// Where things stood.
        mark: Mark,
    },
    /// A step was put into the plan.
    StepAdded {
        /// Which.
        step: StepTitle,
        /// Where things stood.
        mark: Mark,
    },
    /// Something was written down for the next session.
    Noted {
        /// What kind of thing.
        kind: NoteKind,
        /// The text.
        text: Reason,
        /// Where things stood.
        mark: Mark,
    },
    /// Something was decided.
    Decided {
        /// What.
        decision: Reason,
        /// Why.
        because: Reason,
        /// Where things stood.
        mark: Mark,
    },
    /// The tool ran a check.
    Checked {
        /// What it saw.
        run: CheckRun,
        /// Where things stood.
        mark: Mark,
    },
    /// Where things stood was written down without anyone's help.
    Checkpointed {
        /// The step that was current.
        step: Option<StepTitle>,
        /// How much was changed and not committed, in git's words.
        changes: String,
        /// Why, if they said.
        reason: Option<Reason>,
        /// Where things stood.
        mark: Mark,
    },
    /// It was put away.
    Archived,
}
