//! A dry run.

use handoff_api::{ExitCode, TaskDocument};
use handoff_core::Task;
use handoff_core::task::View;
use handoff_engine::baton::text;
use handoff_store::queue::Change;

use crate::cli::baton;
use crate::context::Context;
use crate::desk::Desk;
use crate::failure::Failure;

/// The baton as it would be written, or the task as it is.
pub(super) fn rehearse(
    desk: &mut Desk,
    change: Change,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    let now = desk.now()?;
    let task = match change {
        Change::Add { id, project, spec } => Task::begin(id, project, spec, now.wall),
        Change::Tell { task, .. } => desk.find(&task)?,
        Change::ClaimNext { .. }
        | Change::Claim { .. }
        | Change::Hold { .. }
        | Change::Unhold { .. }
        | Change::Pause { .. }
        | Change::Unpause { .. }
        | Change::Record { .. }
        | Change::Context { .. }
        | Change::Seal { .. }
        | Change::Package { .. }
        | Change::OpenBatch { .. }
        | Change::Batch { .. }
        | Change::BeginRun { .. }
        | Change::AdoptRun { .. }
        | Change::AdoptTask(_)
        | Change::AdoptBatch(_)
        | Change::Run { .. }
        | Change::SetBaseline(_)
        | Change::NoteMove { .. }
        | Change::Receive(_) => {
            return Err(Failure::new(ExitCode::Internal, "a dump is about a task"));
        }
    };
    if ctx.out.is_json() {
        let document = TaskDocument::of(&task, View::at(&now.moment));
        ctx.out.document(TaskDocument::SCHEMA, document)?;
    } else {
        let scene = baton::Scene::of(&desk.repository, ctx);
        let setting = { scene.survey() }.finish(&mut *desk.store, desk.project);
        let text = text(&task, &setting, &baton::past(desk, &task, ctx));
        ctx.out.line(crate::output::plain(text.trim_end()))?;
        ctx.out.note("Nothing was dumped.")?;
    }
    Ok(ExitCode::Done)
}
