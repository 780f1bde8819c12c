//! Acts that destroy something for good: a person at a terminal confirms them once, or says `--yes`. A session never does.

use handoff_core::{Action, BatchName, PackageId, RunName, TaskName};
use handoff_operations::Failure;
use handoff_operations::caller::require_person;

use crate::context::Context;
use crate::output::Reply;

/// Do not ask.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct YesArg {
    /// Do it without asking. Only for a person: a session is refused.
    #[arg(long)]
    pub(crate) yes: bool,
}

/// What is destroyed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Destruction {
    /// What one session left for the next.
    Package(PackageId),
    /// The work of a session on a task that is leased.
    RunningTask(TaskName),
    /// The same of a batch, and of how many of its parts.
    RunningBatch(BatchName, usize),
    /// The same of a run.
    Run(RunName),
    /// So many things that are in no branch: sessions, transcripts, packages.
    Unlanded(usize),
    /// The trust in everything that a key signed.
    Key(String),
    /// The ledger that is in use, which another takes the place of; and that other in words.
    Ledger(String),
    /// What a backup left that was not finished.
    Unfinished(String),
}

impl Destruction {
    /// As the question has it.
    fn question(&self) -> String {
        match self {
            Self::Package(id) => format!("Delete package {id} for good?"),
            Self::RunningTask(name) => {
                format!("Cancel `{name}`, which somebody works on right now?")
            }
            Self::RunningBatch(name, count) => {
                format!("Cancel batch `{name}`, while {count} of its parts are worked on?")
            }
            Self::Run(name) => format!("Cancel the run `{name}`, which is worked on right now?"),
            Self::Unlanded(1) => "Remove 1 thing that is in no branch for good?".to_owned(),
            Self::Unlanded(count) => {
                format!("Remove {count} things that are in no branch for good?")
            }
            Self::Key(key) => format!("Refuse everything that {key} signed from now on?"),
            Self::Ledger(other) => {
                format!("Replace the ledger of this state directory by {other}?")
            }
            Self::Unfinished(path) => format!("Remove the unfinished backup in `{path}`?"),
        }
    }

    /// As a refusal has it.
    fn sentence(&self) -> String {
        match self {
            Self::Package(id) => format!("deleting package {id} cannot be undone"),
            Self::RunningTask(name) => {
                format!("somebody works on `{name}`, and cancelling it throws that away")
            }
            Self::RunningBatch(name, count) => {
                format!(
                    "{count} parts of batch `{name}` are worked on, and cancelling it throws that away"
                )
            }
            Self::Run(name) => {
                format!("the run `{name}` is worked on, and cancelling it throws that away")
            }
            Self::Unlanded(count) => {
                format!(
                    "{count} of what would be removed is in no branch and cannot be brought back"
                )
            }
            Self::Key(key) => format!("revoking {key} cannot be undone"),
            Self::Ledger(other) => {
                format!("there is a ledger, and {other} would take its place")
            }
            Self::Unfinished(path) => {
                format!("`{path}` has an unfinished backup, which would be removed")
            }
        }
    }

    /// How to see what would be lost.
    fn look(&self) -> String {
        match self {
            Self::Ledger(_) => "handoff queue list --all".to_owned(),
            Self::Unfinished(path) => format!("ls -l {path}"),
            Self::Package(id) => format!("handoff package show {id}"),
            Self::RunningTask(name) => format!("handoff queue show {name}"),
            Self::RunningBatch(name, _) => format!("handoff batch show {name}"),
            Self::Run(name) => format!("handoff workflow status {name}"),
            Self::Unlanded(_) => "handoff gc".to_owned(),
            Self::Key(_) => "handoff keys list".to_owned(),
        }
    }
}

/// Refuses a caller that may not destroy anything, whatever it says.
pub(crate) fn require_destroyer(ctx: &Context) -> Result<(), Failure> {
    require_person(Action::Destroy, &ctx.ambient)
}

/// Goes on only if a person wants it.
pub(crate) fn confirm(what: &Destruction, yes: YesArg, ctx: &mut Context) -> Result<(), Failure> {
    require_destroyer(ctx)?;
    if yes.yes {
        return Ok(());
    }
    if !ctx.can_ask() {
        let text = format!("{}; a person decides that", what.sentence());
        return Err(Failure::usage(text)
            .hint(format!("look at it first: `{}`", what.look()))
            .hint("a person who is sure repeats the command with `--yes`"));
    }
    match ctx.out.ask(&what.question())? {
        Reply::Yes => Ok(()),
        Reply::No => Err(Failure::failed("nothing was done")),
    }
}
