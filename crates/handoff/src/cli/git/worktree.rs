//! `handoff worktree`.

use std::error::Error;
use std::path::Path;

use handoff_api::{ExitCode, PruneDocument, StuckWorktree, WorktreeRow, WorktreesDocument};
use handoff_core::{Action, Task};
use handoff_engine::{Attempt, EngineError, Places, reconcile};
use handoff_git::{Checkout, Git, Worktree};
use handoff_operations::{Failure, Project};
use handoff_store::{StoreError, read, tasks};

use crate::context::Context;
use crate::output::{Table, Tone, one_line, plain};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// List the trees of this repository, and whose they are.
    List,
    /// Remove the trees of attempts that are over; what is only there is saved first.
    Prune,
}

pub(super) fn run(command: &Command, ctx: &mut Context) -> Result<ExitCode, Failure> {
    match command {
        Command::List => list(ctx),
        Command::Prune => prune(ctx),
    }
}

fn list(ctx: &mut Context) -> Result<ExitCode, Failure> {
    let repository = handoff_operations::project::discover(ctx)?;
    let git = Git::new(ctx.ambient.environment.clone());
    let trees = git
        .list_worktrees(&repository)
        .map_err(|error| Failure::of(ExitCode::Failed, &error))?;
    let mut desk = Project::peek(ctx)?;
    let is_spare =
        |tree: &Worktree| Places::is_spare(&tree.path) && repository.has_half_made_tree(&tree.path);
    let rows = trees.iter().map(|tree| WorktreeRow {
        is_spare: is_spare(tree),
        ..row(tree, desk.as_mut())
    });
    let rows: Vec<_> = rows.collect();
    if ctx.out.is_json() {
        let document = WorktreesDocument { worktrees: rows };
        ctx.out.document(WorktreesDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    let mut table = Table::new(&["TASK", "TRY", "STATE", "BRANCH", "PATH"]);
    for row in rows {
        let state = state(&row).map(str::to_owned);
        let text = |text: Option<String>| (Tone::Plain, text.unwrap_or_else(|| "-".to_owned()));
        table.row([
            text(row.task),
            text(row.attempt.map(|it| it.to_string())),
            text(state),
            text(row.branch),
            text(Some(row.path)),
        ]);
    }
    ctx.out.table(&table)?;
    Ok(ExitCode::Done)
}

fn state(row: &WorktreeRow) -> Option<&'static str> {
    match row.is_live {
        Some(true) => Some("live"),
        Some(false) => Some("over"),
        None => row.is_spare.then_some("spare"),
    }
}

fn row(tree: &Worktree, desk: Option<&mut Project>) -> WorktreeRow {
    let attempt = Attempt::from_directory(&tree.path);
    let task = attempt.and_then(|attempt| task_of(attempt, desk?));
    let branch = match &tree.checkout {
        Checkout::Branch { full_name, .. } => {
            let short = full_name.strip_prefix("refs/heads/");
            Some(short.unwrap_or(full_name).to_owned())
        }
        Checkout::Detached(_) | Checkout::Bare => None,
    };
    let is_live = attempt.zip(task.as_ref()).map(|(attempt, task)| {
        let lease = task.state.lease();
        lease.is_some_and(|lease| lease.fence == attempt.fence)
    });
    WorktreeRow {
        path: tree.path.display().to_string(),
        branch,
        attempt: task.as_ref().and(attempt).map(|it| it.fence.number()),
        task: task.map(|task| task.spec.name.to_string()),
        is_live,
        is_spare: false,
    }
}

fn task_of(attempt: Attempt, desk: &mut Project) -> Option<Task> {
    read(&mut *desk.store, |tx| tasks::get(tx, attempt.task)).ok()
}

fn prune(ctx: &mut Context) -> Result<ExitCode, Failure> {
    let mut desk = Project::open(ctx)?;
    desk.caller.may(Action::Steer).map_err(StoreError::from)?;
    let clock = ctx.clock()?;
    let mut workshop = desk.workshop(ctx, &*clock)?;
    let ignored = ignored(&mut workshop);
    reconcile::lost_holders(&mut *workshop.store, &workshop.places)?;
    let spare = reconcile::spare_trees(&workshop)?;
    let repaired = reconcile::orphaned_worktrees(&mut workshop)?;
    let stuck: Vec<_> = { repaired.stuck.iter() }
        .chain(&spare)
        .map(|(path, error)| StuckWorktree {
            path: path.display().to_string(),
            reason: one_line(&reason(error)),
        })
        .collect();
    let is_stuck = !stuck.is_empty();
    report(
        PruneDocument {
            removed: repaired.retired(),
            stuck,
            ignored: ignored.into_iter().filter(|it| is_gone(it)).collect(),
        },
        ctx,
    )?;
    Ok(if is_stuck {
        ExitCode::CheckFailed
    } else {
        ExitCode::Done
    })
}

/// What went wrong, and all that it came from.
fn reason(error: &EngineError) -> String {
    let first: &(dyn Error + 'static) = error;
    let chain = std::iter::successors(Some(first), |&it| it.source());
    let chain: Vec<_> = chain.map(ToString::to_string).collect();
    chain.join(": ")
}

/// Ignored files are not saved, and so they are at least named.
fn ignored(workshop: &mut handoff_engine::Workshop<'_>) -> Vec<String> {
    let place = workshop.places.worktrees(workshop.project);
    let Ok(entries) = std::fs::read_dir(place) else {
        return vec![];
    };
    let trees = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let repository = workshop.repository;
    let trees = trees.filter_map(|path| repository.linked_at(&path));
    let named = trees.flat_map(|at| {
        let files = workshop
            .git
            .bound_to(&at)
            .ignored_files(&at)
            .unwrap_or_default();
        let root = at.worktree_root().map(Path::to_owned).unwrap_or_default();
        files
            .into_iter()
            .map(move |file| root.join(file).display().to_string())
    });
    named.collect()
}

fn is_gone(path: &str) -> bool {
    !Path::new(path).exists()
}

fn report(document: PruneDocument, ctx: &mut Context) -> Result<(), Failure> {
    if ctx.out.is_json() {
        ctx.out.document(PruneDocument::SCHEMA, document)?;
        return Ok(());
    }
    for it in &document.stuck {
        let (path, why) = (plain(&it.path), plain(&it.reason));
        ctx.out.note(format!("`{path}` stays as it is: {why}."))?;
    }
    if !document.ignored.is_empty() {
        let shown: Vec<_> = document
            .ignored
            .iter()
            .take(10)
            .map(|it| plain(it))
            .collect();
        ctx.out.note(format!(
            "Ignored by git, and not saved: {}{}",
            shown.join(" "),
            if document.ignored.len() > 10 {
                " …"
            } else {
                ""
            }
        ))?;
    }
    ctx.out.line(match document.removed {
        0 if document.stuck.is_empty() => "No tree of an attempt that is over.".to_owned(),
        0 => "No tree was removed.".to_owned(),
        1 => "Removed 1 tree. What was not committed in it is saved: `handoff rescue TASK`."
            .to_owned(),
        count => format!(
            "Removed {count} trees. What was not committed in them is saved: `handoff rescue TASK`."
        ),
    })?;
    Ok(())
}
