//! `handoff rescue`.

use handoff_api::{ExitCode, RescueDocument, SavedRow};
use handoff_core::{Action, BranchName};
use handoff_engine::Attempt;
use handoff_git::Git;
use handoff_git::saved_work::SavedWork;
use handoff_operations::{Failure, Project};
use handoff_store::StoreError;

use crate::context::Context;
use crate::output::plain;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task, by name or id.
    task: String,
    /// Make this branch at the last of what is shown.
    #[arg(long, value_name = "BRANCH")]
    to: Option<BranchName>,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let mut desk = Project::open(ctx)?;
    let task = desk.task(&args.task)?;
    let label = Attempt::labels(&task);
    let git = Git::new(ctx.ambient.environment.clone());
    let failed = |error: handoff_git::GitError| Failure::of(ExitCode::Failed, &error);
    let mut saved = git
        .unlanded_work(&desk.repository, &label)
        .map_err(failed)?;
    saved.extend(git.saved_work(&desk.repository, &label).map_err(failed)?);
    let Some(newest) = saved.last() else {
        return Err(Failure::new(
            ExitCode::NotFound,
            format!(
                "nothing is left of `{}` that was not landed",
                task.spec.name
            ),
        ));
    };
    if let Some(branch) = &args.to {
        desk.caller.may(Action::Steer).map_err(StoreError::from)?;
        let is_taken = git
            .resolve_branch(&desk.repository, branch)
            .map_err(failed)?;
        if is_taken.is_some() {
            let taken = format!("there is a branch `{branch}` already");
            return Err(Failure::new(ExitCode::Conflict, taken));
        }
        git.make_branch(&desk.repository, branch, &newest.commit)
            .map_err(failed)?;
    }
    report(args, &saved, ctx)?;
    Ok(ExitCode::Done)
}

fn report(args: &Args, saved: &[SavedWork], ctx: &mut Context) -> Result<(), Failure> {
    if ctx.out.is_json() {
        let row = |it: &SavedWork| SavedRow {
            name: it.name.clone(),
            commit: it.commit.to_string(),
            paths: it.paths.clone(),
        };
        let document = RescueDocument {
            saved: saved.iter().map(row).collect(),
            branch: args.to.as_ref().map(ToString::to_string),
        };
        ctx.out.document(RescueDocument::SCHEMA, document)?;
        return Ok(());
    }
    for it in saved {
        let paths: Vec<_> = it.paths.iter().map(|path| plain(path)).collect();
        let id = &it.commit.as_str()[..10];
        ctx.out
            .line(format!("{id} {}: {}", plain(&it.name), paths.join(" ")))?;
    }
    match &args.to {
        Some(branch) => ctx
            .out
            .line(format!("The branch `{branch}` has the last of them."))?,
        None => ctx
            .out
            .note("`git show` shows one; `--to BRANCH` makes a branch of the last.")?,
    }
    Ok(())
}
