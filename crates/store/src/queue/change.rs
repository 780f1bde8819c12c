//! What can be asked of the ledger, and what it answers.

use handoff_core::batch::{AdoptedBatch, BatchCommand, Manifest, Opening};
use handoff_core::context::{ContextCommand, Entry, Policy};
use handoff_core::hold::{Hold, HoldScope};
use handoff_core::lease::{Tenure, Term, Ttl};
use handoff_core::package::PackageCommand;
use handoff_core::run::{AdoptedRun, RunCommand, RunSpec};
use handoff_core::task::{AdoptedTask, Command, Reason, TaskSpec, VerifyCommand};
use handoff_core::{
    AgentName, Batch, BatchId, BatchName, Caller, CommitId, ContextEvent, ContextScope,
    Digest as ContentDigest, FeatureEvent, FeatureId, FeatureName, FeatureRecord, Fence, HeadName,
    IdempotencyKey, Moment, Now, PackageId, PackageRecord, ProjectId, RepositoryEvent, Run, RunId,
    RunName, SessionId, Task, TaskId, TaskName, UnseenMove,
};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::column::json;
use crate::error::StoreError;

/// A change, with who asks for it and what makes repeating it harmless.
#[derive(Debug, Clone)]
pub struct Request {
    /// Who asks.
    pub by: Caller,
    /// The same act has the same key.
    pub key: IdempotencyKey,
    /// What is asked.
    pub change: Change,
}

/// Who would work on what is claimed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Agents {
    /// The agent for tasks that ask for none of their own.
    pub usual: Option<AgentName>,
    /// Those that have enough to do.
    pub full: Vec<AgentName>,
}

/// What can be asked.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Change {
    /// Put a task into the queue.
    Add {
        /// Minted by the caller. Not part of what is asked: a repeat brings another one, and gets the first.
        #[serde(skip)]
        id: TaskId,
        /// Where it belongs.
        project: ProjectId,
        /// What it is.
        spec: TaskSpec,
    },
    /// Lease the first ready task of a project.
    ClaimNext {
        /// Which project.
        project: ProjectId,
        /// What is to keep the lease alive.
        tenure: TenureWish,
        /// Who would do it. Not part of what is asked: a repeat gets the same task, whoever is free by then.
        #[serde(skip)]
        agents: Agents,
    },
    /// Lease this task.
    Claim {
        /// Which.
        task: TaskRef,
        /// What is to keep the lease alive.
        tenure: TenureWish,
    },
    /// Tell a task something.
    Tell {
        /// Which.
        task: TaskRef,
        /// What.
        command: Command,
    },
    /// Stop handing out work.
    Hold {
        /// Of what.
        scope: HoldScope,
        /// Why, if they say.
        reason: Option<Reason>,
    },
    /// Hand out work again.
    Unhold {
        /// Of what.
        scope: HoldScope,
    },
    /// Stop handing out work, because it is being paused.
    Pause {
        /// Of what.
        scope: HoldScope,
        /// The package that makes it a pause.
        package: PackageId,
    },
    /// Hand out work again if nobody but this pause keeps it.
    Unpause {
        /// Of what.
        scope: HoldScope,
        /// The package that was to make it one.
        package: PackageId,
    },
    /// Write down what happened to a feature.
    Record {
        /// Minted by the caller, for a feature that the ledger has not heard of yet.
        #[serde(skip)]
        id: FeatureId,
        /// Where it belongs.
        project: ProjectId,
        /// What it is called.
        name: FeatureName,
        /// What happened.
        event: FeatureEvent,
    },
    /// Change a context.
    Context {
        /// Where it belongs.
        project: ProjectId,
        /// Whose.
        scope: ContextScope,
        /// What is asked.
        command: ContextCommand,
    },
    /// Take a package into the ledger whose bytes are durable, or are brought along.
    Seal {
        /// As it begins. Not part of what is asked: a repeat brings another id and another time.
        #[serde(skip)]
        package: Box<PackageRecord>,
        /// What is in it, without id and time.
        content: ContentDigest,
        /// Its bytes, where machines share no directory.
        #[serde(skip)]
        sealed: Option<String>,
        /// What it makes a pause of, if that is held already. Not part of what is asked.
        #[serde(skip)]
        pausing: Option<PauseOf>,
    },
    /// Tell a package something.
    Package {
        /// Which.
        id: PackageId,
        /// What.
        command: PackageCommand,
    },
    /// Take the content of a package into a context, and consume it.
    Receive(Receiving),
    /// Publish a batch with all its tasks, or nothing.
    OpenBatch {
        /// Identities and base. Not part of what is asked: a repeat brings others, and gets the first.
        #[serde(skip)]
        opening: Box<Opening>,
        /// Where it belongs.
        project: ProjectId,
        /// What it is to be.
        manifest: Box<Manifest>,
    },
    /// Tell a batch something.
    Batch {
        /// Which.
        batch: BatchRef,
        /// What.
        command: BatchCommand,
    },
    /// Begin a run, with the task of its first phase.
    BeginRun {
        /// Minted by the caller. Not part of what is asked.
        #[serde(skip)]
        id: RunId,
        /// Where it belongs.
        project: ProjectId,
        /// What it is.
        spec: Box<RunSpec>,
    },
    /// Take over a run that was begun in another store. It waits to be told to go on.
    AdoptRun {
        /// Another one than there: its tasks are named after it.
        id: RunId,
        /// Where it belongs here.
        project: ProjectId,
        /// What is known of it.
        run: Box<AdoptedRun>,
    },
    /// Take over a task that was begun in another store. It is held until its package is received.
    AdoptTask(ArrivingTask),
    /// Take over a batch that was opened in another store, with all its tasks, or nothing. It is held until its package is
    /// received.
    AdoptBatch(ArrivingBatch),
    /// Tell a run something.
    Run {
        /// Which.
        run: RunRef,
        /// What.
        command: RunCommand,
    },
    /// Say that a commit of a branch is good.
    SetBaseline(Proved),
    /// Write down a ref that moved past our hooks.
    NoteMove {
        /// Of which project.
        project: ProjectId,
        /// Which.
        moved: UnseenMove,
    },
}

