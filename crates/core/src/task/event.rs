//! What happened to a task, in past tense.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::gathered::Gathered;
use super::spec::TaskSpec;
use super::state::Ending;
use crate::check_limits::CheckLimit;
use crate::hold::Hold;
use crate::lease::{Lease, Term};
use crate::rest::Rest;
use crate::run::{Cause, Verdict};
use crate::text::{Reason, Summary, VerifyCommand};
use crate::trial::TestName;
use crate::{AgentName, BranchName, CommitId, Fence, JsonText, PackageId, SessionId, TaskId};

/// What happened to a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TaskEvent {
    /// It was put into the queue. The first event of each task, and only that.
    Added {
        /// What was asked for.
        spec: TaskSpec,
    },
    /// Another task that it waited for came to an end.
    DependencyEnded {
        /// Which one.
        task: TaskId,
        /// How.
        ending: Ending,
    },
    /// A part that it brings together is worked on again.
    DependencyReopened {
        /// Which one.
        task: TaskId,
    },
    /// Someone got the right to work on it.
    Claimed {
        /// The right.
        lease: Lease,
    },
    /// A session began to work on it.
    Started {
        /// By which right.
        fence: Fence,
        /// Which session.
        session: SessionId,
        /// Of which agent, where that was known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<AgentName>,
    },
    /// A heartbeat came in time.
    Renewed {
        /// Of which lease.
        fence: Fence,
        /// Its new term.
        term: Term,
    },
    /// The tool recorded a proof.
    Evidenced {
        /// By which right.
        fence: Fence,
        /// Of what.
        evidence: Evidence,
    },
    /// The session said that it had finished.
    Reported {
        /// By which right.
        fence: Fence,
        /// What it said.
        report: Report,
    },
    /// It was given back undone.
    Released {
        /// By which right.
        fence: Fence,
        /// Why, if they said.
        reason: Option<Reason>,
    },
    /// It was given back undone because of trouble that is not its own, and rests.
    PutOff {
        /// By which right.
        fence: Fence,
        /// For how long, and why.
        rest: Rest,
    },
    /// Its lease ran out, or the process that kept it alive died.
    LeaseExpired {
        /// Which lease.
        fence: Fence,
    },
    /// The ledger was put back as a backup has it. A lease is void, and the fences up to this one are left out: what has
    /// happened since the backup is not known, and others may have had them.
    Restored {
        /// The last fence that is left out.
        fence: Fence,
    },
    /// It is done.
    Completed {
        /// By which right; none when a person said so of a task that nobody worked on.
        fence: Option<Fence>,
        /// What was said about it.
        summary: Option<Summary>,
    },
    /// It was tried and did not work.
    Failed {
        /// By which right.
        fence: Option<Fence>,
        /// Why.
        reason: Reason,
    },
    /// It cannot go on without a person.
    Blocked {
        /// By which right.
        fence: Option<Fence>,
        /// What is needed.
        reason: Reason,
    },
    /// It was called off.
    Cancelled {
        /// Why, if they said.
        reason: Option<Reason>,
    },
    /// It was opened again after it had ended without success.
    Retried,
    /// It is not to be handed out.
    Held {
        /// The hold.
        hold: Hold,
    },
    /// It may be handed out again.
    Unheld,
}

impl TaskEvent {
    /// The agent that began to work, if it says so.
    pub const fn agent(&self) -> Option<&AgentName> {
        if let Self::Started { agent, .. } = self {
            agent.as_ref()
        } else {
            None
        }
    }
}

/// What a session says of its work when it has finished. It proves nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Report {
    /// What it did, in its own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    /// What it hands over, for whoever asked for more than words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<JsonText>,
}

/// A proof that the tool itself produced for an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Evidence {
    /// The referee ran a command.
    Verified {
        /// Which.
        command: VerifyCommand,
        /// Its exit code; none when a signal ended it.
        exit_code: Option<i32>,
        /// The bound that it crossed, if it was ended for that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<CheckLimit>,
    },
    /// The work is in a commit.
    Committed {
        /// On which branch.
        branch: BranchName,
        /// Which commit.
        commit: CommitId,
    },
    /// What the next session needs is in a package.
    Sealed {
        /// Which.
        package: PackageId,
        /// SHA-256 of its bytes, in hexadecimal.
        digest: String,
    },
    /// The referee ran a test suite.
    Measured(Measured),
    /// What the session left, as a tree of git: two attempts with the same one are no progress.
    Left {
        /// The tree.
        tree: CommitId,
    },
    /// What kind of failure the referee saw in a phase of a run.
    Refused {
        /// Which.
        cause: Cause,
    },
    /// The agent said how many tokens it used, with those that were read from a cache.
    Used {
        /// How many.
        tokens: u64,
    },
    /// The results of a batch were brought together.
    Gathered(Gathered),
    /// The referee has judged a phase of a run.
    Judged {
        /// What it found.
        verdict: Verdict,
    },
}

impl Evidence {
    /// The commit with the work, if that is what it proves.
    pub const fn commit(&self) -> Option<&CommitId> {
        if let Self::Committed { commit, .. } = self {
            Some(commit)
        } else {
            None
        }
    }

    /// The package, if it is in one.
    pub const fn package(&self) -> Option<PackageId> {
        if let Self::Sealed { package, .. } = self {
            Some(*package)
        } else {
            None
        }
    }

    /// What the referee found in a phase.
    pub const fn verdict(&self) -> Option<&Verdict> {
        if let Self::Judged { verdict } = self {
            Some(verdict)
        } else {
            None
        }
    }

    /// What was brought together.
    pub const fn gathered(&self) -> Option<&Gathered> {
        if let Self::Gathered(gathered) = self {
            Some(gathered)
        } else {
            None
        }
    }

    /// What kind of failure was seen.
    pub const fn refusal(&self) -> Option<Cause> {
        if let Self::Refused { cause } = self {
            Some(*cause)
        } else {
            None
        }
    }

    /// How many tokens were used.
    pub const fn tokens(&self) -> Option<u64> {
        if let Self::Used { tokens } = self {
            Some(*tokens)
        } else {
            None
        }
    }

    /// What the session left.
    pub const fn left(&self) -> Option<&CommitId> {
        if let Self::Left { tree } = self {
            Some(tree)
        } else {
            None
        }
    }
}

/// What a test suite showed, in numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// What ran it.
    pub command: VerifyCommand,
    /// On which commit.
    pub commit: CommitId,
    /// How many passed.
    pub passed: u64,
    /// How many failed.
    pub failed: u64,
    /// How many were skipped.
    pub skipped: u64,
    /// Those that end now so, now so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flaky: Vec<TestName>,
}
