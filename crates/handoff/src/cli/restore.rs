//! `handoff restore`: checks a backup, or puts it in the place of what is here; the state before is kept.

use std::path::{Path, PathBuf};

use handoff_api::{ExitCode, RestoreDocument};
use handoff_operations::Failure;
use handoff_operations::backup::{self, Restore};

use super::backup::line;
use crate::confirmation::{Destruction, YesArg, confirm, require_destroyer};
use crate::context::Context;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The directory that `handoff backup` made.
    #[arg(value_name = "DIR", required_unless_present = "undo")]
    directory: Option<PathBuf>,
    /// Only verify all of it; nothing is changed.
    #[arg(long)]
    check: bool,
    /// Put back the state that a restore kept under this name.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["directory", "check"])]
    undo: Option<String>,
    #[command(flatten)]
    yes: YesArg,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if !args.check {
        require_destroyer(ctx)?;
    }
    let document = perform(args, ctx)?;
    if ctx.out.is_json() {
        ctx.out.document(RestoreDocument::SCHEMA, document)?;
    } else {
        show(&document, ctx)?;
    }
    Ok(ExitCode::Done)
}

fn perform(args: &Args, ctx: &mut Context) -> Result<RestoreDocument, Failure> {
    if let Some(name) = &args.undo {
        let other = format!("what was kept as `{name}`");
        confirm(&Destruction::Ledger(other), args.yes, ctx)?;
        return backup::undo(name, ctx);
    }
    let directory = args.directory.as_deref().unwrap_or(Path::new(""));
    let restore = Restore::verify(directory, ctx)?;
    if args.check {
        return Ok(restore.checked());
    }
    if let Some(other) = restore.replaces()? {
        confirm(&Destruction::Ledger(other), args.yes, ctx)?;
    }
    restore.perform(ctx)
}

fn show(document: &RestoreDocument, ctx: &mut Context) -> Result<(), Failure> {
    match &document.backup {
        Some(backup) if document.is_check => ctx.out.line(format!(
            "The backup is whole: {}, made {} by handoff {}.",
            line(backup),
            backup.made_at,
            backup.tool
        ))?,
        Some(backup) => ctx.out.line(format!("Restored {}.", line(backup)))?,
        None => ctx.out.line("The state from before is back.")?,
    }
    if let Some(kept) = &document.kept {
        let name = Path::new(kept).file_name().unwrap_or_default().display();
        ctx.out.note(format!(
            "What was there before is kept in `{kept}`; to have it back: `handoff restore --undo {name}`."
        ))?;
    }
    if document.is_check || document.backup.is_none() {
        return Ok(());
    }
    if !document.has_key {
        ctx.out.note(
            "The key that sealed the packages is not here: trust it (`handoff keys trust`), or make the backup with `--keys`.",
        )?;
    }
    ctx.out.note(format!(
        "{} leases are void, and no fence that was given out before counts: their work is in branches and worktrees, if there was any.",
        document.leases
    ))?;
    Ok(ctx.out.note(
        "What happened after the backup is not known here: a package that was received since can be received again, and a task that was done since can be handed out again. \
         Look first: `handoff queue list`, `handoff package list`.",
    )?)
}