/// A task that arrives from another store.
#[derive(Debug, Clone, Serialize)]
pub struct ArrivingTask {
    /// Another one than there.
    pub id: TaskId,
    /// Where it belongs here.
    pub project: ProjectId,
    /// What is known of it.
    pub task: Box<AdoptedTask>,
}

/// A batch that arrives from another store.
#[derive(Debug, Clone, Serialize)]
pub struct ArrivingBatch {
    /// Another one than there.
    pub id: BatchId,
    /// Where it belongs here.
    pub project: ProjectId,
    /// What is known of it, under the ids of the store that it comes from.
    pub batch: Box<AdoptedBatch>,
    /// The package that it came with.
    pub package: PackageId,
}

/// What is held for a pause that is not sealed yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PauseOf {
    /// A task.
    Task(TaskId),
    /// A batch.
    Batch(BatchId),
}

/// A commit of a branch that is good.
#[derive(Debug, Clone, Serialize)]
pub struct Proved {
    /// Of which project.
    pub project: ProjectId,
    /// The branch, without `refs/heads/`.
    pub branch: HeadName,
    /// The commit.
    pub commit: CommitId,
    /// The command that proved it, if one did.
    pub command: Option<VerifyCommand>,
}

/// How a caller means a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum RunRef {
    /// By its id.
    Id(RunId),
    /// By its name: the live run that has it, else the newest that ended.
    Named {
        /// Where.
        project: ProjectId,
        /// The name.
        name: RunName,
    },
}

/// How a caller means a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum BatchRef {
    /// By its id.
    Id(BatchId),
    /// By its name: the live batch that has it, else the newest that ended.
    Named {
        /// Where.
        project: ProjectId,
        /// The name.
        name: BatchName,
    },
}

/// A package that is received: all of it or nothing.
#[derive(Debug, Clone, Serialize)]
pub struct Receiving {
    /// Which package.
    pub id: PackageId,
    /// By which claim. Not part of what is asked: a repeat brings another one, and gets the first receipt.
    #[serde(skip)]
    pub fence: Fence,
    /// The project that takes it in.
    pub project: ProjectId,
    /// The context that takes it in.
    pub into: ContextScope,
    /// What becomes of what is there.
    pub policy: Policy,
    /// Its content. Not part of what is asked: the id says it.
    #[serde(skip)]
    pub entries: Vec<Entry>,
}

/// How a caller means a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum TaskRef {
    /// By its id.
    Id(TaskId),
    /// By its name: the live task that has it, else the newest that ended.
    Named {
        /// Where.
        project: ProjectId,
        /// The name.
        name: TaskName,
    },
}

/// What is to keep a lease alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TenureWish {
    /// Heartbeats within this time.
    Timed {
        /// The time.
        ttl: Ttl,
    },
    /// The kernel lock of a session's holder on this machine.
    Anchored {
        /// The session.
        session: SessionId,
    },
}

impl TenureWish {
    pub(crate) fn granted(self, now: &Moment) -> Tenure {
        match self {
            Self::Timed { ttl } => Tenure::Timed(Term::starting(now, ttl.span())),
            Self::Anchored { session } => Tenure::Anchored { session },
        }
    }
}

impl Change {
    /// What makes two requests the same request.
    pub(crate) fn digest(&self) -> Result<String, StoreError> {
        let hash = Sha256::digest(json(self)?);
        Ok(hash[..16]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect())
    }
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The state right after it.
    pub answer: Answer,
    /// When it was answered.
    pub now: Now,
    /// Whether it had been carried out before.
    pub is_repeat: bool,
}

/// The state right after a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The task it was about.
    Task(Box<Task>),
    /// The feature it was about.
    Feature(Box<FeatureRecord>),
    /// The package it was about. One that was to be claimed and turned out to be expired is here too, as that: the refusal
    /// is recorded.
    Package(Box<PackageRecord>),
    /// The batch it was about.
    Batch(Box<Batch>),
    /// The run it was about.
    Run(Box<Run>),
    /// What was changed in a context.
    Context {
        /// Whose.
        scope: ContextScope,
        /// The number of the event; of the last one, if nothing had to be changed.
        version: u64,
        /// What happened; none if it was so already.
        event: Option<ContextEvent>,
    },
    /// The hold it was about.
    Hold {
        /// What is or was held.
        scope: HoldScope,
        /// The hold, if one is in force.
        hold: Option<Hold>,
    },
    /// What is known of a repository now; it may have been known before.
    Repository {
        /// As it was recorded.
        event: RepositoryEvent,
    },
    /// There was nothing to claim.
    NothingReady,
}

impl Answer {
    /// The task, where the answer is one.
    pub fn into_task(self) -> Option<Task> {
        if let Self::Task(task) = self {
            Some(*task)
        } else {
            None
        }
    }

    /// The package, where the answer is one.
    pub fn into_package(self) -> Option<PackageRecord> {
        if let Self::Package(package) = self {
            Some(*package)
        } else {
            None
        }
    }

    /// The batch, where the answer is one.
    pub fn into_batch(self) -> Option<Batch> {
        if let Self::Batch(batch) = self {
            Some(*batch)
        } else {
            None
        }
    }

    /// The run, where the answer is one.
    pub fn into_run(self) -> Option<Run> {
        if let Self::Run(run) = self {
            Some(*run)
        } else {
            None
        }
    }
}
