//! A dry run: it is decided as the real one is, and nothing is written.

use handoff_api::{ExitCode, TaskDocument};
use handoff_core::task::{TaskSpec, View};
use handoff_core::{Action, ProjectId, Task, TaskId};
use handoff_engine::baton::{Past, Setting, text};
use handoff_operations::project::{caller, discover};
use handoff_operations::{Failure, Project};
use handoff_store::StoreError;

use super::Args;
use crate::cli::baton;
use crate::context::Context;

/// Shows the baton as it would be written.
pub(super) fn rehearse(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let Some(mut desk) = Project::peek(ctx)? else {
        return rehearse_first(args, ctx);
    };
    let (change, _) = args.change(&mut desk, ctx)?;
    let receipt = desk.rehearse(change, args.key.key.clone())?;
    let internal = || Failure::new(ExitCode::Internal, "a dump is about a task");
    let task = receipt.answer.into_task().ok_or_else(internal)?;
    let scene = baton::Scene::of(&desk.repository, ctx);
    let setting = { scene.survey() }.finish(&mut *desk.store, desk.id);
    let past = baton::past(&mut desk, &task, ctx);
    show(&task, &setting, &past, ctx)
}

/// In a repository that is no project yet there is no task, and a dry run makes it none.
fn rehearse_first(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let missing = |name: &str| {
        let what = format!("task `{name}` in this project");
        Failure::from(StoreError::NotFound { what })
    };
    if let Some(name) = args.after.first() {
        return Err(missing(name));
    }
    if args.is_report() {
        return Err(missing(args.name()?.as_str()));
    }
    caller(&ctx.ambient)?.may(Action::Add)?;
    let task = begun(args.spec(vec![])?, ctx)?;
    let scene = baton::Scene::of(&discover(ctx)?, ctx);
    let setting = scene.survey().without_ledger();
    show(&task, &setting, &Past::default(), ctx)
}

fn begun(spec: TaskSpec, ctx: &Context) -> Result<Task, Failure> {
    let now = ctx.clock()?.now();
    let id = TaskId::from_uuid(handoff_process::mint());
    let project = ProjectId::from_uuid(handoff_process::mint());
    Ok(Task::begin(id, project, spec, now.wall))
}

fn show(
    task: &Task,
    setting: &Setting,
    past: &Past,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    if ctx.out.is_json() {
        let now = ctx.clock()?.now();
        let document = TaskDocument::of(task, View::at(&now.moment));
        ctx.out.document(TaskDocument::SCHEMA, document)?;
    } else {
        let text = text(task, setting, past);
        ctx.out.line(crate::output::plain(text.trim_end()))?;
        ctx.out.note("Nothing was dumped.")?;
    }
    Ok(ExitCode::Done)
}
