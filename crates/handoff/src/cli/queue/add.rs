//! `handoff queue add`.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use handoff_api::ExitCode;
use handoff_core::ownership::PathPattern;
use handoff_core::task::{Brief, VerifyCommand};
use handoff_core::{Confinement, TaskName};
use handoff_operations::task::AddTask;
use handoff_operations::{Failure, call};

use super::{KeyArg, show_receipt};
use crate::cli::errand::Reading;
use crate::context::Context;

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
    /// How its sessions are held: `worktree` or `none`. Only a person takes them out of the sandbox.
    #[arg(long, value_name = "WHAT")]
    sandbox: Option<Confinement>,
    #[command(flatten)]
    key: KeyArg,
}

impl Args {
    pub(super) fn reading(&self) -> Reading {
        match (&self.brief_file, self.brief.as_deref()) {
            (Some(file), _) => Reading::File(file.clone()),
            (None, Some("-")) => Reading::Input,
            (None, _) => Reading::Nothing,
        }
    }
}

pub(super) fn run(args: Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let add = AddTask {
        name: args.name,
        brief: brief(args.brief, args.brief_file.as_deref())?,
        priority: args.priority,
        own: args.owns.iter().map(ToString::to_string).collect(),
        after: args.after,
        after_end: args.after_end,
        check: args.verify,
        sandbox: args.sandbox,
        key: args.key.key,
    };
    let receipt = call(add, ctx)?;
    let key = receipt.key.clone();
    let shown = show_receipt(receipt, "added", ctx);
    shown.map_err(|failure| failure.after_change(Some(&key)))
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
