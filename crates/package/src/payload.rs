//! What is in a package. The names of the fields are those of the Handoff Protocol where it has one.

mod batch;
mod claim;
mod context;
mod run;
mod session;

pub use batch::{BatchState, PausedPart};
pub use claim::{Claim, Probe};
pub use context::{ContextEntry, EntryMetadata, SerializedContext};
pub use run::{PausedRun, ProvedPhase};
pub use session::SessionState;

use std::collections::BTreeSet;

use handoff_core::batch::AdoptedBatch;
use handoff_core::context::ContextKey;
use handoff_core::package::{Actor, Label, PhaseName, PipelineVersion, ResumePoint, SubjectId};
use handoff_core::task::{AdoptedTask, Brief, Evidence, Reason, Summary, VerifyCommand};
use handoff_core::{Digest, Fence, TaskName, TreeState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A package: what stands on it, and what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// What stands on it.
    pub label: Label,
    /// What is in it.
    pub payload: Payload,
}

impl Package {
    /// Whether its content comes from a file without a seal. Packages of older versions say so by `foreignId` only.
    #[must_use]
    pub const fn is_foreign(&self) -> bool {
        self.label.provenance.is_some() || self.payload.metadata.foreign_id.is_some()
    }
}

/// What is in a package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Payload {
    /// The shared context.
    pub context: SerializedContext,
    /// Where the work stands, and where it goes on.
    pub checkpoint: Option<Checkpoint>,
    /// How it came to be.
    pub metadata: Metadata,
    /// Where the code stood.
    pub tree: Option<TreeState>,
    /// What people call the task.
    pub task_name: Option<TaskName>,
    /// Under which lease of the task it was sealed.
    pub fence: Option<Fence>,
    /// The task that was paused, for a store that does not know it.
    pub task: Option<AdoptedTask>,
    /// What the session was asked to do.
    pub brief: Option<Brief>,
    /// What it says it did: a claim.
    pub summary: Option<Summary>,
    /// The session that was paused.
    pub session: Option<SessionState>,
    /// The batch that was paused.
    pub batch: Option<BatchState>,
    /// The run of a workflow that was paused.
    pub run: Option<PausedRun>,
    /// What was decided, and why.
    pub decisions: Vec<Reason>,
    /// What was tried and does not work.
    pub dead_ends: Vec<Reason>,
    /// What the tool itself saw to be true.
    pub proofs: Vec<Evidence>,
    /// What is said to be true, with how to find out.
    pub claims: Vec<Claim>,
    /// The keys without which nobody can go on.
    pub required: Vec<ContextKey>,
    /// Files, by their content.
    pub attachments: Vec<Attachment>,
}

/// Where the work stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Checkpoint {
    /// In which phase.
    pub phase: PhaseName,
    /// At which step of it.
    pub step: u32,
    /// Of how many.
    pub total_steps: u32,
    /// Why it stopped there.
    pub status: CheckpointStatus,
    /// Where to go on.
    pub resume_point: ResumePoint,
}

/// Why the work stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckpointStatus {
    /// Somebody paused it.
    Paused,
    /// It is done.
    Completed,
    /// It went wrong.
    Error,
}

impl CheckpointStatus {
    /// Its word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Paused => "paused",
            Self::Completed => "completed",
            Self::Error => "error",
        }
    }
}

/// How a package came to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Metadata {
    /// The version of what is in it.
    pub version: PayloadVersion,
    /// The version of the pipeline it comes from.
    pub pipeline_version: Option<PipelineVersion>,
    /// Who made it.
    pub created_by: Actor,
    /// Why.
    pub reason: Reason,
    /// What it was called where it comes from, if it was brought here without a seal.
    pub foreign_id: Option<SubjectId>,
}

/// The one version of the payload that there is. Another one is refused when it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum PayloadVersion {
    /// The first.
    #[default]
    #[serde(rename = "1.0")]
    One,
}

