//! Phases in fresh sessions, judged by a referee.

use handoff_api::ExitCode;
use handoff_operations::Failure;

use crate::cli::late::Late;
use crate::cli::workflow;
use crate::context::Context;

#[derive(Debug, clap::Subcommand)]
pub(in crate::cli) enum Command {
    /// Workflows: phases in fresh sessions, each proved by the tool.
    #[command(subcommand)]
    Workflow(Late<workflow::Command>),
    /// Let a run of a workflow through its gate.
    Approve(Late<workflow::ApproveArgs>),
    /// Have the phase before the gate done again, with your reason.
    Reject(Late<workflow::RejectArgs>),
}

pub(in crate::cli) fn run(command: Command, ctx: &mut Context) -> Result<ExitCode, Failure> {
    match command {
        Command::Workflow(command) => workflow::run(command.into_inner(), ctx),
        Command::Approve(args) => workflow::approve(args.into_inner(), ctx),
        Command::Reject(args) => workflow::reject(args.into_inner(), ctx),
    }
}
