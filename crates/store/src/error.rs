//! What can go wrong with a store, by what a caller can do about it.

use std::path::PathBuf;

use handoff_core::batch::BatchRefusal;
use handoff_core::caller::Forbidden;
use handoff_core::context::ContextRefusal;
use handoff_core::ownership::Overlap;
use handoff_core::package::PackageRefusal;
use handoff_core::run::RunRefusal;
use handoff_core::task::Refusal;
use handoff_core::{
    BatchId, BatchName, ContextScope, HoldScope, IdempotencyKey, PackageId, RunId, RunName, TaskId,
    TaskName,
};

use crate::sql::{SqlError, SqlErrorKind};

/// Why a store did not do what it was asked.
///
/// All but [`StoreError::OutcomeUnknown`] mean that nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The task says no.
    #[error("task `{name}` is not changed: {refusal}")]
    Refused {
        /// Which task.
        name: TaskName,
        /// Why.
        refusal: Refusal,
    },
    /// The package says no.
    #[error("package {id} is not changed: {refusal}")]
    PackageRefused {
        /// Which package.
        id: PackageId,
        /// Why.
        refusal: PackageRefusal,
    },
    /// The context says no.
    #[error("the context of {} is not changed: {refusal}", scope.in_words())]
    ContextRefused {
        /// Whose context.
        scope: ContextScope,
        /// Why.
        refusal: ContextRefusal,
    },
    /// The batch says no.
    #[error("batch `{name}` is not changed: {refusal}")]
    BatchRefused {
        /// Which batch.
        name: BatchName,
        /// Why.
        refusal: BatchRefusal,
    },
    /// A live batch of this name exists.
    #[error("a live batch with the name `{name}` exists already: {batch}")]
    BatchNameTaken {
        /// The name.
        name: BatchName,
        /// The batch that has it.
        batch: BatchId,
    },
    /// The run says no.
    #[error("run `{name}` is not changed: {refusal}")]
    RunRefused {
        /// Which run.
        name: RunName,
        /// Why.
        refusal: RunRefusal,
    },
    /// A live run of this name exists.
    #[error("a live run with the name `{name}` exists already: {run}")]
    RunNameTaken {
        /// The name.
        name: RunName,
        /// The run that has it.
        run: RunId,
    },
    /// The caller table says no, whatever the task.
    #[error("not allowed")]
    Forbidden(#[from] Forbidden),
    /// There is no such thing.
    #[error("there is no {what}")]
    NotFound {
        /// In words, with its name.
        what: String,
    },
    /// A live task of this name exists.
    #[error("a live task with the name `{name}` exists already: {task}")]
    NameTaken {
        /// The name.
        name: TaskName,
        /// The task that has it.
        task: TaskId,
    },
    /// The key was used for something else.
    #[error("the key `{key}` was used for a different request")]
    KeyReused {
        /// The key.
        key: IdempotencyKey,
    },
    /// A hold covers the task that was to be claimed.
    #[error("{} is held, so no task of it is handed out", scope.in_words())]
    Held {
        /// What is held.
        scope: HoldScope,
    },
    /// A live lease covers paths that this task would change too.
    #[error(
        "task `{by}` has a lease on `{}`, which overlaps `{}`, for example at `{}`",
        overlap.right, overlap.left, overlap.example
    )]
    OwnershipTaken {
        /// Who has it.
        by: TaskName,
        /// Where they meet.
        overlap: Box<Overlap>,
    },
    /// The commit may or may not have happened. Repeating with the same key tells.
    #[error("it is unknown whether the change was recorded")]
    OutcomeUnknown {
        /// What the database said.
        #[source]
        cause: SqlError,
    },
    /// The disk or the quota is full.
    #[error("there is no space left for the store")]
    NoSpace {
        /// What the database said.
        #[source]
        cause: SqlError,
    },
    /// The file is not what it should be.
    #[error("the store is damaged")]
    Damaged {
        /// What the database said.
        #[source]
        cause: SqlError,
    },
    /// The store cannot be reached or used at the moment.
    #[error("the store cannot be used: {step}")]
    Unavailable {
        /// What was tried.
        step: String,
        /// What was answered.
        #[source]
        cause: SqlError,
    },
    /// Another process has it open, so that it cannot be replaced.
    #[error("another process has the store open")]
    InUse {
        /// What the database said.
        #[source]
        cause: SqlError,
    },
    /// A stored row does not say what it should.
    #[error("the ledger is inconsistent: {0}")]
    Inconsistent(String),
    /// A newer version made this store.
    #[error("the store has schema version {found}; this program knows versions up to {known}")]
    TooNew {
        /// What the store has.
        found: i64,
        /// What we know.
        known: i64,
    },
    /// The file belongs to another program.
    #[error("`{0}` is a database of another program")]
    Foreign(PathBuf),
    /// SQLite does not work on such file systems.
    #[error(
        "`{path}` is on a {kind} file system, on which an embedded database cannot be kept safe"
    )]
    NetworkFilesystem {
        /// Where.
        path: PathBuf,
        /// What it is.
        kind: String,
    },
    /// The place for the store cannot be made or used.
    #[error("cannot use `{path}` for the store")]
    Place {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The address is not one of a store.
    #[error("{0}")]
    Address(String),
}

impl From<SqlError> for StoreError {
    /// For errors before the point of no return: nothing was changed.
    fn from(cause: SqlError) -> Self {
        match cause.kind {
            SqlErrorKind::NoSpace => Self::NoSpace { cause },
            SqlErrorKind::Damaged => Self::Damaged { cause },
            SqlErrorKind::Busy
            | SqlErrorKind::Taken
            | SqlErrorKind::Away
            | SqlErrorKind::Absent
            | SqlErrorKind::Other => Self::Unavailable {
                step: "a statement failed".to_owned(),
                cause,
            },
        }
    }
}

impl StoreError {
    /// Names the step that failed, where the database only said that something did.
    pub(crate) fn unavailable(step: impl Into<String>, cause: SqlError) -> Self {
        let mut error = Self::from(cause);
        if let Self::Unavailable { step: unnamed, .. } = &mut error {
            *unnamed = step.into();
        }
        error
    }
}
