//! What the errors of the ledger and of the pipeline mean at a door.

use handoff_api::ExitCode;
use handoff_core::HoldScope;
use handoff_core::batch::BatchRefusal;
use handoff_core::context::ContextRefusal;
use handoff_core::task::{Phase, Refusal};
use handoff_engine::EngineError;
use handoff_package::LoadError;
use handoff_store::StoreError;

use crate::failure::Failure;

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let failure = Self::of(code_of(&error), &error);
        // One that names what is used up says what to do.
        let is_advised = !failure.hints.is_empty();
        match hint_for(&error).filter(|_| !is_advised) {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Store(error) => error.into(),
            EngineError::Load(error) => Self::of(code_of_load(&error), &error)
                .hint("nothing was changed; the file was left as it is: `handoff package list`"),
            EngineError::Cleared { .. } => Self::of(ExitCode::NotFound, &error)
                .hint("what became of it: `handoff package list`, `handoff events`"),
            error @ (EngineError::Keys(_)
            | EngineError::Place(_)
            | EngineError::Write(_)
            | EngineError::Lock(_)
            | EngineError::Taken(_)
            | EngineError::Base(_)
            | EngineError::Baseline(_)
            | EngineError::Branches(_)
            | EngineError::Worktree(_)
            | EngineError::Commit(_)
            | EngineError::Relink(..)
            | EngineError::Quarantine { .. }
            | EngineError::Status(_)
            | EngineError::Unheard
            | EngineError::RepositoryGone(_)
            | EngineError::Prompt(_)
            | EngineError::Spawn(_)
            | EngineError::Session(_)
            | EngineError::Journal(_)
            | EngineError::Watch(_)
            | EngineError::Start(_)
            | EngineError::Wait(_)
            | EngineError::Supervisor(_)
            | EngineError::Unfinished(_)
            | EngineError::Gather(_)
            | EngineError::Keep(_)
            | EngineError::NoBeginning { .. }
            | EngineError::Continue(_)
            | EngineError::NoProof(_)
            | EngineError::PauseNote { .. }
            | EngineError::NoBatch(_)
            | EngineError::Seal(_)
            | EngineError::Secrets(_)
            | EngineError::Show(_)
            | EngineError::Clear(_)
            | EngineError::Unlock(_)
            | EngineError::Package(_)) => Self::of(ExitCode::Failed, &error),
        }
    }
}

fn code_of_load(error: &LoadError) -> ExitCode {
    match error {
        LoadError::Read(cause) if cause.is_not_found() => ExitCode::NotFound,
        LoadError::Read(_) => ExitCode::Unavailable,
        LoadError::Replaced | LoadError::Open(_) => ExitCode::Damaged,
    }
}

fn code_of(error: &StoreError) -> ExitCode {
    match error {
        StoreError::Refused { refusal, .. } => code_of_refusal(refusal),
        StoreError::BatchRefused {
            refusal: BatchRefusal::NoSuchPart(_),
            ..
        } => ExitCode::NotFound,
        StoreError::PackageRefused { .. }
        | StoreError::ContextRefused { .. }
        | StoreError::BatchRefused { .. }
        | StoreError::BatchNameTaken { .. }
        | StoreError::RunRefused { .. }
        | StoreError::RunNameTaken { .. } => ExitCode::Conflict,
        StoreError::Forbidden(_) => ExitCode::Forbidden,
        StoreError::NotFound { .. } => ExitCode::NotFound,
        StoreError::NameTaken { .. }
        | StoreError::KeyReused { .. }
        | StoreError::Held { .. }
        | StoreError::OwnershipTaken { .. } => ExitCode::Conflict,
        StoreError::OutcomeUnknown { .. } => ExitCode::OutcomeUnknown,
        StoreError::NoSpace { .. } => ExitCode::NoSpace,
        StoreError::Unavailable { .. } | StoreError::InUse { .. } | StoreError::Place { .. } => {
            ExitCode::Unavailable
        }
        StoreError::Damaged { .. }
        | StoreError::Inconsistent(_)
        | StoreError::TooNew { .. }
        | StoreError::Foreign(_) => ExitCode::Damaged,
        StoreError::NetworkFilesystem { .. } | StoreError::Address(_) => ExitCode::Failed,
    }
}

fn code_of_refusal(refusal: &Refusal) -> ExitCode {
    match refusal {
        Refusal::Forbidden(_) => ExitCode::Forbidden,
        Refusal::LeaseLost { .. } => ExitCode::LeaseLost,
        Refusal::Leased { .. }
        | Refusal::Ended { .. }
        | Refusal::NotReady { .. }
        | Refusal::Gathering { .. }
        | Refusal::NotRetriable { .. }
        | Refusal::OfRun => ExitCode::Conflict,
    }
}

