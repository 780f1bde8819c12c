//! `handoff workflow status` and `log`.

use handoff_api::{ExitCode, RunBatchDocument, RunDocument, RunStepDocument, RunsDocument};
use handoff_core::StreamId;
use handoff_core::run::Run;
use handoff_operations::run::{self, ListRuns};
use handoff_operations::{Failure, Project, call};
use handoff_store::{events, read};

use super::gate;
use crate::context::Context;
use crate::output::{Table, Tone, cut, event_line, one_line, plain};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its name or id; all of them without.
    run: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct LogArgs {
    /// Its name or id.
    run: String,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if let Some(run) = &args.run {
        let mut desk = Project::open(ctx)?;
        let run = desk.run(run)?;
        drop(desk);
        tell(&document(&run, ctx)?, ctx)?;
        gate::show(&run, ctx)?;
        return Ok(ExitCode::Done);
    }
    let found = call(ListRuns {}, ctx)?.runs;
    if ctx.out.is_json() {
        let document = RunsDocument { runs: found };
        ctx.out.document(RunsDocument::SCHEMA, document)?;
    } else if found.is_empty() {
        ctx.out
            .note("There is no run yet. Begin one: `handoff workflow run tdd --goal TEXT`.")?;
    } else {
        ctx.out.table(&table(&found))?;
    }
    Ok(ExitCode::Done)
}

fn table(runs: &[RunDocument]) -> Table {
    let mut table = Table::new(&[
        "NAME", "WORKFLOW", "STATE", "PHASE", "PROVED", "BEGAN", "GOAL",
    ]);
    for run in runs {
        let began = run.begun_at.strftime("%Y-%m-%d %H:%M").to_string();
        table.row([
            (Tone::Strong, run.name.clone()),
            (Tone::Plain, run.workflow.clone()),
            (tone(run.state), run.state.to_owned()),
            (Tone::Plain, run.phase.clone()),
            (Tone::Plain, run.steps.len().to_string()),
            (Tone::Faint, began),
            (Tone::Plain, cut(&one_line(&run.goal), 40)),
        ]);
    }
    table
}

fn tone(state: &str) -> Tone {
    match state {
        "done" => Tone::Good,
        "stopped" | "gated" => Tone::Attention,
        "cancelled" | "paused" => Tone::Faint,
        _ => Tone::Active,
    }
}

/// A run as it is shown.
pub(super) fn document(run: &Run, ctx: &Context) -> Result<RunDocument, Failure> {
    run::document(run, ctx)
}

/// One run, with what was proved and what comes next.
pub(super) fn tell(run: &RunDocument, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if ctx.out.is_json() {
        ctx.out.document(RunDocument::SCHEMA, run)?;
        return Ok(ExitCode::Done);
    }
    let name = ctx.out.styled(Tone::Strong, &run.name);
    let state = ctx.out.styled(tone(run.state), run.state);
    ctx.out.line(format!(
        "{name}  {state}  {} on {}",
        run.workflow, run.branch
    ))?;
    ctx.out
        .line(format!("  {}", cut(&one_line(&run.goal), 100)))?;
    for step in &run.steps {
        let line = step_line(step, ctx);
        ctx.out.line(line)?;
    }
    let next = ahead(run);
    ctx.out.line(format!("  {next}"))?;
    Ok(ExitCode::Done)
}

/// A proved phase on a line.
pub(super) fn step_line(step: &RunStepDocument, ctx: &Context) -> String {
    let tick = ctx.out.styled(Tone::Good, "✓");
    let about = step
        .item
        .as_deref()
        .map_or_else(String::new, |it| format!("  {}", plain(&cut(it, 60))));
    let tests = step.tests.map_or_else(String::new, |(passed, failed, _)| {
        format!("  {passed} passed, {failed} failed")
    });
    let weaker = step
        .weaker
        .map_or_else(String::new, |why| format!("  weaker proof: {why}"));
    format!(
        "  {tick} {:<10} {:<9} {}{about}{tests}{weaker}",
        step.phase,
        step.outcome,
        &step.commit[..10]
    )
}

/// What happens next, or what is needed.
fn ahead(run: &RunDocument) -> String {
    let name = &run.name;
    let reason = run.reason.as_deref().map_or_else(String::new, plain);
    match run.state {
        "working" => format!("→ {} (attempt {})", run.phase, run.attempt),
        "fanned-out" => batch_line(run),
        "gated" => format!(
            "{}{} `handoff approve {name}`, or `handoff reject {name} --reason TEXT`",
            missing(run),
            plain(run.ask.as_deref().unwrap_or("A person must agree:"))
        ),
        "stopped" => format!(
            "{}: {reason}\n  `handoff workflow retry {name}` tries again",
            run.cause.unwrap_or_default()
        ),
        "paused" => format!("`handoff workflow resume {name}` goes on"),
        "done" => format!("`handoff land {}` brings it to you", run.branch),
        _ => reason,
    }
}

/// The batch that a run waits for.
fn batch_line(run: &RunDocument) -> String {
    run.batch.as_ref().map_or_else(String::new, |batch| {
        let RunBatchDocument {
            name, parts, ended, ..
        } = batch;
        format!(
            "→ batch {name} ({}): {ended} of {parts} parts ended; `handoff batch show {name}`",
            batch.state
        )
    })
}

/// Without which parts a run would go on.
fn missing(run: &RunDocument) -> String {
    let batch = run.batch.as_ref().filter(|it| !it.missing.is_empty());
    batch.map_or_else(String::new, |batch| {
        let parts = batch.missing.join(", ");
        format!(
            "The results of batch {} lack the parts {parts}. ",
            batch.name
        )
    })
}

pub(super) fn log(args: &LogArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let mut desk = Project::open(ctx)?;
    let run = desk.run(&args.run)?;
    let history = read(&mut *desk.store, |tx| {
        events::history(tx, StreamId::Run(run.id), u64::MAX)
    })?;
    for envelope in history {
        if ctx.out.is_json() {
            let document = handoff_api::EventDocument::from(envelope);
            ctx.out
                .document(handoff_api::EventDocument::SCHEMA, document)?;
        } else {
            let line = event_line(&envelope, Some(run.spec.name.as_str()));
            ctx.out.line(line)?;
        }
    }
    Ok(ExitCode::Done)
}
