//! What there is here to go on with: the task, the plan of the feature, the phases of the pipeline.

use handoff_core::{FeatureName, TaskId};
use handoff_git::Repository;
use handoff_operations::config::PackageConfig;
use handoff_operations::{Failure, Project};
use handoff_package::Package;
use handoff_package::resumption::{Presence, Surroundings};
use handoff_store::{StoreError, read, tasks};
use handoff_workspace::feature::Document;
use handoff_workspace::plan::Plan;
use handoff_workspace::workspace::{Current, Workspace};

/// What a package that is received here can go on with.
pub(super) fn surroundings(
    package: &Package,
    settings: PackageConfig,
    desk: &mut Project,
) -> Result<Surroundings, Failure> {
    let (label, payload) = (&package.label, &package.payload);
    let batch = payload.batch.as_ref().and_then(|it| it.whole.as_ref());
    let task = match label.task {
        // One that is not here comes with it.
        Some(_) if payload.task.is_some() || batch.is_some() => Presence::Here(()),
        Some(task) => known(task, desk)?,
        None => Presence::Unnamed,
    };
    let plan = match &label.feature {
        Some(feature) => match plan_of(&desk.repository, feature) {
            Some(plan) => Presence::Here(count(plan.steps.len())),
            None => Presence::Absent,
        },
        None => Presence::Unnamed,
    };
    Ok(Surroundings {
        phases: settings.phases,
        task,
        plan,
    })
}

fn known(task: TaskId, desk: &mut Project) -> Result<Presence, Failure> {
    match read(&mut *desk.store, |tx| tasks::get(tx, task)) {
        Ok(_) => Ok(Presence::Here(())),
        Err(StoreError::NotFound { .. }) => Ok(Presence::Absent),
        Err(error) => Err(error.into()),
    }
}

/// How far the plan of the current feature is.
pub(crate) struct PlanState {
    pub(crate) feature: FeatureName,
    pub(crate) done: u32,
    pub(crate) total: u32,
    /// What is to be done next, if the plan says.
    pub(crate) next: Option<String>,
}

/// The plan of the current feature; none if there is none, or none that can be read. A package is made all the same.
pub(crate) fn current_plan(at: &Repository) -> Option<PlanState> {
    let workspace = Workspace::open(at.main_worktree()?).ok()??;
    let Current::Feature(feature) = workspace.current().ok()? else {
        return None;
    };
    let plan = plan_of(at, &feature)?;
    Some(PlanState {
        done: count(plan.done()),
        total: count(plan.steps.len()),
        next: plan.current().map(|step| step.title.clone()),
        feature,
    })
}

fn plan_of(at: &Repository, feature: &FeatureName) -> Option<Plan> {
    let workspace = Workspace::open(at.main_worktree()?).ok()??;
    let feature = workspace.feature(feature).ok()??;
    let text = feature.read(Document::State).ok()??;
    Some(Plan::parse(&text))
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
