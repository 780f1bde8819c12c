//! `handoff transfer`: pauses a task, a session or a batch and hands it to somebody else. It is theirs when they have taken it, and not before.

use std::path::PathBuf;

use handoff_api::{ExitCode, TransferDocument};
use handoff_core::package::{PackageKind, Recipient};
use handoff_core::{PackageId, PackageRecord, TaskName, TreeState};
use handoff_engine::{Attempt, without_secrets};
use handoff_git::Git;
use handoff_operations::{Failure, Project};
use handoff_store::{read, tasks};

use super::package::draft::DraftArgs;
use super::package::scrub::Secrets;
use super::package::send::Landing;
use super::package::{export, send};
use super::pause::{What, Wish};
use crate::context::Context;
use crate::output::one_line;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    what: What,
    /// Who is to go on with it. Without `--output` or `--ssh` it is offered to whoever uses this store.
    #[arg(long, value_name = "RECIPIENT")]
    to: Recipient,
    /// Write it to this file, for another store.
    #[arg(long, short, value_name = "FILE", conflicts_with = "ssh")]
    output: Option<PathBuf>,
    /// Hand it to `handoff package import -` on this host.
    #[arg(long, value_name = "HOST")]
    ssh: Option<String>,
    #[command(flatten)]
    landing: Landing,
    /// Replace what looks like a secret by a mark, instead of refusing.
    #[arg(long)]
    redact: bool,
    #[command(flatten)]
    draft: DraftArgs,
}

pub(super) fn run(args: Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let mut desk = Project::open(ctx)?;
    if args.output.is_some() || args.ssh.is_some() {
        args.what.can_leave(&mut desk)?;
    }
    args.output
        .as_deref()
        .map_or(Ok(()), export::can_be_written)?;
    let wish = Wish {
        kind: PackageKind::Transfer,
        secrets: Secrets::of(args.redact),
        draft: args.draft,
    };
    let record = args.what.pause(wish, &mut desk, ctx)?;
    let id = record.label.id;
    let left = left_behind(&record, &mut desk, ctx);
    let handed = match (args.ssh, &args.output) {
        (Some(host), _) => send::run(&send::Args::to_host(id, host, args.landing), ctx),
        (None, Some(output)) => export::to_file(id, output, args.to, ctx),
        (None, None) => return offer(id, &args.to, ctx),
    };
    if handed.is_ok() {
        for task in left {
            ctx.out.note(format!(
                "What `{task}` had changed and not finished stays here, for a package brings no files: `handoff rescue {task}` shows it."
            ))?;
        }
    }
    // It is paused, with its package, and still ours.
    handed.map_err(|failure| {
        failure.hint(format!(
            "it is paused here: `handoff resume {id}` goes on with it, `handoff package send` or `export` hands it over"
        ))
    })
}

/// It is theirs when they have taken it, and so nothing is transferred yet.
fn offer(id: PackageId, to: &Recipient, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let document = TransferDocument {
        handoff_id: id.to_string(),
        target_process: to.to_string(),
        transferred_at: None,
    };
    if ctx.out.is_json() {
        ctx.out.document(TransferDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    ctx.out
        .line(format!("{id} is offered to {}", one_line(to.as_str())))?;
    ctx.out
        .note(format!("They take it with `handoff resume {id}`."))?;
    Ok(ExitCode::Done)
}

/// The tasks of which something unfinished is in a tree here, or was saved. What cannot be found out keeps nobody from handing it over.
fn left_behind(record: &PackageRecord, desk: &mut Project, ctx: &Context) -> Vec<TaskName> {
    let Ok(stored) = desk.depot().find(record.label.id) else {
        return vec![];
    };
    let payload = stored.opened.package.payload;
    let mut each: Vec<_> = vec![(record.label.task, payload.tree)];
    for part in payload.batch.map(|it| it.parts).unwrap_or_default() {
        let found = desk.depot().find(part.package).ok();
        let tree = found.and_then(|it| it.opened.package.payload.tree);
        each.push((Some(part.task), tree));
    }
    let git = Git::new(without_secrets(ctx.ambient.environment.clone()));
    let mut left = vec![];
    for (task, tree) in each {
        let task = task.map(|task| read(&mut *desk.store, |tx| tasks::get(tx, task)));
        let Some(Ok(task)) = task else { continue };
        let label = Attempt::labels(&task);
        let saved = git.saved_work(&desk.repository, &label);
        if is_unfinished(tree.as_ref(), &label) || saved.is_ok_and(|it| !it.is_empty()) {
            left.push(task.spec.name);
        }
    }
    left
}

/// Whether the tree of an attempt had uncommitted changes; somebody else's tree is not its own.
fn is_unfinished(tree: Option<&TreeState>, label: &str) -> bool {
    let own = format!("handoff/{label}");
    tree.is_some_and(|tree| {
        let branch = tree.branch.as_ref();
        tree.dirty.is_some() && branch.is_some_and(|it| it.as_str().starts_with(&own))
    })
}
