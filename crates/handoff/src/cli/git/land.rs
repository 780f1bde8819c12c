//! `handoff land`.

use handoff_api::{ExitCode, LandingDocument};
use handoff_core::batch::{BatchState, Outcome};
use handoff_core::task::Ending;
use handoff_core::{Action, Batch, BranchName, Task};
use handoff_engine::{Attempt, fan_in, publish_baseline};
use handoff_git::land::{LandError, Landed};
use handoff_git::{CommitLock, CommitLockError, Git};
use handoff_store::queue::{Change, Proved, TaskRef};
use handoff_store::{StoreError, read, repositories};

use crate::context::Context;
use crate::desk::Desk;
use crate::failure::Failure;
use crate::output::plain;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A task or a batch, by name or id, or one of their branches.
    what: String,
    /// The branch to move; the one that is checked out here, unless said otherwise.
    #[arg(long, value_name = "BRANCH")]
    into: Option<BranchName>,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let mut desk = Desk::open(ctx)?;
    desk.caller.may(Action::Land).map_err(StoreError::from)?;
    let branch = branch(args, &mut desk)?;
    let git = Git::new(ctx.ambient.environment.clone());
    let now = ctx.clock()?.now().wall;
    let lock = CommitLock::take(&desk.repository, "land", now)
        .map_err(|error: CommitLockError| Failure::of(ExitCode::Unavailable, &error))?;
    let landed = git
        .land(&lock, &desk.repository, &branch, args.into.as_ref())
        .map_err(|error| waits(&error))?;
    carry_over(&mut desk, &git, &branch, &landed)?;
    report(&branch, &landed, ctx)?;
    Ok(ExitCode::Done)
}

/// What was proved on the task's branch is proved of the same commit here.
fn carry_over(
    desk: &mut Desk,
    git: &Git,
    branch: &BranchName,
    landed: &Landed,
) -> Result<(), Failure> {
    let (Ok(from), Ok(into)) = (branch.as_str().parse(), landed.into.parse()) else {
        return Ok(());
    };
    let project = desk.project;
    let proved = read(&mut *desk.store, |tx| {
        repositories::baseline(tx, project, &from)
    })?;
    let Some(proved) = proved.filter(|it| it.commit == landed.to) else {
        return Ok(());
    };
    let change = Change::SetBaseline(Proved {
        project,
        branch: into,
        commit: proved.commit,
        command: proved.command,
    });
    let recorded = desk.submit(change, None)?;
    publish_baseline(git, &desk.repository, &recorded.receipt.answer);
    Ok(())
}

fn branch(args: &Args, desk: &mut Desk) -> Result<BranchName, Failure> {
    if args.what.starts_with("handoff/") {
        return args.what.parse().map_err(|error| {
            Failure::usage(format!("{:?} is not a branch of ours", args.what)).because(&error)
        });
    }
    let unknown = match desk.task(&args.what) {
        Ok(task) => return of_task(&task),
        Err(failure) => failure,
    };
    // A task of that name would have been meant: it is the smaller thing.
    match desk.batch(&args.what) {
        Ok(batch) if unknown.code == ExitCode::NotFound => of_batch(&batch, desk),
        Ok(_) | Err(_) => Err(unknown),
    }
}

/// Of a task that is not done nothing was committed by us: its branch would land nothing, and say that it is there already.
fn of_task(task: &Task) -> Result<BranchName, Failure> {
    let has_commit = task.evidence.iter().any(|it| it.commit().is_some());
    let name = &task.spec.name;
    if !has_commit && task.state.ending().is_some_and(|it| it != Ending::Done) {
        let text = format!("`{name}` has nothing to land: it did not come to a commit");
        return Err(Failure::new(ExitCode::NotFound, text)
            .hint(format!("see what it left: `handoff rescue {name}`")));
    }
    Ok(Attempt::of(task).branch(task))
}

/// On the branch of a batch without a result may be that of an earlier one of the same name.
fn of_batch(batch: &Batch, desk: &mut Desk) -> Result<BranchName, Failure> {
    let fan_in = desk.find(&TaskRef::Id(batch.spec.fan_in))?;
    let name = &batch.spec.name;
    if Outcome::of(&fan_in).is_some_and(|it| it.result.is_some()) {
        return Ok(fan_in::branch(name));
    }
    let text = match batch.state {
        BatchState::Open | BatchState::FanIn { .. } => "it is not over",
        BatchState::Ended { .. } | BatchState::Cancelled { .. } => {
            "nothing of it was brought together"
        }
    };
    let text = format!("batch `{name}` has no result to land: {text}");
    Err(Failure::new(ExitCode::NotFound, text)
        .hint(format!("see how it stands: `handoff batch show {name}`")))
}

fn waits(error: &LandError) -> Failure {
    let (code, hint) = match error {
        LandError::Git(_) | LandError::Head(_) => (ExitCode::Failed, None),
        LandError::NoBranch(_) => (
            ExitCode::NotFound,
            Some("see what there is: `git branch --list 'handoff/*'`"),
        ),
        LandError::Diverged { .. } => (
            ExitCode::Conflict,
            Some("bring them together on the task's branch first, then land it"),
        ),
        LandError::Dirty(_) => (ExitCode::Conflict, Some("commit them, and land it then")),
        LandError::CheckedOut { .. } => (ExitCode::Conflict, Some("land it from there")),
        LandError::Detached => (ExitCode::Conflict, Some("name the branch: `--into BRANCH`")),
    };
    let failure = Failure::of(code, error);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

fn report(branch: &BranchName, landed: &Landed, ctx: &mut Context) -> Result<(), Failure> {
    if ctx.out.is_json() {
        let document = LandingDocument {
            branch: branch.to_string(),
            into: landed.into.clone(),
            from: landed.from.to_string(),
            to: landed.to.to_string(),
            commits: landed.commits,
        };
        ctx.out.document(LandingDocument::SCHEMA, document)?;
        return Ok(());
    }
    let into = plain(&landed.into);
    ctx.out.line(match landed.commits {
        0 => format!("{into} has all of {branch} already."),
        1 => format!("{into} has 1 commit more, from {branch}."),
        count => format!("{into} has {count} commits more, from {branch}."),
    })?;
    Ok(())
}
