//! Why a task did not get down the road. The task itself is told separately; this is for whoever runs the engine.

use std::path::PathBuf;

/// A step of the road that could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The ledger refused or failed.
    #[error("the ledger could not be changed")]
    Store(#[from] handoff_store::StoreError),
    /// A place below the state directory could not be used.
    #[error("cannot use the state directory")]
    Place(#[from] handoff_files::DirError),
    /// A file could not be written.
    #[error("cannot write a file of the session")]
    Write(#[from] handoff_files::WriteError),
    /// A kernel lock could not be taken or looked at.
    #[error("cannot lock")]
    Lock(#[from] handoff_files::LockError),
    /// Another process has the lock of a session that was just made.
    #[error("`{0}` is locked by another process")]
    Taken(PathBuf),
    /// The repository has no commit to start from.
    #[error("cannot tell where to start from")]
    Base(#[source] handoff_git::GitError),
    /// The refs of baselines could not be read.
    #[error("cannot look at the refs of baselines")]
    Baseline(#[source] handoff_git::GitError),
    /// The branches of attempts and batches could not be looked at.
    #[error("cannot look at the branches")]
    Branches(#[source] handoff_git::GitError),
    /// The worktree could not be made or removed.
    #[error("cannot change the worktrees")]
    Worktree(#[from] handoff_git::WorktreeError),
    /// The work could not be committed.
    #[error("cannot commit the work")]
    Commit(#[from] handoff_git::CommitError),
    /// A worktree that does not say whose it is could not be made to.
    #[error("cannot put `.git` back into `{}`", .0.display())]
    Relink(PathBuf, #[source] std::io::Error),
    /// What a dead session left could not be saved.
    #[error("cannot save what was left in `{path}`")]
    Quarantine {
        /// Where it still is.
        path: PathBuf,
        /// Why.
        #[source]
        source: Box<handoff_git::QuarantineError>,
    },
    /// Git could not bring results together.
    #[error("cannot bring the results of the batch together")]
    Gather(#[source] handoff_git::GitError),
    /// New objects could not be kept from being pruned.
    #[error("cannot bring the work together")]
    Keep(#[from] handoff_git::KeepError),
    /// What a part needs cannot be merged by itself.
    #[error(
        "what `{needed}` did conflicts with the rest of what this task is to begin with, in {}: bring both together on your branch, then retry",
        .paths.join(", ")
    )]
    NoBeginning {
        /// Whose work does not fit.
        needed: String,
        /// Where.
        paths: Vec<String>,
    },
    /// Git could not tell what a task goes on from.
    #[error("cannot tell what the task goes on from")]
    Continue(#[source] handoff_git::GitError),
    /// What a pause was going to do is written in words that nobody here knows.
    #[error("the note of the pause of {subject} cannot be read")]
    PauseNote {
        /// What was to be paused.
        subject: String,
        /// Why not.
        #[source]
        cause: serde_json::Error,
    },
    /// A phase that nobody could judge.
    #[error("{0}")]
    NoProof(String),
    /// A fan-in without a batch.
    #[error("{0} belongs to no batch")]
    NoBatch(handoff_core::TaskId),
    /// Git could not be asked or told about a run.
    #[error("cannot look at the commits of the run")]
    Show(#[source] handoff_git::GitError),
    /// A lock that a killed git left on a ref of ours could not be removed.
    #[error("cannot remove the lock that a killed git left on a ref")]
    Unlock(#[source] std::io::Error),
    /// What a run that is over left could not be removed.
    #[error("cannot remove the referee's tree")]
    Clear(#[source] std::io::Error),
    /// The state of the tree could not be found out.
    #[error("cannot look at the tree")]
    Status(#[source] handoff_git::GitError),
    /// What happens cannot be told to whoever wanted to know.
    #[error("nobody hears what happens")]
    Unheard,
    /// The repository is not where it was.
    #[error("the repository `{}` is gone: it was moved or removed", .0.display())]
    RepositoryGone(PathBuf),
    /// What a session is told could not be read back.
    #[error("cannot read the prompt of the session")]
    Prompt(#[source] std::io::Error),
    /// A session could not be begun.
    #[error("cannot begin a session")]
    Spawn(#[source] crate::spawn::SpawnError),
    /// A session could not be looked at.
    #[error("cannot look at the session")]
    Session(#[source] handoff_session::catalogue::CatalogueError),
    /// The journal of a session could not be read.
    #[error("cannot read the journal of the session")]
    Journal(#[source] std::io::Error),
    /// Nothing tells when a session changes.
    #[error("cannot watch the session")]
    Watch(#[source] handoff_files::WatchError),
    /// A program could not be started.
    #[error("cannot start a program")]
    Start(#[from] handoff_process::StartError),
    /// A program could not be waited for.
    #[error("cannot wait for a program")]
    Wait(#[from] handoff_process::WaitError),
    /// What was to supervise a check could not, and the check proves nothing.
    #[error("a check could not be supervised: {0}")]
    Supervisor(String),
    /// What an interrupted commit left could not be put right.
    #[error("cannot put right an interrupted commit")]
    Unfinished(#[from] crate::reconcile::UnfinishedError),
    /// The package could not be made.
    #[error("cannot seal the package")]
    Seal(#[from] handoff_package::SealError),
    /// There seem to be secrets where no mark can stand.
    #[error("the package is not sealed")]
    Secrets(#[from] handoff_package::SecretsError),
    /// The package could not be written.
    #[error("cannot store the package")]
    Package(#[from] handoff_package::ShelfError),
    /// The package cannot be had, or is not sound.
    #[error("cannot use the package")]
    Load(#[from] handoff_package::LoadError),
    /// A package is over, and its bytes were cleared away.
    #[error("{id} is {}, and what was in it was cleared away", .standing.word())]
    Cleared {
        /// Which.
        id: handoff_core::PackageId,
        /// Where it is.
        standing: handoff_core::package::PackageStanding,
    },
    /// The keys cannot be used.
    #[error("cannot use the keys")]
    Keys(#[from] handoff_package::KeyringError),
}
