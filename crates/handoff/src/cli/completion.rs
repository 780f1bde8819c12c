//! `handoff completion`.

use clap::CommandFactory as _;
use clap_complete::Shell;
use handoff_api::{CompletionDocument, ExitCode};
use handoff_operations::Failure;

use super::Cli;
use crate::context::Context;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Which shell.
    shell: Shell,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let mut script = vec![];
    clap_complete::generate(args.shell, &mut Cli::command(), "handoff", &mut script);
    if ctx.out.is_json() {
        let document = CompletionDocument {
            shell: args.shell.to_string(),
            script: String::from_utf8_lossy(&script).into_owned(),
        };
        ctx.out.document(CompletionDocument::SCHEMA, document)?;
    } else {
        ctx.out.raw(&script)?;
    }
    Ok(ExitCode::Done)
}