fn hint_for(error: &StoreError) -> Option<String> {
    Some(match error {
        StoreError::Refused { name, refusal } => return hint_for_refusal(name.as_str(), refusal),
        StoreError::NotFound { what } if what.starts_with("package") => {
            "see what there is: `handoff package list`".to_owned()
        }
        StoreError::NotFound { what } if what.starts_with("batch") => {
            "see what there is: `handoff batch list`".to_owned()
        }
        StoreError::BatchRefused { name, .. } | StoreError::BatchNameTaken { name, .. } => {
            format!("look at it: `handoff batch show {name}`")
        }
        StoreError::NotFound { what } if what.starts_with("run") => {
            "see what there is: `handoff workflow status`".to_owned()
        }
        StoreError::RunRefused { name, .. } | StoreError::RunNameTaken { name, .. } => {
            format!("look at it: `handoff workflow status {name}`")
        }
        StoreError::NotFound { .. } => "see what there is: `handoff queue list --all`".to_owned(),
        StoreError::PackageRefused { id, .. } => format!("look at it: `handoff package show {id}`"),
        StoreError::ContextRefused { refusal, .. } => return hint_for_context(refusal),
        StoreError::NameTaken { name, .. } => format!("look at it: `handoff queue show {name}`"),
        StoreError::KeyReused { .. } => "use a new key for a new request".to_owned(),
        StoreError::Held { scope } => format!(
            "see who holds it and why: `handoff queue list`; {} hands it out again",
            unhold(*scope)
        ),
        StoreError::OwnershipTaken { by, .. } => {
            format!("it becomes free when `{by}` ends: `handoff queue show {by}`")
        }
        StoreError::NoSpace { .. } => {
            "free some space and repeat the command; reading commands go on working".to_owned()
        }
        StoreError::Damaged { .. } => {
            "nothing was changed; keep a copy of the state directory and run `handoff doctor`".to_owned()
        }
        StoreError::InUse { .. } => {
            "close what works with this state directory: `handoff worker list`, `handoff ps`, followers of `handoff events`".to_owned()
        }
        StoreError::TooNew { .. } => "use the version of handoff that made this store".to_owned(),
        StoreError::NetworkFilesystem { .. } => {
            "set HANDOFF_HOME to a directory on a local disk, or HANDOFF_STORE to a PostgreSQL server".to_owned()
        }
        StoreError::Unavailable { .. } | StoreError::Place { .. } => "see what is wrong: `handoff doctor`".to_owned(),
        StoreError::Forbidden(_)
        | StoreError::OutcomeUnknown { .. }
        | StoreError::Inconsistent(_)
        | StoreError::Foreign(_)
        | StoreError::Address(_) => return None,
    })
}

const fn unhold(scope: HoldScope) -> &'static str {
    match scope {
        HoldScope::Everything => "`handoff unhold --everything`",
        HoldScope::Project(_) => "`handoff unhold`",
        HoldScope::Batch(_) => "`handoff unhold --batch NAME`",
    }
}

fn hint_for_context(refusal: &ContextRefusal) -> Option<String> {
    Some(match refusal {
        ContextRefusal::Changed { key, .. } => {
            format!("look at what is there now, and decide again: `handoff context get {key}`")
        }
        ContextRefusal::Absent { .. } => "see what there is: `handoff context list`".to_owned(),
        ContextRefusal::Conflict { .. } => {
            "look at both first (`handoff context list`, `handoff package show`), then say which counts: `--policy keep-ours`, \
             `take-theirs` or `replace`"
                .to_owned()
        }
        ContextRefusal::Full { .. } | ContextRefusal::Tags { .. } => return None,
    })
}

fn hint_for_refusal(name: &str, refusal: &Refusal) -> Option<String> {
    Some(match refusal {
        Refusal::LeaseLost { .. } => format!(
            "stop working on this task; what you have is still in your tree: `handoff queue show {name}`"
        ),
        Refusal::Leased { .. } => {
            "show the fence you got when you claimed it with `--fence`".to_owned()
        }
        Refusal::NotReady {
            phase: Phase::Resting,
        } => {
            format!("it comes back by itself; to have it now: `handoff unhold {name}`")
        }
        Refusal::Ended { .. }
        | Refusal::NotReady { .. }
        | Refusal::Gathering { .. }
        | Refusal::NotRetriable { .. } => {
            format!("look at it: `handoff queue show {name}`")
        }
        Refusal::OfRun => {
            "the run tries again: `handoff workflow status`, `handoff workflow retry RUN`"
                .to_owned()
        }
        Refusal::Forbidden(_) => return None,
    })
}
