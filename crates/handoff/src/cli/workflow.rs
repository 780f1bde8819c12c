//! `handoff workflow`: phases in fresh sessions, each proved by the tool.

mod begin;
mod definition;
mod ending;
mod gate;
mod handover;
mod parts;
mod progress;
mod seat;
mod source;
mod status;
mod steer;

pub(super) use steer::{ApproveArgs, RejectArgs, approve, reject};

use clap::Subcommand;
use handoff_api::ExitCode;
use handoff_operations::Failure;

use crate::context::Context;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Show the workflows that can be run here.
    List,
    /// Show a workflow: its phases, what they may touch, what proves them.
    Show(definition::ShowArgs),
    /// Tell everything that is wrong with a definition, with its line.
    Validate(definition::ValidateArgs),
    /// Draw a workflow.
    Graph(definition::GraphArgs),
    /// Let the commands in a workflow of this repository run, as they are now.
    Trust(definition::TrustArgs),
    /// Begin a run, and take it to its end or its first gate.
    Run(Box<begin::Args>),
    /// Show a run, or all of them.
    Status(status::Args),
    /// Show what happened to a run.
    Log(status::LogArgs),
    /// Stop a run for a while, and seal where it stands; the session at work is ended, what was proved stays.
    Pause(steer::RunArgs),
    /// Go on with a run where it stands, or from the package that it was paused with, also in another clone.
    Resume(Box<begin::ResumeArgs>),
    /// Try again what a run stopped at, or from an earlier phase on.
    Retry(steer::RetryArgs),
    /// Call a run off.
    Cancel(steer::CancelArgs),
}

pub(super) fn run(command: Command, ctx: &mut Context) -> Result<ExitCode, Failure> {
    match command {
        Command::List => definition::list(ctx),
        Command::Show(args) => definition::show(&args, ctx),
        Command::Validate(args) => definition::validate(&args, ctx),
        Command::Graph(args) => definition::graph(&args, ctx),
        Command::Trust(args) => definition::trust(&args, ctx),
        Command::Run(args) => begin::run(*args, ctx),
        Command::Status(args) => status::run(&args, ctx),
        Command::Log(args) => status::log(&args, ctx),
        Command::Pause(args) => handover::pause(&args, ctx),
        Command::Resume(args) => begin::resume(*args, ctx),
        Command::Retry(args) => steer::retry(args, ctx),
        Command::Cancel(args) => steer::cancel(args, ctx),
    }
}
