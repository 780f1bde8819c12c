//! Bringing the branch of a task or a batch into the person's.

use handoff_api::{ExitCode, LandingDocument};
use handoff_core::batch::{BatchState, Outcome};
use handoff_core::task::Ending;
use handoff_core::{Action, Batch, BranchName, Task};
use handoff_engine::{Attempt, fan_in, publish_baseline};
use handoff_git::land::{LandError, Landed};
use handoff_git::{CommitLock, CommitLockError, Git};
use handoff_store::queue::{Change, Proved, TaskRef};
use handoff_store::{read, repositories};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::operation::{Effect, Needs, Operation, Takes};
use crate::project::Project;
use crate::workplace::Workplace;

/// Bring the branch of a task or a batch into a branch of the person's, forward only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Land {
    /// A task or a batch, by name or id, or one of their branches.
    pub what: String,
    /// The branch to move; without it the one that is checked out.
    #[serde(default)]
    pub into: Option<BranchName>,
}

impl Operation for Land {
    type Response = LandingDocument;

    const NAME: &'static str = "land";
    const EFFECT: Effect = Effect::Changes;
    const NEEDS: Needs = Needs::Action(Action::Land);
    const TAKES: Takes = Takes::Waits;

    fn perform(self, here: &Workplace) -> Result<LandingDocument, Failure> {
        let mut project = Project::open(here)?;
        let branch = branch(&self.what, &mut project)?;
        let git = Git::new(here.ambient.environment.clone());
        let now = here.clock()?.now().wall;
        let lock = CommitLock::take(&project.repository, "land", now)
            .map_err(|error: CommitLockError| Failure::of(ExitCode::Unavailable, &error))?;
        let landed = git
            .land(&lock, &project.repository, &branch, self.into.as_ref())
            .map_err(|error| waits(&error))?;
        carry_over(&mut project, &git, &branch, &landed)?;
        Ok(LandingDocument {
            branch: branch.to_string(),
            into: landed.into,
            from: landed.from.to_string(),
            to: landed.to.to_string(),
            commits: landed.commits,
        })
    }
}

/// What was proved on the task's branch is proved of the same commit here.
fn carry_over(
    project: &mut Project,
    git: &Git,
    branch: &BranchName,
    landed: &Landed,
) -> Result<(), Failure> {
    let (Ok(from), Ok(into)) = (branch.as_str().parse(), landed.into.parse()) else {
        return Ok(());
    };
    let id = project.id;
    let proved = read(&mut *project.store, |tx| {
        repositories::baseline(tx, id, &from)
    })?;
    let Some(proved) = proved.filter(|it| it.commit == landed.to) else {
        return Ok(());
    };
    let change = Change::SetBaseline(Proved {
        project: id,
        branch: into,
        commit: proved.commit,
        command: proved.command,
    });
    let recorded = project.submit(change, None)?;
    publish_baseline(git, &project.repository, &recorded.receipt.answer);
    Ok(())
}

fn branch(what: &str, project: &mut Project) -> Result<BranchName, Failure> {
    if what.starts_with("handoff/") {
        return what.parse().map_err(|error| {
            Failure::usage(format!("{what:?} is not a branch of ours")).because(&error)
        });
    }
    let unknown = match project.task(what) {
        Ok(task) => return of_task(&task),
        Err(failure) => failure,
    };
    // A task of that name would have been meant: it is the smaller thing.
    match project.batch(what) {
        Ok(batch) if unknown.code == ExitCode::NotFound => of_batch(&batch, project),
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
fn of_batch(batch: &Batch, project: &mut Project) -> Result<BranchName, Failure> {
    let fan_in = project.find(&TaskRef::Id(batch.spec.fan_in))?;
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
