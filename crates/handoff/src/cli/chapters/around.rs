//! What is around the work: trying it, learning it, looking after the program itself.

use handoff_api::ExitCode;
use handoff_operations::Failure;
use handoff_operations::operation::Forwarded;

use crate::cli::errand::Reading;
use crate::cli::late::Late;
use crate::cli::{
    api, backup, completion, demo, doctor, help, restore, teaching, upgrade, version,
};
use crate::context::Context;

#[derive(Debug, clap::Subcommand)]
pub(in crate::cli) enum Command {
    /// Walk the whole road once in a scratch repository: no set-up, no key, no network.
    Demo(Late<demo::Args>),
    /// Read how to get from nothing to an agent at work.
    Guide,
    /// Ways of working with sessions that have proved themselves.
    Recipes(Late<teaching::recipes::Args>),
    /// Teach Claude Code and Codex to use sessions.
    #[command(subcommand)]
    Skills(Late<teaching::skills::Command>),
    /// Look at versions, paths, the store, limits and what is missing here.
    Doctor(Late<doctor::Args>),
    /// Copy the ledger, the packages and what you trust, while everything runs.
    Backup(Late<backup::Args>),
    /// Check a backup, or put it in the place of what is here.
    Restore(Late<restore::Args>),
    /// Print a completion script for a shell.
    Completion(Late<completion::Args>),
    /// Replace this program by its newest release.
    Upgrade(Late<upgrade::Args>),
    /// Call operations by name, with JSON in and out: for programs.
    #[command(subcommand, hide = true)]
    Api(Late<api::Command>),
    /// Print the version.
    Version,
    /// Explain a command or a topic.
    Help(Late<help::Args>),
}

impl Command {
    /// What it reads, if it is done for a session behind a barrier: an operation that is called by its name.
    pub(in crate::cli) fn reading(&self, barrier: Forwarded) -> Option<Reading> {
        if let Self::Api(command) = self {
            command.reading(barrier)
        } else {
            None
        }
    }

    /// The others say the same wherever they are called.
    pub(in crate::cli) const fn is_of_a_project(&self) -> bool {
        matches!(self, Self::Doctor(_) | Self::Api(_))
    }
}

pub(in crate::cli) fn run(command: Command, ctx: &mut Context) -> Result<ExitCode, Failure> {
    match command {
        Command::Demo(args) => demo::run(&args, ctx),
        Command::Guide => teaching::guide::run(ctx),
        Command::Recipes(args) => teaching::recipes::run(&args, ctx),
        Command::Skills(command) => teaching::skills::run(&command, ctx),
        Command::Doctor(args) => doctor::run(&args, ctx),
        Command::Backup(args) => backup::run(&args, ctx),
        Command::Restore(args) => restore::run(&args, ctx),
        Command::Completion(args) => completion::run(&args, ctx),
        Command::Upgrade(args) => upgrade::run(&args, ctx),
        Command::Api(command) => api::run(&command, ctx),
        Command::Version => version::run(ctx),
        Command::Help(args) => help::run(&args, ctx),
    }
}
