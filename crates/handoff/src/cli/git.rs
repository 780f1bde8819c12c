//! The commands of git: commits, guards and trees that several sessions can share.

mod baseline;
mod declaration;
mod git_hook;
pub(crate) mod guard;
mod held_commit;
mod hooks;
mod land;
mod message;
mod peers;
mod refusal;
mod rescue;
mod safe_commit;
mod sandbox;
mod worktree;

use handoff_api::ExitCode;
use handoff_operations::Failure;

use super::errand::Reading;
use super::late::Late;
use crate::context::Context;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Commit exactly these paths, whatever others have staged or edited here.
    ///
    /// Nothing else goes in, and nobody's staging or edits are touched. Hooks, signing and filters are
    /// git's own. While somebody else commits here, it waits and says for whom.
    SafeCommit(Late<safe_commit::Args>),
    /// A `git` for sessions that knows what their role may do.
    #[command(subcommand)]
    GitGuard(Late<guard::Command>),
    /// Hooks that keep sessions to their role; elsewhere they do nothing.
    #[command(subcommand)]
    Hooks(Late<hooks::Command>),
    /// The trees that attempts work in.
    #[command(subcommand)]
    Worktree(Late<worktree::Command>),
    /// The last commit that was verified good.
    #[command(subcommand)]
    Baseline(Late<baseline::Command>),
    /// Find what the sessions of a task left that has not landed.
    ///
    /// What sessions left uncommitted when they ended, and what is committed on their branches and not landed. Nothing is ever
    /// removed.
    Rescue(Late<rescue::Args>),
    /// Bring the branch of a task into yours.
    ///
    /// Forward only, and into a clean tree. A branch that somebody has checked out is never moved under
    /// them; what cannot land now waits, and you are told what for.
    Land(Late<land::Args>),
    /// Run a program that can change this worktree and nothing else.
    ///
    /// Everything can be read. The kernel holds it, for the program and all that it starts: an absolute
    /// path to git, another language or root make no difference.
    Sandbox(Late<sandbox::Args>),
    /// What our hooks ask.
    #[command(hide = true)]
    GitHook(Late<git_hook::Args>),
}

impl Command {
    /// What it reads, if it is done for a session in a sandbox.
    pub(super) fn reading(&self) -> Option<Reading> {
        if let Self::SafeCommit(args) = self {
            Some(args.reading())
        } else {
            None
        }
    }
}

impl Command {
    /// Hooks look by themselves, or are asked by git.
    pub(super) const fn is_for_people(&self) -> bool {
        match self {
            Self::SafeCommit(_)
            | Self::Worktree(_)
            | Self::Baseline(_)
            | Self::Rescue(_)
            | Self::Land(_) => true,
            Self::GitGuard(_) | Self::Hooks(_) | Self::Sandbox(_) | Self::GitHook(_) => false,
        }
    }
}

pub(super) fn run(command: Command, ctx: &mut Context) -> Result<ExitCode, Failure> {
    match command {
        Command::SafeCommit(args) => safe_commit::run(&args, ctx),
        Command::GitGuard(command) => guard::run(&command, ctx),
        Command::Hooks(command) => hooks::run(&command, ctx),
        Command::Worktree(command) => worktree::run(&command, ctx),
        Command::Baseline(command) => baseline::run(&command, ctx),
        Command::Rescue(args) => rescue::run(&args, ctx),
        Command::Land(args) => land::run(&args, ctx),
        Command::Sandbox(args) => sandbox::run(&args, ctx),
        Command::GitHook(args) => git_hook::run(&args, ctx),
    }
}
