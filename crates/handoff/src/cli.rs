//! The commands: one file each, and here their list.

mod attempt;
mod batch;
mod baton;
mod completion;
mod context;
mod demo;
mod doctor;
mod dump;
mod errand;
mod events;
mod feature;
mod gc;
mod git;
mod heartbeat;
mod help;
mod hold;
mod keys;
mod late;
mod package;
mod pause;
mod queue;
mod resume;
mod scripted_agent;
mod session;
pub(crate) mod span;
mod teaching;
mod transfer;
mod upgrade;
mod version;
mod watchdog;
mod worker;
mod workflow;

pub(crate) use session::Opener;

use std::cell::OnceCell;
use std::ffi::OsStr;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use handoff_api::ExitCode;

use self::late::Late;
use crate::ambient::Ambient;
use crate::context::Context;
use crate::failure::Failure;
use crate::lookout;
use crate::output::{Format, Output};

/// Carries work from one AI coding agent session to the next, runs several side by side without harm, and loses
/// nothing.
#[derive(Debug, Parser)]
#[command(name = "handoff", disable_help_subcommand = true, version)]
#[command(after_help = "Start with `handoff demo`. Exit codes: `handoff help exit-codes`.")]
struct Cli {
    /// Print JSON: one document, or one object a line for streams.
    #[arg(long, global = true)]
    json: bool,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[command(flatten)]
    Feature(feature::Command),
    #[command(flatten)]
    Session(session::Command),
    #[command(flatten)]
    Git(git::Command),
    /// Walk the whole road once in a scratch repository: no set-up, no key, no network.
    Demo(Late<demo::Args>),
    /// Write the baton for the next session: add a task, or say that one is done or blocked.
    Dump(Late<dump::Args>),
    /// Tasks: add, list, claim, report.
    #[command(subcommand)]
    Queue(Late<queue::Command>),
    /// Batches: several tasks side by side, and what brings their results together.
    #[command(subcommand)]
    Batch(Late<batch::Command>),
    /// Workflows: phases in fresh sessions, each proved by the tool.
    #[command(subcommand)]
    Workflow(Late<workflow::Command>),
    /// Let a run of a workflow through its gate.
    Approve(Late<workflow::ApproveArgs>),
    /// Have the phase before the gate done again, with your reason.
    Reject(Late<workflow::RejectArgs>),
    /// Stop handing out work; what runs goes on.
    Hold(Late<hold::HoldArgs>),
    /// Hand out work again.
    Unhold(Late<hold::UnholdArgs>),
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
    /// Read how to get from nothing to an agent at work.
    Guide,
    /// Ways of working with sessions that have proved themselves.
    Recipes(Late<teaching::recipes::Args>),
    /// Teach Claude Code and Codex to use sessions.
    #[command(subcommand)]
    Skills(Late<teaching::skills::Command>),
    /// Look at versions, paths, the store, limits and what is missing here.
    Doctor(Late<doctor::Args>),
    /// Print a completion script for a shell.
    Completion(Late<completion::Args>),
    /// Replace this program by its newest release.
    Upgrade(Late<upgrade::Args>),
    /// Print the version.
    Version,
    /// Explain a command or a topic.
    Help(Late<help::Args>),
    /// Do something for a session in a sandbox.
    #[command(hide = true)]
    Errand(Late<errand::Args>),
    /// Play a script as if it were an agent.
    #[command(hide = true)]
    ScriptedAgent(Late<scripted_agent::Args>),
}

impl Command {
    /// Whether the one who runs it is told what went past our hooks: a person who works on a project, not a hook of git, not a
    /// holder, and not one who asks for help.
    fn looks_around(&self) -> bool {
        match self {
            Self::Session(command) => command.is_for_people(),
            Self::Git(command) => command.is_for_people(),
            Self::Feature(_)
            | Self::Dump(_)
            | Self::Queue(_)
            | Self::Batch(_)
            | Self::Hold(_)
            | Self::Unhold(_)
            | Self::Context(_)
            | Self::Package(_)
            | Self::Pause(_)
            | Self::Resume(_)
            | Self::Transfer(_)
            | Self::Events(_)
            | Self::Worker(_)
            | Self::Watchdog(_)
            | Self::Gc(_)
            | Self::Doctor(_) => true,
            Self::Demo(_)
            | Self::Keys(_)
            | Self::Heartbeat(_)
            | Self::Guide
            | Self::Recipes(_)
            | Self::Skills(_)
            | Self::Completion(_)
            | Self::Upgrade(_)
            | Self::Version
            | Self::Help(_)
            | Self::Errand(_)
            | Self::Workflow(_)
            | Self::Approve(_)
            | Self::Reject(_)
            | Self::ScriptedAgent(_) => false,
        }
    }
}

