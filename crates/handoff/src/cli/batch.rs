//! `handoff batch`: a fan-out of parts that are worked on side by side, and the fan-in of their results.

pub(super) mod bar;
mod change;
mod excerpt;
mod follow;
mod list;
mod manifest_file;
pub(super) mod opening;
mod plan;
mod report;
mod show;
mod timeline;

pub(super) use plan::SlotsArg;

use clap::Subcommand;
use handoff_api::ExitCode;
use handoff_operations::Failure;

use crate::context::Context;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Show how a batch would run, and everything that is wrong with its manifest; nothing is opened.
    Plan(plan::Args),
    /// Show the batches, newest first.
    List(list::Args),
    /// Show a batch with one line for each part.
    Show(show::Args),
    /// Open parts again that ended without success, and what waits for them.
    Retry(change::RetryArgs),
    /// Call a batch off, with everything in it that has not ended.
    Cancel(change::CancelArgs),
    /// Show what a batch took: a timeline, the speed-up and how good the guesses were.
    Report(report::Args),
}

pub(super) fn run(command: Command, ctx: &mut Context) -> Result<ExitCode, Failure> {
    match command {
        Command::Plan(args) => plan::run(&args, ctx),
        Command::List(args) => list::run(&args, ctx),
        Command::Show(args) => show::run(&args, ctx),
        Command::Retry(args) => change::retry(args, ctx),
        Command::Cancel(args) => change::cancel(args, ctx),
        Command::Report(args) => report::run(&args, ctx),
    }
}
