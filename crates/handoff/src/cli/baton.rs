//! The baton for people, as commands write it: of the task that was dumped, and of whatever came of others.

use handoff_core::{Batch, Task, TaskId};
use handoff_engine::Workshop;
use handoff_engine::baton::{self, Past, Setting};
use handoff_git::{Git, Repository};
use handoff_operations::{Failure, Project};
use handoff_store::{read, tasks};

use crate::context::Context;

/// Where a session begins that somebody in this project starts: a worker stands in the main worktree, wherever the task was dumped.
pub(super) struct Scene {
    git: Git,
    at: Repository,
}

impl Scene {
    pub(super) fn of(here: &Repository, ctx: &Context) -> Self {
        let main = here.main_worktree().filter(|_| here.is_linked());
        let main = main.and_then(|it| Repository::open(it).ok());
        Self {
            git: Git::new(ctx.ambient.environment.clone()),
            at: main.unwrap_or_else(|| here.clone()),
        }
    }

    /// Lets git begin to look, so that a task can be recorded meanwhile.
    pub(super) fn survey(&self) -> baton::Survey<'_> {
        baton::Survey::begin(&self.git, &self.at)
    }
}

/// Writes the baton of a task, and lets those know that waited for it.
pub(super) fn write(desk: &mut Project, task: &Task, survey: baton::Survey<'_>, ctx: &Context) {
    let setting = survey.finish(&mut *desk.store, desk.id);
    write_on(desk, task, &setting, ctx);
    if task.state.ending().is_some() {
        with_workshop(desk, ctx, |workshop| {
            baton::refresh_followers(workshop, task.id);
        });
    }
}

/// Writes the batons of everything in a batch that is to be done, and what came of the rest where that has one.
pub(super) fn write_batch(desk: &mut Project, batch: &Batch, ctx: &Context) {
    let scene = Scene::of(&desk.repository, ctx);
    let setting = { scene.survey() }.finish(&mut *desk.store, desk.id);
    let members = read(&mut *desk.store, |tx| tasks::of_batch(tx, batch.id));
    for task in members.unwrap_or_default() {
        if task.state.ending().is_some() && !baton::is_there(desk.places(), &task) {
            continue;
        }
        write_on(desk, &task, &setting, ctx);
    }
}

/// Builds the batons anew that there are of this task and of those that waited for it.
pub(super) fn refresh(desk: &mut Project, task: TaskId, ctx: &Context) {
    if desk.places().batons(desk.id).exists() {
        with_workshop(desk, ctx, |workshop| baton::refresh(workshop, &[task]));
    }
}

fn write_on(desk: &mut Project, task: &Task, setting: &Setting, ctx: &Context) {
    let past = past(desk, task, ctx);
    let text = baton::text(task, setting, &past);
    // The ledger has the task; a view that cannot be written is written another time.
    baton::write(desk.places(), task, &text).ok();
}

/// What was done before a task; most that are dumped have nothing before them.
pub(super) fn past(desk: &mut Project, task: &Task, ctx: &Context) -> Past {
    if !Past::is_needed(task) {
        return Past::default();
    }
    with_workshop(desk, ctx, |workshop| Past::of(workshop, task)).unwrap_or_default()
}

/// Batons are for reading: what keeps one from being built keeps nothing else from happening.
fn with_workshop<T>(
    desk: &mut Project,
    ctx: &Context,
    work: impl FnOnce(&mut Workshop<'_>) -> T,
) -> Option<T> {
    let scene = Scene::of(&desk.repository, ctx);
    let done = || -> Result<T, Failure> {
        let clock = ctx.clock()?;
        let mut workshop = desk.workshop(ctx, &*clock)?;
        workshop.repository = &scene.at;
        Ok(work(&mut workshop))
    };
    done().ok()
}
