//! `handoff queue`: tasks by hand. What agents and workers do goes the same way.

mod add;
mod claim;
mod list;
mod report;
mod show;

pub(super) use list::tone;

use clap::Subcommand;
use handoff_api::{ExitCode, Receipt, TaskDocument};
use handoff_core::IdempotencyKey;
use handoff_core::task::Command as Verb;
use handoff_operations::project::Recorded;
use handoff_operations::task::receipt;
use handoff_operations::{Failure, Project};
use handoff_store::queue::{Answer, Change};

use super::baton;
use super::errand::Reading;
use crate::context::Context;
use crate::output::{Tone, one_line};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Put a task into the queue.
    Add(add::Args),
    /// Show the tasks that are neither done nor cancelled, in the order they would be claimed.
    List(list::Args),
    /// Show one task with everything that is known about it.
    Show(show::Args),
    /// Take the next ready task, or the one named.
    Claim(claim::Args),
    /// Keep a lease alive.
    Heartbeat(report::HeartbeatArgs),
    /// Say that a task is done.
    Complete(report::CompleteArgs),
    /// Say that a task was tried and did not work.
    Fail(report::ReasonArgs),
    /// Say that a task cannot go on without a person.
    Block(report::ReasonArgs),
    /// Give a task back undone.
    Release(report::ReleaseArgs),
    /// Call a task off, whoever works on it.
    Cancel(report::CancelArgs),
    /// Open a task again that failed, is blocked or was cancelled.
    Retry(report::RetryArgs),
}

impl Command {
    /// Whether a session in a sandbox has it done for it: the table of callers says the rest.
    pub(super) fn reading(&self) -> Option<Reading> {
        match self {
            Self::Add(args) => Some(args.reading()),
            Self::List(_)
            | Self::Show(_)
            | Self::Heartbeat(_)
            | Self::Fail(_)
            | Self::Block(_)
            | Self::Release(_) => Some(Reading::Nothing),
            Self::Claim(_) | Self::Complete(_) | Self::Cancel(_) | Self::Retry(_) => None,
        }
    }
}

pub(super) fn run(command: Command, ctx: &mut Context) -> Result<ExitCode, Failure> {
    match command {
        Command::Add(args) => add::run(args, ctx),
        Command::List(args) => list::run(&args, ctx),
        Command::Show(args) => show::run(&args, ctx),
        Command::Claim(args) => claim::run(args, ctx),
        Command::Heartbeat(args) => report::heartbeat(args, ctx),
        Command::Complete(args) => report::complete(args, ctx),
        Command::Fail(args) => report::fail(args, ctx),
        Command::Block(args) => report::block(args, ctx),
        Command::Release(args) => report::release(args, ctx),
        Command::Cancel(args) => report::cancel(args, ctx),
        Command::Retry(args) => report::retry(args, ctx),
    }
}

/// The option that every changing command has.
#[derive(Debug, clap::Args)]
pub(super) struct KeyArg {
    /// Repeating a command with the same key does nothing new and gives the same answer.
    #[arg(long, value_name = "KEY")]
    pub(super) key: Option<IdempotencyKey>,
}

/// Sends a change of one task and shows what came of it.
pub(super) fn change_task(
    desk: &mut Project,
    change: Change,
    key: KeyArg,
    verb: &str,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    let is_outcome = is_outcome(&change);
    let recorded = desk.submit(change, key.key)?;
    if let (Answer::Task(task), true) = (&recorded.receipt.answer, is_outcome) {
        baton::refresh(desk, task.id, ctx);
    }
    let shown = show_change(desk, &recorded, verb, ctx);
    shown.map_err(|failure| recorded.untold(failure))
}

/// Whether something comes of a task by it that people read in its baton.
const fn is_outcome(change: &Change) -> bool {
    matches!(
        change,
        Change::Tell {
            command: Verb::Complete { .. }
                | Verb::Fail { .. }
                | Verb::Block { .. }
                | Verb::Release { .. }
                | Verb::Cancel { .. }
                | Verb::Retry,
            ..
        }
    )
}

pub(super) fn show_change(
    desk: &mut Project,
    recorded: &Recorded,
    verb: &str,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    show_receipt(receipt(desk, recorded)?, verb, ctx)
}

/// Says what came of a change of one task.
pub(super) fn show_receipt(
    receipt: Receipt,
    verb: &str,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    if ctx.out.is_json() {
        ctx.out.document(Receipt::SCHEMA, receipt)?;
    } else {
        let line = said(ctx, verb, &receipt.task, receipt.is_repeat);
        ctx.out.line(line)?;
    }
    Ok(ExitCode::Done)
}

fn said(ctx: &Context, verb: &str, task: &TaskDocument, is_repeat: bool) -> String {
    let again = if is_repeat {
        " (it was so already)"
    } else {
        ""
    };
    let name = ctx.out.styled(Tone::Strong, &one_line(&task.name));
    // "failed fix: failed" would sound as if the command had failed.
    if task.state.word() == verb {
        return format!("{name} is {verb}{again}");
    }
    format!("{verb} {name}: {}{again}", task.state)
}