/// Runs the command that the process was started with.
pub(crate) fn main(ambient: Ambient) -> std::process::ExitCode {
    let wants_json = ambient
        .arguments
        .iter()
        .any(|argument| argument == OsStr::new("--json"));
    let cli = match Cli::try_parse_from(&ambient.arguments) {
        Ok(cli) => cli,
        Err(error) => return refuse(&error, &ambient, wants_json).number().into(),
    };
    // The agent ends as its script says, not with a code of ours.
    if let Command::ScriptedAgent(args) = &cli.command {
        return scripted_agent::run(args, &ambient);
    }
    let format = if cli.json { Format::Json } else { Format::Text };
    let mut ctx = Context {
        out: Output::new(&ambient, format),
        ambient,
        tree: None,
        repository: OnceCell::new(),
    };
    if cli.command.looks_around() {
        lookout::glance(&mut ctx);
    }
    let done = errand::forwarded(&cli.command, &mut ctx);
    let code = match done.unwrap_or_else(|| run(cli.command, &mut ctx)) {
        Ok(code) => code,
        Err(failure) if failure.is_closed_pipe => ExitCode::Done.number(),
        Err(failure) => {
            ctx.out.failure(&failure);
            failure.code.number()
        }
    };
    code.into()
}

/// Runs a command, and says what to exit with: a code of ours, or that of an agent.
fn run(command: Command, ctx: &mut Context) -> Result<u8, Failure> {
    if let Command::Session(command) = command {
        return session::run(command, ctx);
    }
    if let Command::Resume(args) = command {
        return resume::run(&args, ctx);
    }
    if let Command::Errand(args) = command {
        return errand::run(args.into_inner(), ctx);
    }
    run_own(command, ctx).map(ExitCode::number)
}

fn run_own(command: Command, ctx: &mut Context) -> Result<ExitCode, Failure> {
    match command {
        Command::Session(_) | Command::Errand(_) => unreachable!("it has codes of its own"),
        Command::Feature(command) => feature::run(command, ctx),
        Command::Git(command) => git::run(command, ctx),
        Command::Demo(args) => demo::run(&args, ctx),
        Command::Dump(args) => dump::run(args.into_inner(), ctx),
        Command::Queue(command) => queue::run(command.into_inner(), ctx),
        Command::Batch(command) => batch::run(command.into_inner(), ctx),
        Command::Workflow(command) => workflow::run(command.into_inner(), ctx),
        Command::Approve(args) => workflow::approve(args.into_inner(), ctx),
        Command::Reject(args) => workflow::reject(args.into_inner(), ctx),
        Command::Hold(args) => hold::hold(args.into_inner(), ctx),
        Command::Unhold(args) => hold::unhold(args.into_inner(), ctx),
        Command::Context(command) => context::run(command.into_inner(), ctx),
        Command::Package(command) => package::run(command.into_inner(), ctx),
        Command::Pause(args) => pause::run(args.into_inner(), ctx),
        Command::Resume(_) => unreachable!("it has codes of its own"),
        Command::Transfer(args) => transfer::run(args.into_inner(), ctx),
        Command::Keys(command) => keys::run(command.into_inner(), ctx),
        Command::Events(args) => events::run(&args, ctx),
        Command::Worker(args) => worker::run(args.into_inner(), ctx),
        Command::Watchdog(args) => watchdog::run(&args, ctx),
        Command::Gc(args) => gc::run(&args, ctx),
        Command::Heartbeat(args) => heartbeat::run(args.into_inner(), ctx),
        Command::Guide => teaching::guide::run(ctx),
        Command::Recipes(args) => teaching::recipes::run(&args, ctx),
        Command::Skills(command) => teaching::skills::run(&command, ctx),
        Command::Doctor(args) => doctor::run(&args, ctx),
        Command::Completion(args) => completion::run(&args, ctx),
        Command::Upgrade(args) => upgrade::run(&args, ctx),
        Command::Version => version::run(ctx),
        Command::Help(args) => help::run(&args, ctx),
        Command::ScriptedAgent(_) => unreachable!("it never gets a context"),
    }
}

/// A command line that cannot be understood, or a request for help.
fn refuse(error: &clap::Error, ambient: &Ambient, wants_json: bool) -> ExitCode {
    let format = if wants_json {
        Format::Json
    } else {
        Format::Text
    };
    let mut out = Output::new(ambient, format);
    let incomplete = ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    // The page of all commands is put together for those only who ask for it.
    let with_page = matches!(error.kind(), ErrorKind::DisplayHelp) || error.kind() == incomplete;
    let again = with_page.then(|| help::command(out.width()));
    let again = again.and_then(|it| it.try_get_matches_from(&ambient.arguments).err());
    let text = again.as_ref().unwrap_or(error).render().to_string();
    let text = text.trim_end();
    // A reader that is gone needs neither.
    if error.kind() == ErrorKind::DisplayHelp {
        help::show(text, &mut out).ok();
        return ExitCode::Done;
    }
    if error.kind() == ErrorKind::DisplayVersion {
        version::show(&mut out).ok();
        return ExitCode::Done;
    }
    if error.kind() == incomplete && !wants_json {
        out.note(text).ok();
        return ExitCode::Usage;
    }
    out.failure(&Failure::usage(
        text.strip_prefix("error: ").unwrap_or(text),
    ));
    ExitCode::Usage
}
