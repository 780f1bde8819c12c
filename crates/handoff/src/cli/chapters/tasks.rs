//! Work that is handed out once, and spreads.

use handoff_api::ExitCode;
use handoff_operations::Failure;

use crate::cli::errand::Reading;
use crate::cli::late::Late;
use crate::cli::{batch, dump, events, gc, heartbeat, hold, queue, watchdog, worker};
use crate::context::Context;

#[derive(Debug, clap::Subcommand)]
pub(in crate::cli) enum Command {
    /// Write the baton for the next session: add a task, or say that one is done or blocked.
    Dump(Late<dump::Args>),
    /// Tasks: add, list, claim, report.
    #[command(subcommand)]
    Queue(Late<queue::Command>),
    /// Batches: several tasks side by side, and what brings their results together.
    #[command(subcommand)]
    Batch(Late<batch::Command>),
    /// Stop handing out work; what runs goes on.
    Hold(Late<hold::HoldArgs>),
    /// Hand out work again.
    Unhold(Late<hold::UnholdArgs>),
    /// Read or follow the ledger, or what happens to a session.
    Events(Late<events::Args>),
    /// Take ready tasks down the road.
    Worker(Late<worker::Args>),
    /// Put right what dead workers and sessions left, once; for cron and timers.
    Watchdog(Late<watchdog::Args>),
    /// Show what nobody needs any more, and why the rest stays; `--apply` clears it away.
    Gc(Late<gc::Args>),
    /// Keep the lease of a task alive that you work on outside of a session.
    Heartbeat(Late<heartbeat::Args>),
}

impl Command {
    /// A beat is nothing that a person does.
    pub(in crate::cli) const fn is_for_people(&self) -> bool {
        !matches!(self, Self::Heartbeat(_))
    }

    /// What it reads, if it is done for a session in a sandbox.
    pub(in crate::cli) fn reading(&self) -> Option<Reading> {
        match self {
            Self::Queue(command) => command.reading(),
            Self::Dump(args) => Some(args.reading()),
            Self::Heartbeat(_) => Some(Reading::Nothing),
            Self::Batch(_)
            | Self::Hold(_)
            | Self::Unhold(_)
            | Self::Events(_)
            | Self::Worker(_)
            | Self::Watchdog(_)
            | Self::Gc(_) => None,
        }
    }

    /// Whether it is the last word of the session that one is in: that goes to its holder by itself.
    pub(in crate::cli) fn is_last_word(&self, ctx: &Context) -> bool {
        matches!(self, Self::Dump(args) if args.is_last_word(ctx))
    }

    /// What it reads, if it needs the ledger and nothing else that a session does not have.
    pub(in crate::cli) fn reading_with_ledger(&self) -> Option<Reading> {
        matches!(self, Self::Queue(_)).then_some(Reading::Nothing)
    }
}

pub(in crate::cli) fn run(command: Command, ctx: &mut Context) -> Result<ExitCode, Failure> {
    match command {
        Command::Dump(args) => dump::run(args.into_inner(), ctx),
        Command::Queue(command) => queue::run(command.into_inner(), ctx),
        Command::Batch(command) => batch::run(command.into_inner(), ctx),
        Command::Hold(args) => hold::hold(args.into_inner(), ctx),
        Command::Unhold(args) => hold::unhold(args.into_inner(), ctx),
        Command::Events(args) => events::run(&args, ctx),
        Command::Worker(args) => worker::run(args.into_inner(), ctx),
        Command::Watchdog(args) => watchdog::run(&args, ctx),
        Command::Gc(args) => gc::run(&args, ctx),
        Command::Heartbeat(args) => heartbeat::run(args.into_inner(), ctx),
    }
}
