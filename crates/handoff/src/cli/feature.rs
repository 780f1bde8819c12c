//! The commands of the feature workspace, and the site they all work at.

mod clerk;
mod site;

use handoff_api::ExitCode;

use crate::context::Context;
use crate::failure::Failure;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {}

pub(super) fn run(command: Command, _ctx: &mut Context) -> Result<ExitCode, Failure> {
    match command {}
}
