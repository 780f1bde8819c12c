//! The commands: one file each, and here their list.

mod api;
mod backup;
mod batch;
mod baton;
mod chapters;
mod check_supervisor;
mod completion;
mod context;
mod crier;
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
mod prospect;
mod queue;
mod reading;
mod restore;
mod resume;
mod scripted_agent;
mod session;
mod teaching;
mod transfer;
mod upgrade;
mod version;
mod watchdog;
mod worker;
mod workflow;

use std::ffi::OsStr;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use handoff_api::ExitCode;
use handoff_operations::session::authority;
use handoff_operations::{Failure, ref_monitor};

use self::chapters::{Around, Own, Packages, Tasks, Workflows};
use crate::ambient::Invocation;
use crate::context::Context;
use crate::output::{Format, Output};

/// Carries work from one AI coding agent session to the next, runs several side by side without harm, and loses
/// nothing.
#[derive(Debug, Parser)]
#[command(name = "handoff", disable_help_subcommand = true, version)]
#[command(after_help = "Start with `handoff demo`. Exit codes: `handoff help exit-codes`.")]
struct Cli {
    #[command(flatten)]
    options: Options,

    #[command(subcommand)]
    command: Command,
}

/// What every command takes.
#[derive(Debug, clap::Args)]
struct Options {
    /// Print JSON: one document, or one object a line for streams.
    #[arg(long, global = true)]
    json: bool,
}

/// All commands, by chapter: a line that names one is read with the definitions of its chapter only.
#[derive(Debug, Subcommand)]
enum Command {
    #[command(flatten)]
    Feature(feature::Command),
    #[command(flatten)]
    Session(session::Command),
    #[command(flatten)]
    Tasks(Tasks),
    #[command(flatten)]
    Workflows(Workflows),
    #[command(flatten)]
    Git(git::Command),
    #[command(flatten)]
    Packages(Packages),
    #[command(flatten)]
    Around(Around),
    #[command(flatten)]
    Own(Own),
}

impl Command {
    /// Whether the one who runs it is told what went past our hooks: a person who works on a project, not a hook of git, not a
    /// holder, and not one who asks for help.
    const fn looks_around(&self) -> bool {
        match self {
            Self::Session(command) => command.is_for_people(),
            Self::Git(command) => command.is_for_people(),
            Self::Tasks(command) => command.is_for_people(),
            Self::Packages(command) => command.is_of_a_project(),
            Self::Around(command) => command.is_of_a_project(),
            Self::Feature(_) => true,
            Self::Workflows(_) | Self::Own(_) => false,
        }
    }
}

/// Runs the command that the process was started with.
pub(crate) fn main(invocation: Invocation) -> std::process::ExitCode {
    let wants_json = invocation
        .arguments
        .iter()
        .any(|argument| argument == OsStr::new("--json"));
    let cli = match reading::read(&invocation.arguments) {
        Ok(cli) => cli,
        Err(error) => return refuse(&error, &invocation, wants_json).number().into(),
    };
    // The agent ends as its script says, not with a code of ours.
    if let Command::Own(Own::ScriptedAgent(args)) = &cli.command {
        return scripted_agent::run(args, &invocation.ambient);
    }
    if let Command::Own(Own::CheckSupervisor(args)) = &cli.command {
        return check_supervisor::run(args, &invocation.ambient);
    }
    let format = if cli.options.json {
        Format::Json
    } else {
        Format::Text
    };
    let mut ctx = Context::new(invocation, format);
    if cli.command.looks_around() {
        for line in ref_monitor::glance(&ctx) {
            // Whoever has closed this has nothing to read it with.
            ctx.out.note(line).unwrap_or_default();
        }
    }
    let done = errand::forwarded(&cli.command, &mut ctx);
    let code = match done.unwrap_or_else(|| run(cli.command, &mut ctx)) {
        Ok(code) => code,
        Err(failure) if failure.is_closed_pipe => ExitCode::Done.number(),
        Err(failure) => {
            if failure.code == ExitCode::Forbidden {
                authority::report_refused(&attempt(&failure, &ctx), &ctx);
            }
            ctx.out.failure(&failure);
            failure.code.number()
        }
    };
    code.into()
}

/// What was tried, by so much of the command line as says it.
fn attempt(failure: &Failure, ctx: &Context) -> String {
    let words = ctx.arguments.get(1..).unwrap_or_default();
    // A call by name is told by the operation that it names.
    let so_many = if words.first().is_some_and(|it| it == OsStr::new("api")) {
        3
    } else {
        2
    };
    let words: Vec<_> = words
        .iter()
        .take(so_many)
        .map(|it| it.to_string_lossy())
        .collect();
    match words.is_empty() {
        true => failure.message.clone(),
        false => words.join(" "),
    }
}

/// Runs a command, and says what to exit with: a code of ours, or that of an agent.
fn run(command: Command, ctx: &mut Context) -> Result<u8, Failure> {
    let ours = match command {
        Command::Session(command) => return session::run(command, ctx),
        Command::Packages(command) => return chapters::packages::run(command, ctx),
        Command::Own(Own::Errand(args)) => return errand::run(args.into_inner(), ctx),
        Command::Feature(command) => feature::run(command, ctx),
        Command::Tasks(command) => chapters::tasks::run(command, ctx),
        Command::Workflows(command) => chapters::workflows::run(command, ctx),
        Command::Git(command) => git::run(command, ctx),
        Command::Around(command) => chapters::around::run(command, ctx),
        Command::Own(Own::ScriptedAgent(_) | Own::CheckSupervisor(_)) => {
            unreachable!("they never get a context")
        }
    };
    ours.map(ExitCode::number)
}

/// A command line that cannot be understood, or a request for help.
fn refuse(error: &clap::Error, invocation: &Invocation, wants_json: bool) -> ExitCode {
    let format = if wants_json {
        Format::Json
    } else {
        Format::Text
    };
    let mut out = Output::new(invocation, format);
    let incomplete = ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    // The page of all commands is put together for those only who ask for it.
    let with_page = matches!(error.kind(), ErrorKind::DisplayHelp) || error.kind() == incomplete;
    let again = with_page.then(|| help::command(out.width()));
    let again = again.and_then(|it| it.try_get_matches_from(&invocation.arguments).err());
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
