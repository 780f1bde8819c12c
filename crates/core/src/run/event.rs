//! What happens to a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cause::Cause;
use super::spec::RunSpec;
use crate::batch::ManifestText;
use crate::task::Reason;
use crate::trial::TestName;
use crate::workflow::Outcome;
use crate::{BatchId, CommitId, PhaseName, TaskId, Timestamp};

/// What happened to a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RunEvent {
    /// It began. The first event of each run, and only that.
    Begun {
        /// What it is.
        spec: Box<RunSpec>,
    },
    /// A task was added for a phase.
    Opened {
        /// Which phase.
        phase: PhaseName,
        /// The task.
        task: TaskId,
    },
    /// It waits for the results of a batch, into which its phase was split; also once more, after somebody stopped it.
    FannedOut {
        /// Which phase.
        phase: PhaseName,
        /// The batch.
        batch: BatchId,
    },
    /// A phase was proved; or the results of its batch, which the verdict names.
    Proved {
        /// Which phase.
        phase: PhaseName,
        /// The task that it was.
        task: TaskId,
        /// What the referee found.
        verdict: Verdict,
    },
    /// An attempt was not accepted.
    Refused {
        /// The task that it was.
        task: TaskId,
        /// What kind of failure it was.
        #[serde(default = "Cause::unsaid")]
        cause: Cause,
        /// Why.
        reason: Reason,
        /// What the session left, if that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        left: Option<CommitId>,
    },
    /// A person must agree before it goes on.
    Gated {
        /// Until when they can.
        until: Timestamp,
    },
    /// A person agreed.
    Approved,
    /// A person did not: the phase is undone.
    Rejected {
        /// Why.
        reason: Reason,
    },
    /// It cannot go on by itself.
    Stopped {
        /// What kind of failure it was.
        #[serde(default = "Cause::unsaid")]
        cause: Cause,
        /// Why.
        reason: Reason,
    },
    /// The session of a phase used up tokens.
    Spent {
        /// The task that it was.
        task: TaskId,
        /// How many, with those that were read from a cache.
        tokens: u64,
    },
    /// A person stopped it for a while.
    Paused,
    /// It was told to go on.
    Resumed,
    /// It begins again with a phase; what was proved from there on is undone.
    Rewound {
        /// Which phase.
        phase: PhaseName,
        /// How many proofs are left.
        steps: u64,
    },
    /// It came to its end.
    Ended,
    /// It was called off.
    Cancelled {
        /// Why, if they said.
        reason: Option<Reason>,
    },
}

/// What the referee found in what a session left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// What the phase came to.
    pub outcome: Outcome,
    /// The commit that is proved.
    pub commit: CommitId,
    /// The line of the test list that it is about, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// The test that it is about, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<TestName>,
    /// How many tests passed, failed and were skipped, if they ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<(u64, u64, u64)>,
    /// The batch that comes next, as its session described it and the referee read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<ManifestText>,
    /// The batch whose results these are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<BatchId>,
    /// Why the proof is a weaker one, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weaker: Option<Weaker>,
    /// What kind of change the plan is about, if it said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ChangeKind>,
    /// Tests that were there before and are to ask for something else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alters: Vec<TestName>,
}

/// What kind of change a cycle is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// Something that was not there.
    New,
    /// Something that was to be there and was not.
    Fix,
    /// Something that was there and is to be otherwise.
    Change,
    /// The same in another form.
    Restructure,
}

/// Why a proof shows less than others of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Weaker {
    /// Tests share their files with code, so that they could not be laid over it as they were: that they stayed is told from their
    /// text, which code beside them can give another meaning.
    InlineTests,
}

impl Weaker {
    /// The word for it, the same in every output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::InlineTests => "inline tests",
        }
    }
}

impl Verdict {
    /// That a commit is proved, and what it came to; nothing else is known.
    pub const fn of(outcome: Outcome, commit: CommitId) -> Self {
        Self {
            outcome,
            commit,
            item: None,
            test: None,
            tests: None,
            manifest: None,
            batch: None,
            weaker: None,
            kind: None,
            alters: vec![],
        }
    }
}
