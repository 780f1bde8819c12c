//! Opening a batch: its manifest is checked whole, then everything is published at once.

use std::path::{Path, PathBuf};

use handoff_api::ExitCode;
use handoff_core::batch::{Manifest, Opening};
use handoff_core::{Action, BatchId, CommitId, IdempotencyKey, TaskId};
use handoff_git::{Git, Repository};
use handoff_operations::project::{caller, discover};
use handoff_operations::{Failure, Project};
use handoff_store::queue::{Answer, Change};

use super::change;
use super::manifest_file;
use super::plan::{self, SlotsArg};
use crate::cli::{baton, prospect};
use crate::context::Context;

/// Whether anything is to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Earnest {
    /// Open it.
    Really,
    /// Only show what would be.
    DryRun,
}

/// How a batch is to be opened.
pub(in crate::cli) struct Terms {
    pub(in crate::cli) earnest: Earnest,
    /// What must be done before its parts begin.
    pub(in crate::cli) after: Option<TaskId>,
    pub(in crate::cli) key: Option<IdempotencyKey>,
}

/// Opens the batch of a manifest, or shows how it would run.
pub(in crate::cli) fn open(
    file: &Path,
    terms: Terms,
    slots: &SlotsArg,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    let manifest = manifest_file::read(file, ctx)?;
    check_workspace(&manifest, ctx)?;
    if terms.earnest == Earnest::DryRun {
        rehearse(&manifest, terms, ctx)?;
        return plan::show(&manifest, slots, ctx);
    }
    let mut desk = Project::open(ctx)?;
    let base = base(&desk.repository, ctx)?;
    let change = opening(manifest, base, terms.after, &desk);
    let recorded = desk.submit(change, terms.key)?;
    if let Answer::Batch(batch) = &recorded.receipt.answer {
        baton::write_batch(&mut desk, batch, ctx);
    }
    let shown = change::tell(&mut desk, &recorded, ctx);
    let shown = shown.map_err(|failure| recorded.untold(failure))?;
    prospect::of_batch(&mut desk, terms.after, ctx)?;
    Ok(shown)
}

/// Refuses what would be refused. In a repository that is no project yet there is nothing in the way.
fn rehearse(manifest: &Manifest, terms: Terms, ctx: &Context) -> Result<(), Failure> {
    let base = base(&discover(ctx)?, ctx)?;
    match Project::peek(ctx)? {
        Some(mut desk) => {
            let change = opening(manifest.clone(), base, terms.after, &desk);
            desk.rehearse(change, terms.key).map(drop)
        }
        None => Ok(caller(&ctx.ambient)?.may(Action::Add)?),
    }
}

fn base(at: &Repository, ctx: &Context) -> Result<CommitId, Failure> {
    let git = Git::new(ctx.ambient.environment.clone());
    git.head(at).map_err(|error| {
        Failure::failed("there is no commit that the parts could begin with")
            .because(&error)
            .hint("commit something first")
    })
}

fn opening(manifest: Manifest, base: CommitId, after: Option<TaskId>, desk: &Project) -> Change {
    let id = || TaskId::from_uuid(handoff_process::mint());
    let opening = Opening {
        batch: BatchId::from_uuid(handoff_process::mint()),
        parts: manifest.parts.iter().map(|_| id()).collect(),
        fan_in: id(),
        next: id(),
        base,
        after,
        run: None,
    };
    Change::OpenBatch {
        opening: Box::new(opening),
        project: desk.id,
        manifest: Box::new(manifest),
    }
}

/// A manifest that names a repository is opened in that one and no other.
fn check_workspace(manifest: &Manifest, ctx: &Context) -> Result<(), Failure> {
    let Some(workspace) = &manifest.workspace else {
        return Ok(());
    };
    let here = discover(ctx)?;
    let there = Repository::discover(&PathBuf::from(workspace)).ok();
    let is_same = there.is_some_and(|it| it.common_dir() == here.common_dir());
    if is_same {
        return Ok(());
    }
    let what = format!("the manifest is for the repository at `{workspace}`, not for this one");
    Err(Failure::new(ExitCode::Conflict, what)
        .hint("change to that repository, or take `workspace` out of the manifest"))
}
