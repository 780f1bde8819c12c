//! What the ledger knows of a feature: not its plan, which is in its documents, but what was proved and where the code
//! stood.

mod check;
mod event;
mod fold;

pub use check::{CheckName, CheckNameError, CheckOutcome, CheckRun, OutputTail};
pub use event::{FeatureEvent, Mark, NoteKind};
pub use fold::HistoryError;

pub use crate::text::StepTitle;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::text::VerifyCommand;
use crate::{Digest, FeatureId, FeatureName, ProjectId, Timestamp};

/// What the ledger knows of a feature: the fold of its events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeatureRecord {
    /// Its identity. A name that is used again after archiving is another feature.
    pub id: FeatureId,
    /// Where it belongs.
    pub project: ProjectId,
    /// What it is called.
    pub name: FeatureName,
    /// Where code and plan stood when a step or a checkpoint was last recorded. Notes and checks say nothing about the
    /// plan as a whole, and do not move it.
    pub mark: Option<Marked>,
    /// The digest of the plan's document as a command left it last.
    pub written_plan: Option<Digest>,
    /// The last run of each check.
    pub checks: BTreeMap<CheckName, Ran>,
    /// The steps that were finished by command, oldest first.
    pub finished: Vec<Finished>,
    /// The last checkpoint, if no step was worked on by command since.
    pub checkpoint: Option<Checkpoint>,
    /// When it was put away, if it was.
    pub archived_at: Option<Timestamp>,
    /// The number of its last event.
    pub version: u64,
}

/// A mark with its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marked {
    /// When.
    pub at: Timestamp,
    /// Where things stood.
    pub mark: Mark,
}

/// A step that was finished by command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finished {
    /// Which.
    pub step: StepTitle,
    /// When.
    pub at: Timestamp,
    /// Where things stood.
    pub mark: Mark,
    /// What had passed on exactly this code.
    pub proved_by: Vec<Proof>,
}

/// A check that had passed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// Which.
    pub check: CheckName,
    /// The command as it was then.
    pub command: VerifyCommand,
    /// When it passed.
    pub at: Timestamp,
}

/// The last run of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ran {
    /// When it was recorded.
    pub at: Timestamp,
    /// What the tool saw.
    pub run: CheckRun,
}

/// Where things stood when a session ended, by its own will or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// When.
    pub at: Timestamp,
    /// The step that was current.
    pub step: Option<StepTitle>,
    /// How much was changed and not committed, in git's words.
    pub changes: String,
    /// Why it was taken, if they said.
    pub reason: Option<crate::task::Reason>,
}