/// A file that goes with a package. Its bytes lie elsewhere, under their digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attachment {
    /// What it was called: to be shown, never a path to write to.
    pub name: SubjectId,
    /// Of its content.
    pub sha256: Digest,
    /// How long it is.
    pub size: u64,
}

/// The most attachments, claims, decisions or dead ends.
pub const MOST: usize = 1_000;
/// The longest attachment, in bytes.
pub const ATTACHMENT_LIMIT: u64 = 4 * 1024 * 1024 * 1024;

/// What is in a package does not fit together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContentError {
    /// The context is not the one that its checksum is of.
    #[error("the context does not match its checksum")]
    Checksum,
    /// The context is not as long as it says.
    #[error("the context has {found} bytes instead of {announced}")]
    Size {
        /// What it says.
        announced: usize,
        /// What it has.
        found: usize,
    },
    /// A key is there twice.
    #[error("the key `{0}` is there twice")]
    Twice(ContextKey),
    /// What nobody can go on without is not there.
    #[error("the context lacks {}", in_words(.0))]
    Missing(Vec<ContextKey>),
    /// More than any package has.
    #[error("there are {count} {what}; the limit is {MOST}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many.
        count: usize,
    },
    /// An attachment that nobody could carry.
    #[error("the attachment `{0}` is longer than {ATTACHMENT_LIMIT} bytes")]
    Attachment(SubjectId),
    /// A step that the phase has not.
    #[error("step {step} of {total} is no step")]
    Step {
        /// Which.
        step: u32,
        /// Of how many.
        total: u32,
    },
}

fn in_words(keys: &[ContextKey]) -> String {
    let names: Vec<_> = keys.iter().map(|key| format!("`{key}`")).collect();
    names.join(", ")
}

impl Payload {
    /// Whether somebody said something to whoever goes on.
    #[must_use]
    pub const fn has_words(&self) -> bool {
        self.summary.is_some() || !self.decisions.is_empty() || !self.dead_ends.is_empty()
    }

    /// Whether everything in it fits together: the same check before sealing and after opening.
    pub fn check(&self) -> Result<(), ContentError> {
        self.context.check()?;
        let missing = self.missing();
        if !missing.is_empty() {
            return Err(ContentError::Missing(missing));
        }
        for (what, count) in [
            ("attachments", self.attachments.len()),
            ("claims", self.claims.len()),
            ("decisions", self.decisions.len()),
            ("dead ends", self.dead_ends.len()),
        ] {
            if count > MOST {
                return Err(ContentError::TooMany { what, count });
            }
        }
        if let Some(large) = self
            .attachments
            .iter()
            .find(|it| it.size > ATTACHMENT_LIMIT)
        {
            return Err(ContentError::Attachment(large.name.clone()));
        }
        self.checkpoint.as_ref().map_or(Ok(()), Checkpoint::check)
    }

    /// What would be run, where it goes on, to prove the work that is left.
    #[must_use]
    pub fn commands(&self) -> BTreeSet<&VerifyCommand> {
        let whole = self.batch.as_ref().and_then(|it| it.whole.as_ref());
        let of_task = self.task.as_ref().and_then(|it| it.spec.verify.as_ref());
        let of_batch = whole.map(AdoptedBatch::commands).unwrap_or_default();
        of_batch.into_iter().chain(of_task).collect()
    }

    /// The required keys that are not there.
    fn missing(&self) -> Vec<ContextKey> {
        let there: BTreeSet<_> = self.context.entries.iter().map(|it| &it.key).collect();
        let missing = self.required.iter().filter(|key| !there.contains(key));
        missing.cloned().collect()
    }
}

impl Checkpoint {
    fn check(&self) -> Result<(), ContentError> {
        let (step, total) = (self.step, self.total_steps);
        if step > total {
            return Err(ContentError::Step { step, total });
        }
        Ok(())
    }
}
