//! The commands of the feature workspace, and the site they all work at.

mod archive;
mod checkpoint;
mod choice;
mod clean;
mod continuation;
mod decide;
mod delivery;
mod diagnosis;
mod export;
mod ignore;
mod init;
mod list;
mod next;
mod note;
mod prompt;
mod purpose;
mod standing;
mod status;
mod step;
mod switch;
mod trust;
mod validate;
mod verify;

use handoff_api::ExitCode;
use handoff_operations::Failure;
use handoff_workspace::prompt::Purpose;

pub(super) use diagnosis::findings;
pub(super) use purpose::purpose;

use super::late::Late;
use crate::context::Context;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Create a feature, or the missing documents of one.
    Init(Late<init::Args>),
    /// Make the prompt that plans what is not planned yet and begins the work.
    Start(Late<delivery::DeliveryArgs>),
    /// Make the prompt that writes or rewrites `SPEC.md`.
    Spec(Late<delivery::DeliveryArgs>),
    /// Make the prompt that writes or rewrites `DESIGN.md`.
    Design(Late<delivery::DeliveryArgs>),
    /// Make the prompt that writes or rewrites the plan in `STATE.md`.
    Tasks(Late<delivery::DeliveryArgs>),
    /// Make the prompt from which a fresh session goes on.
    Continue(Late<continuation::Args>),
    /// Make any prompt, without checking whether it makes sense now.
    Prompt(Late<prompt::Args>),
    /// See it all: the feature and how fresh that is, what waits for you, sessions, queue, batches and runs.
    Status(Late<status::Args>),
    /// Say the one next action.
    Next(Late<next::Args>),
    /// Find all problems of the workspace, with file and line.
    Validate(Late<validate::Args>),
    /// Say what happened to a step of the plan.
    #[command(subcommand)]
    Step(Late<step::Command>),
    /// Write down something worth knowing, for whoever comes next.
    Note(Late<note::Args>),
    /// Write down what was decided, and why.
    Decide(Late<decide::Args>),
    /// Show what proves the work, or prove it.
    Verify(Late<verify::Args>),
    /// Let the commands of this repository run, as they are now.
    Trust(Late<trust::Args>),
    /// Write down where things stand, for whoever comes next.
    Checkpoint(Late<checkpoint::Args>),
    /// Choose the feature to work on.
    Switch(Late<switch::Args>),
    /// List the features, and how far they are.
    List,
    /// Put a feature away.
    Archive(Late<archive::Args>),
    /// Move all features but the current one to the trash; `--undo` brings them back.
    Clean(Late<clean::Args>),
    /// Write the built-in templates into the workspace, to be changed.
    Export(Late<export::Args>),
    /// Let git ignore the workspace, or not any more.
    Ignore,
}

pub(super) fn run(command: Command, ctx: &mut Context) -> Result<ExitCode, Failure> {
    match command {
        Command::Init(args) => init::run(args.into_inner(), ctx),
        Command::Switch(args) => switch::run(&args, ctx),
        Command::List => list::run(ctx),
        Command::Archive(args) => archive::run(&args, ctx),
        Command::Clean(args) => clean::run(&args, ctx),
        Command::Ignore => ignore::run(ctx),
        Command::Export(args) => export::run(&args, ctx),
        Command::Start(args) => prompt::guarded(Purpose::Start, &args, ctx),
        Command::Spec(args) => prompt::guarded(Purpose::Spec, &args, ctx),
        Command::Design(args) => prompt::guarded(Purpose::Design, &args, ctx),
        Command::Tasks(args) => prompt::guarded(Purpose::Tasks, &args, ctx),
        Command::Continue(args) => continuation::run(&args, ctx),
        Command::Prompt(args) => prompt::run(&args, ctx),
        Command::Step(command) => step::run(command.into_inner(), ctx),
        Command::Note(args) => note::run(&args, ctx),
        Command::Decide(args) => decide::run(&args, ctx),
        Command::Next(args) => next::run(&args, ctx),
        Command::Validate(args) => validate::run(&args, ctx),
        Command::Status(args) => status::run(&args, ctx),
        Command::Checkpoint(args) => checkpoint::run(args.into_inner(), ctx),
        Command::Verify(args) => verify::run(&args, ctx),
        Command::Trust(args) => trust::run(&args, ctx),
    }
}
