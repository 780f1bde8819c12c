//! `handoff backup`: copies what nothing else can make again, while everything runs.

use std::path::PathBuf;

use handoff_api::{BackupDocument, BackupManifest, ExitCode};
use handoff_operations::Failure;
use handoff_operations::backup::BackUp;

use crate::confirmation::{Destruction, YesArg, confirm};
use crate::context::Context;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A directory that is new or empty.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Also the keys: whoever has them seals packages in this machine's name.
    #[arg(long)]
    keys: bool,
    #[command(flatten)]
    yes: YesArg,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let wish = BackUp {
        directory: args.directory.clone(),
        keys: args.keys,
    };
    let unfinished = wish.unfinished(ctx)?;
    if let Some(path) = &unfinished {
        let shown = path.display().to_string();
        confirm(&Destruction::Unfinished(shown), args.yes, ctx)?;
    }
    let document = wish.perform(unfinished.is_some(), ctx)?;
    if ctx.out.is_json() {
        ctx.out.document(BackupDocument::SCHEMA, document)?;
    } else {
        show(&document, ctx)?;
    }
    Ok(ExitCode::Done)
}

/// What is in a backup, in a line.
pub(super) fn line(backup: &BackupManifest) -> String {
    format!(
        "{} tasks, {} packages and {} events of {}, in {} files",
        backup.tasks, backup.packages, backup.events, backup.store, backup.files
    )
}

fn show(document: &BackupDocument, ctx: &mut Context) -> Result<(), Failure> {
    let BackupDocument { directory, backup } = document;
    ctx.out
        .line(format!("Backed up {} to `{directory}`.", line(backup)))?;
    if backup.left_out > 0 {
        ctx.out.note(format!(
            "{} packages that nobody can receive any more are not in it: their bytes were cleared away, or are not whole.",
            backup.left_out
        ))?;
    }
    let keys = match backup.has_keys {
        true => {
            "The keys are in it: whoever has this directory seals packages in this machine's name. Keep it secret."
        }
        false => "The keys are not in it; `--keys` adds them.",
    };
    ctx.out.note(keys)?;
    Ok(ctx.out.note(format!(
        "Not in it: branches (git has them), transcripts and worktrees of sessions, your settings. Check it: `handoff restore --check {directory}`."
    ))?)
}
