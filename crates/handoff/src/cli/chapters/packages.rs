//! What is handed on, sealed.

use handoff_api::ExitCode;
use handoff_operations::Failure;

use crate::cli::errand::Reading;
use crate::cli::late::Late;
use crate::cli::{context, keys, package, pause, resume, transfer};
use crate::context::Context;

#[derive(Debug, clap::Subcommand)]
pub(in crate::cli) enum Command {
    /// Shared context: keyed JSON that sessions leave for each other.
    #[command(subcommand)]
    Context(Late<context::Command>),
    /// Sealed packages: what one session hands to the next, with proof.
    #[command(subcommand)]
    Package(Late<package::Command>),
    /// Stop the work on a task, in a session or on a batch, and seal what fresh sessions need to go on.
    Pause(Late<pause::Args>),
    /// Let what was paused go on in fresh sessions, also if it comes from another store.
    Resume(Late<resume::Args>),
    /// Pause a task, a session or a batch and hand it to somebody else.
    Transfer(Late<transfer::Args>),
    /// Keys: who sealed a package, and whom you trust.
    #[command(subcommand)]
    Keys(Late<keys::Command>),
}

impl Command {
    /// Whom one trusts has nothing to do with a project.
    pub(in crate::cli) const fn is_of_a_project(&self) -> bool {
        !matches!(self, Self::Keys(_))
    }

    /// What it reads, if it is done for a session in a sandbox.
    pub(in crate::cli) fn reading(&self) -> Option<Reading> {
        if let Self::Context(command) = self {
            Some(command.reading())
        } else {
            None
        }
    }

    /// What it reads, if it needs the ledger and nothing else that a session does not have.
    pub(in crate::cli) fn reading_with_ledger(&self) -> Option<Reading> {
        matches!(self, Self::Package(_)).then_some(Reading::Nothing)
    }
}

/// Runs one, and says what to exit with: what is resumed may end with a code of its own.
pub(in crate::cli) fn run(command: Command, ctx: &mut Context) -> Result<u8, Failure> {
    let ours = match command {
        Command::Resume(args) => return resume::run(&args, ctx),
        Command::Context(command) => context::run(command.into_inner(), ctx),
        Command::Package(command) => package::run(command.into_inner(), ctx),
        Command::Pause(args) => pause::run(args.into_inner(), ctx),
        Command::Transfer(args) => transfer::run(args.into_inner(), ctx),
        Command::Keys(command) => keys::run(command.into_inner(), ctx),
    };
    ours.map(ExitCode::number)
}
