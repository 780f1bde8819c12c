//! The commands of sessions: agents on a terminal, each under a holder of its own.

pub(super) mod address;
mod agents;
mod answer;
mod attach;
mod babysitter;
mod holder;
mod hook;
mod interrupt;
mod journal;
mod last_word;
mod lease_keeper;
mod live_pane;
mod logs;
mod messages;
mod openings;
mod own_holder;
mod pane;
pub(super) mod patience;
pub(super) mod ps;
mod raw_terminal;
mod reply;
mod rest;
pub(super) mod run;
mod seat;
mod send;
mod signal;
mod snapshot;
mod spawner;
mod stop;
mod tab;
mod viewer;
mod wait;
mod watch_args;

use handoff_api::ExitCode;
use handoff_operations::Failure;

pub(super) use journal::run as events;
pub(super) use journal::{Ending, JournalArgs};
pub(super) use last_word::say_last;
pub(super) use rest::{Manner, Rest, last_event};
pub(super) use seat::Seat;
pub(super) use snapshot::snapshot;
pub(super) use spawner::{Spawner, require_agent};
pub(super) use stop::stop_session;
pub(super) use tab::Tab;

use super::errand::Reading;
use super::late::Late;
use crate::context::Context;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Start an agent, or any program, as a session that outlives your terminal.
    Run(Late<run::Args>),
    /// List the sessions that live.
    Ps(Late<ps::Args>),
    /// Show what a session's terminal shows.
    Pane(Late<pane::Args>),
    /// Show what a session has printed.
    Logs(Late<logs::Args>),
    /// Sit down at a session's terminal; `Ctrl-]` leaves it.
    Attach(Late<attach::Args>),
    /// End a session, and say so when nothing of it is left.
    Stop(Late<stop::Args>),
    /// Say something to a session: typed when its agent reads, delivered when that was seen.
    Send(Late<send::Args>),
    /// What was said to a session, and how far it came.
    Messages(Late<messages::Args>),
    /// Say something to whoever started this session.
    Reply(Late<reply::Args>),
    /// Inside a session: say that your task is done, so that it is checked.
    Done(Late<last_word::DoneArgs>),
    /// Inside a session: say that your task needs a person.
    Block(Late<last_word::BlockArgs>),
    /// Answer the question that an agent shows, or see what it asks.
    Answer(Late<answer::Args>),
    /// Make an agent stop what it is doing.
    Interrupt(Late<interrupt::Args>),
    /// Send a signal to an agent, or to everything that it has started.
    Signal(Late<signal::Args>),
    /// Wait until a session has ended and exit as it did, or until it does something.
    Wait(Late<wait::Args>),
    /// The agents that `run` knows, and how each is described.
    Agents(Late<agents::Args>),
    /// Tell a session's holder what its agent says by a hook.
    #[command(hide = true)]
    Hook,
    /// Hold a session.
    #[command(hide = true)]
    SessionHolder(Late<holder::Args>),
    /// Keep the lease of a session's task alive.
    #[command(hide = true)]
    LeaseKeeper(Late<lease_keeper::Args>),
    /// Stand for an agent that lives in a tab.
    #[command(hide = true)]
    TabAgent,
}

impl Command {
    /// What it reads, if it is done for a session in a sandbox. What a session says of its own task goes to its holder by
    /// itself.
    pub(super) fn reading(&self) -> Option<Reading> {
        if let Self::Send(args) = self {
            Some(args.reading())
        } else if let Self::Reply(args) = self {
            Some(args.reading())
        } else if let Self::Messages(_) = self {
            Some(Reading::Nothing)
        } else {
            None
        }
    }
}

impl Command {
    /// What an agent or its holder runs is not.
    pub(super) const fn is_for_people(&self) -> bool {
        match self {
            Self::Run(_)
            | Self::Ps(_)
            | Self::Pane(_)
            | Self::Logs(_)
            | Self::Attach(_)
            | Self::Stop(_)
            | Self::Send(_)
            | Self::Messages(_)
            | Self::Answer(_)
            | Self::Interrupt(_)
            | Self::Signal(_)
            | Self::Wait(_) => true,
            Self::Reply(_)
            | Self::Done(_)
            | Self::Block(_)
            | Self::Agents(_)
            | Self::Hook
            | Self::LeaseKeeper(_)
            | Self::TabAgent
            | Self::SessionHolder(_) => false,
        }
    }
}

pub(super) fn run(command: Command, ctx: &mut Context) -> Result<u8, Failure> {
    let ours = match command {
        Command::Run(args) => return run::run(&args.into_inner().settled()?, ctx),
        Command::Wait(args) => return wait::run(&args, ctx),
        Command::Ps(args) => ps::run(&args, ctx),
        Command::Pane(args) => pane::run(&args, ctx),
        Command::Logs(args) => logs::run(&args, ctx),
        Command::Attach(args) => return attach::run(&args, ctx),
        Command::Stop(args) => stop::run(&args, ctx),
        Command::Send(args) => send::run(&args, ctx),
        Command::Messages(args) => messages::run(&args, ctx),
        Command::Reply(args) => reply::run(&args, ctx),
        Command::Done(args) => last_word::done(args.into_inner(), ctx),
        Command::Block(args) => last_word::block(args.into_inner(), ctx),
        Command::Answer(args) => answer::run(&args, ctx),
        Command::Interrupt(args) => interrupt::run(&args, ctx),
        Command::Signal(args) => signal::run(&args, ctx),
        Command::Agents(args) => agents::run(args.into_inner(), ctx),
        Command::Hook => Ok(hook::run(ctx)),
        Command::SessionHolder(args) => holder::run(args.into_inner(), ctx),
        Command::LeaseKeeper(args) => lease_keeper::run(&args, ctx),
        Command::TabAgent => tab::run(ctx),
    };
    ours.map(ExitCode::number)
}
