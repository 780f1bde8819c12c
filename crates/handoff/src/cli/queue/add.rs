//! `handoff queue add`.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use handoff_api::ExitCode;
use handoff_core::ownership::PathPattern;
use handoff_core::task::{
    Brief, Dependency, Priority, TaskSpec, Until, VerifyCommand, dependencies,
};
use handoff_core::{Ownership, TaskId, TaskName};
use handoff_store::queue::{Change, TaskRef};
use handoff_store::{read, tasks};

use super::{KeyArg, change_task};
use crate::context::Context;
use crate::desk::Desk;
use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What to call it: a-z, 0-9, `.`, `_`, `-`.
    name: TaskName,
    /// What is to be done; `-` reads it from stdin.
    #[arg(
        long,
        short,
        value_name = "TEXT",
        required_unless_present = "brief_file",
        conflicts_with = "brief_file"
    )]
    brief: Option<String>,
    /// A file with what is to be done.
    #[arg(long, value_name = "PATH")]
    brief_file: Option<PathBuf>,
    /// Higher goes first; zero is ordinary.
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    priority: i16,
    /// A path that it may change: `src/lib.rs`, `src/` or `docs/**/*.md`. May be given several times.
    #[arg(long = "own", value_name = "PATTERN")]
    owns: Vec<PathPattern>,
    /// A task that must be done first. May be given several times.
    #[arg(long, value_name = "TASK")]
    after: Vec<String>,
    /// A task that must have ended first, however. May be given several times.
    #[arg(long, value_name = "TASK")]
    after_end: Vec<String>,
    /// A shell command whose success proves the work.
    #[arg(long, value_name = "COMMAND")]
    verify: Option<VerifyCommand>,
    #[command(flatten)]
    key: KeyArg,
}

pub(super) fn run(args: Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let brief = brief(args.brief, args.brief_file.as_deref())?;
    let owns = match args.owns {
        patterns if patterns.is_empty() => None,
        patterns => Some(
            Ownership::new(patterns)
                .map_err(|error| Failure::usage("these paths cannot be owned").because(&error))?,
        ),
    };
    let mut desk = Desk::open(ctx)?;
    let mut after = demands(&mut desk, &args.after, Until::Done)?;
    after.extend(demands(&mut desk, &args.after_end, Until::Ended)?);
    let spec = TaskSpec {
        priority: Priority::new(args.priority),
        owns,
        verify: args.verify,
        after: dependencies(after),
        ..TaskSpec::new(args.name, brief)
    };
    let id = TaskId::from_uuid(handoff_process::mint());
    let change = Change::Add {
        id,
        project: desk.project,
        spec,
    };
    change_task(&mut desk, change, args.key, "added", ctx)
}

fn brief(text: Option<String>, file: Option<&Path>) -> Result<Brief, Failure> {
    let text = match (text, file) {
        (Some(text), _) if text == "-" => {
            let mut text = String::new();
            let limit = Brief::LIMIT as u64 + 1;
            std::io::stdin()
                .take(limit)
                .read_to_string(&mut text)
                .map_err(|error| {
                    Failure::failed("cannot read the brief from stdin").because(&error)
                })?;
            text
        }
        (Some(text), _) => text,
        (None, Some(path)) => std::fs::read_to_string(path).map_err(|error| {
            Failure::failed(format!("cannot read `{}`", path.display())).because(&error)
        })?,
        (None, None) => String::new(),
    };
    Brief::try_from(text).map_err(|error| Failure::usage(error.to_string()))
}

/// The tasks that must have come so far.
pub(in crate::cli) fn demands(
    desk: &mut Desk,
    names: &[String],
    until: Until,
) -> Result<Vec<Dependency>, Failure> {
    let mut found = vec![];
    for name in names {
        let task = match desk.task_ref(name)? {
            TaskRef::Id(id) => id,
            TaskRef::Named { project, name } => {
                read(&mut *desk.store, |tx| tasks::named(tx, project, &name))?.id
            }
        };
        found.push(Dependency { task, until });
    }
    Ok(found)
}
