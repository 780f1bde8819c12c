//! `handoff completion`.

use clap::CommandFactory as _;
use clap_complete::Shell;
use handoff_api::ExitCode;

use super::Cli;
use crate::context::Context;
use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Which shell.
    shell: Shell,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let mut script = vec![];
    clap_complete::generate(args.shell, &mut Cli::command(), "handoff", &mut script);
    ctx.out.raw(&script)?;
    Ok(ExitCode::Done)
}
