//! `handoff queue list`.

use handoff_api::{ExitCode, HoldDocument, QueueDocument, RestDocument, TaskDocument};
use handoff_core::task::{Part, Phase, View};
use handoff_core::{AgentName, BatchId, HoldScope, Rest, Task};
use handoff_operations::{Failure, Project};
use handoff_store::tasks::{Listed, Which};
use handoff_store::{StoreError, Transaction, holds, read, tasks};

use crate::context::Context;
use crate::output::{Table, Tone, plain, rest_lines};

/// The longest page.
const MAX_LIMIT: u32 = 10_000;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Show ended tasks too, newest first.
    #[arg(long)]
    all: bool,
    /// How many at most.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_LIMIT)))]
    limit: u32,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let Some(mut desk) = Project::peek(ctx)? else {
        return nothing(ctx);
    };
    let usual = ctx.config()?.worker.agent;
    let (queue, rests) = page(&mut desk, args, usual.as_ref())?;
    if ctx.out.is_json() {
        ctx.out.document(QueueDocument::SCHEMA, queue)?;
        return Ok(ExitCode::Done);
    }
    show_hold(&queue, ctx)?;
    for line in rest_lines(&rests) {
        let line = ctx.out.styled(Tone::Attention, &line);
        ctx.out.note(line)?;
    }
    if queue.tasks.is_empty() {
        return nothing(ctx);
    }
    ctx.out.table(&table(&queue.tasks))?;
    if queue.has_more {
        let all = if args.all { " --all" } else { "" };
        let limit = (args.limit * 4).min(MAX_LIMIT);
        ctx.out.note(format!(
            "There are more: `handoff queue list{all} --limit {limit}`."
        ))?;
    }
    Ok(ExitCode::Done)
}

fn page(
    desk: &mut Project,
    args: &Args,
    usual: Option<&AgentName>,
) -> Result<(QueueDocument, Vec<Rest>), Failure> {
    let project = desk.id;
    let which = if args.all { Which::All } else { Which::Open };
    let scopes = HoldScope::over(project);
    let lost = desk.lost()?;
    Ok(read(&mut *desk.store, |tx| {
        let mut listed = tasks::page(tx, project, which, None, args.limit + 1)?;
        let has_more = listed.len() > args.limit as usize;
        listed.truncate(args.limit as usize);
        let hold = holds::in_force(tx, &scopes)?;
        let held = held_batches(tx, &listed)?;
        let resting = tasks::resting(tx, project, usual)?;
        let rests: Vec<_> = resting.into_iter().filter_map(|it| it.rest).collect();
        let view = |task: &Task| View {
            now: &tx.now.moment,
            is_held_above: hold.is_some() || is_in(task, &held),
            lost: &lost,
        };
        let document = |it: &Listed| TaskDocument::of(&it.task, view(&it.task));
        let tasks = listed.iter().map(document).collect();
        let queue = QueueDocument {
            project: project.to_string(),
            hold: hold.map(|(scope, hold)| HoldDocument::on(scope, Some(&hold))),
            rests: rests.iter().map(RestDocument::of).collect(),
            tasks,
            has_more,
        };
        Ok((queue, rests))
    })?)
}

/// The batches of these tasks that a hold of their own lies over.
fn held_batches(tx: &mut Transaction<'_>, listed: &[Listed]) -> Result<Vec<BatchId>, StoreError> {
    let mut batches: Vec<_> = listed.iter().filter_map(|it| batch_of(&it.task)).collect();
    batches.dedup();
    let mut held = vec![];
    for batch in batches {
        if holds::in_force(tx, &[HoldScope::Batch(batch)])?.is_some() {
            held.push(batch);
        }
    }
    Ok(held)
}

fn batch_of(task: &Task) -> Option<BatchId> {
    task.spec.part.and_then(Part::batch)
}

fn is_in(task: &Task, batches: &[BatchId]) -> bool {
    batch_of(task).is_some_and(|batch| batches.contains(&batch))
}

fn nothing(ctx: &mut Context) -> Result<ExitCode, Failure> {
    if ctx.out.is_json() {
        let empty = QueueDocument {
            project: String::new(),
            hold: None,
            rests: vec![],
            tasks: vec![],
            has_more: false,
        };
        ctx.out.document(QueueDocument::SCHEMA, empty)?;
    } else {
        ctx.out.note(
            "There is nothing to do. Add a task with `handoff queue add NAME --brief TEXT`.",
        )?;
    }
    Ok(ExitCode::Done)
}

fn show_hold(queue: &QueueDocument, ctx: &mut Context) -> Result<(), Failure> {
    let Some(hold) = &queue.hold else {
        return Ok(());
    };
    let reason = hold
        .reason
        .as_deref()
        .map_or_else(String::new, |reason| format!(": {}", plain(reason)));
    let what = if hold.scope.as_deref() == Some("everything") {
        "Everything"
    } else {
        "This project"
    };
    let text = ctx
        .out
        .styled(Tone::Attention, &format!("{what} is held{reason}"));
    ctx.out.note(text)?;
    Ok(())
}

fn table(tasks: &[TaskDocument]) -> Table {
    let mut table = Table::new(&["NAME", "STATE", "PRIO", "TRY", "BRIEF"]);
    for task in tasks {
        table.row([
            (Tone::Strong, task.name.clone()),
            (tone(task.state), task.state.to_string()),
            (Tone::Faint, task.priority.to_string()),
            (Tone::Faint, task.attempts.to_string()),
            (Tone::Plain, task.brief.clone()),
        ]);
    }
    table
}

/// What a state feels like.
pub(in crate::cli) fn tone(state: Phase) -> Tone {
    match state {
        Phase::Waiting | Phase::Cancelled => Tone::Faint,
        Phase::Queued => Tone::Plain,
        Phase::Held | Phase::Resting | Phase::Blocked => Tone::Attention,
        Phase::Leased | Phase::Running => Tone::Active,
        Phase::Done => Tone::Good,
        Phase::Failed => Tone::Bad,
    }
}
