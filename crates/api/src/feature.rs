//! What the commands about the state of a feature say: `status`, `verify`, `trust`, `checkpoint`.

use handoff_core::feature::{CheckOutcome, CheckRun};
use handoff_core::{Timestamp, TreeState};
use schemars::JsonSchema;
use serde::Serialize;

use crate::plan::{PlanDocument, StepDocument};
use crate::project::ProjectDocument;
use crate::task::RestDocument;

/// A state of the code.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TreeDocument {
    /// The branch; none if a commit is checked out.
    pub branch: Option<String>,
    /// The commit; none before the first.
    pub commit: Option<String>,
    /// How many files are not committed.
    pub uncommitted: u32,
    /// A digest of them; none if there are none, or too many or too large ones.
    pub uncommitted_digest: Option<String>,
}

impl From<&TreeState> for TreeDocument {
    fn from(tree: &TreeState) -> Self {
        let digest = tree.dirty.as_ref().and_then(|dirty| dirty.digest.as_ref());
        Self {
            branch: tree.branch.as_ref().map(ToString::to_string),
            commit: tree.commit.as_ref().map(ToString::to_string),
            uncommitted: tree.dirty.as_ref().map_or(0, |dirty| dirty.files),
            uncommitted_digest: digest.map(ToString::to_string),
        }
    }
}

/// What `checkpoint` wrote down.
#[derive(Debug, Serialize)]
pub struct CheckpointDocument {
    /// Of which feature.
    pub feature: String,
    /// The current step.
    pub step: Option<String>,
    /// How much is changed and not committed.
    pub changes: String,
    /// Why it was taken, if they said.
    pub reason: Option<String>,
    /// Where the code stands.
    pub tree: Option<TreeDocument>,
}

impl CheckpointDocument {
    /// The schema of `checkpoint`.
    pub const SCHEMA: &str = "handoff.checkpoint/1";
}

/// A check of the repository.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CheckDocument {
    /// What it is called.
    pub name: String,
    /// The command, for the shell.
    pub command: String,
}

/// What `trust` says.
#[derive(Debug, Serialize)]
pub struct TrustDocument {
    /// Whether these checks may run as they are.
    pub is_trusted: bool,
    /// The digest that stands for them.
    pub digest: String,
    /// The checks.
    pub checks: Vec<CheckDocument>,
}

impl TrustDocument {
    /// The schema of `trust`.
    pub const SCHEMA: &str = "handoff.trust/1";
}

/// What a check is worth now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckStanding {
    /// Never run by handoff as it is.
    NeverRun,
    /// It passed on exactly the code that is there now.
    Passed,
    /// It passed, but on other code.
    Outdated,
    /// It passed, but what is not committed is too large to tell whether it is still the same.
    Unreadable,
    /// It did not pass when it ran last.
    Failed,
}

/// A check with its last run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VerifiedCheck {
    /// The check.
    #[serde(flatten)]
    pub check: CheckDocument,
    /// What it is worth now.
    pub standing: CheckStanding,
    /// Its last run.
    pub last: Option<CheckRunDocument>,
}

/// One run of a check.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CheckRunDocument {
    /// The exit code; none when a signal or the time ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether it took too long.
    pub is_timed_out: bool,
    /// Which bound it crossed, if it was ended for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// How long it took.
    pub took_ms: u64,
    /// The code it ran on; none if that changed meanwhile.
    pub tree: Option<TreeDocument>,
    /// The end of what it printed.
    pub output: String,
}

impl From<&CheckRun> for CheckRunDocument {
    fn from(run: &CheckRun) -> Self {
        let (exit_code, signal) = match run.outcome {
            CheckOutcome::Passed => (Some(0), None),
            CheckOutcome::Failed { code } => (Some(code), None),
            CheckOutcome::Killed { signal } => (None, Some(signal)),
            CheckOutcome::TimedOut | CheckOutcome::OverLimit { .. } => (None, None),
        };
        Self {
            exit_code,
            signal,
            is_timed_out: run.outcome.is_timed_out(),
            limit: run.outcome.limit().map(|it| it.to_string()),
            took_ms: u64::try_from(run.took.as_millis()).unwrap_or(u64::MAX),
            tree: run.tree.as_ref().map(TreeDocument::from),
            output: run.output.as_str().to_owned(),
        }
    }
}

/// What `verify` says.
#[derive(Debug, Serialize)]
pub struct VerifyDocument {
    /// Of which feature.
    pub feature: String,
    /// Whether the checks may run.
    pub is_trusted: bool,
    /// The checks.
    pub checks: Vec<VerifiedCheck>,
}

impl VerifyDocument {
    /// The schema of `verify`.
    pub const SCHEMA: &str = "handoff.verify/1";
}

/// What `status` says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StatusDocument {
    /// Of the feature; without one, its fields are left out.
    #[serde(flatten)]
    pub feature: Option<FeatureStatusDocument>,
    /// What else goes on in the project.
    pub project: ProjectDocument,
    /// What keeps ready tasks of the project waiting, the first to end first.
    pub rests: Vec<RestDocument>,
    /// What could not be found out.
    pub warnings: Vec<String>,
}

/// How far a feature is.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FeatureStatusDocument {
    /// The feature.
    pub feature: String,
    /// Where its plan stands.
    pub plan: PlanDocument,
    /// The steps that cannot go on.
    pub blocked: Vec<StepDocument>,
    /// What else was noted as a blocker.
    pub blockers: Vec<String>,
    /// How far the code has moved since the state was recorded, in a few words.
    pub freshness: String,
    /// Whether the code has not moved at all, and the plan was not edited by hand.
    pub is_current: bool,
    /// Whether the plan was edited since, by hand or by an agent.
    pub is_plan_edited: bool,
    /// When the state was last recorded.
    pub recorded_at: Option<Timestamp>,
    /// Where the code stood then.
    pub recorded: Option<TreeDocument>,
    /// Where it stands now; none without git.
    pub tree: Option<TreeDocument>,
    /// The files that are not committed.
    pub edited: Vec<String>,
    /// What proves the work.
    pub checks: Vec<VerifiedCheck>,
    /// What to do next: a command where there is one, else a sentence.
    pub next: String,
}

impl StatusDocument {
    /// The schema of `status`.
    pub const SCHEMA: &str = "handoff.status/1";
}
