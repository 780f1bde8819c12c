//! When what stands in the queue will be worked on: what it waits for, who holds it, and whether anybody lives who would take it.
//!
//! What was asked for is recorded by then: what cannot be found out is left out.

use handoff_core::{BatchId, HoldScope, Task, TaskId};
use handoff_operations::worker::is_missed;
use handoff_operations::{Failure, Project};
use handoff_store::queue::TaskRef;
use handoff_store::{batches, holds, read, tasks};

use crate::context::Context;

/// Says it of a task that was just put into the queue.
pub(super) fn of_task(desk: &mut Project, task: &Task, ctx: &mut Context) -> Result<(), Failure> {
    let awaited: Vec<_> = task.pending.iter().map(|it| it.task).collect();
    if let Some(names) = names(desk, &awaited) {
        ctx.out
            .note(format!("It begins after {names}, and goes on from there."))?;
    }
    tell(desk, &HoldScope::over_task(task), ctx)
}

/// Says it of a batch that was just opened, whose parts wait for this task.
pub(super) fn of_batch(
    desk: &mut Project,
    after: Option<TaskId>,
    ctx: &mut Context,
) -> Result<(), Failure> {
    if let Some(names) = names(desk, after.as_slice()) {
        ctx.out.note(format!(
            "Its parts begin after {names}, and go on from there."
        ))?;
    }
    tell(desk, &HoldScope::over(desk.id), ctx)
}

fn tell(desk: &mut Project, scopes: &[HoldScope], ctx: &mut Context) -> Result<(), Failure> {
    for scope in scopes {
        if let Some(line) = held(desk, *scope) {
            ctx.out.note(line)?;
        }
    }
    if is_missed(desk, ctx) {
        ctx.out
            .note("No worker lives here to take it: `handoff worker --agent NAME` starts one.")?;
    }
    Ok(())
}

/// What keeps tasks of this project from being handed out, and how that ends.
pub(super) fn holds(desk: &mut Project) -> Vec<String> {
    let project = desk.id;
    let of_batches = read(&mut *desk.store, |tx| holds::of_batches(tx, project));
    let batches = of_batches.unwrap_or_default().into_iter();
    let batches = batches.map(|(batch, _)| HoldScope::Batch(batch));
    let scopes: Vec<_> = HoldScope::over(project)
        .into_iter()
        .chain(batches)
        .collect();
    let above = { scopes.into_iter() }.filter_map(|scope| held(desk, scope));
    let mut lines: Vec<_> = above.collect();
    let tasks = read(&mut *desk.store, |tx| tasks::held(tx, project));
    lines.extend(tasks.unwrap_or_default().iter().map(|task| {
        let name = &task.spec.name;
        format!("`{name}` is held: `handoff unhold {name}` hands it out again.")
    }));
    lines
}

fn held(desk: &mut Project, scope: HoldScope) -> Option<String> {
    let hold = read(&mut *desk.store, |tx| holds::in_force(tx, &[scope]));
    hold.ok().flatten()?;
    Some(match scope {
        HoldScope::Everything => {
            "Everything is held: `handoff unhold --everything` hands work out again.".to_owned()
        }
        HoldScope::Project(_) => {
            "This project is held: `handoff unhold` hands work out again.".to_owned()
        }
        HoldScope::Batch(batch) => {
            let name = batch_name(desk, batch)?;
            format!("Batch `{name}` is held: `handoff unhold --batch {name}` hands work out again.")
        }
    })
}

fn batch_name(desk: &mut Project, batch: BatchId) -> Option<String> {
    let batch = read(&mut *desk.store, |tx| batches::get(tx, batch));
    batch.ok().map(|it| it.spec.name.to_string())
}

fn names(desk: &mut Project, tasks: &[TaskId]) -> Option<String> {
    let named = |task: &TaskId| desk.find(&TaskRef::Id(*task)).ok();
    let names: Vec<_> = { tasks.iter() }
        .filter_map(named)
        .map(|it| format!("`{}`", it.spec.name))
        .collect();
    (!names.is_empty()).then(|| names.join(" and "))
}
