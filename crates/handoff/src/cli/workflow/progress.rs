//! Taking a run from phase to phase in the foreground, and telling what is proved.

use std::ffi::OsString;
use std::time::Duration;

use handoff_agents::AgentName;
use handoff_api::{ExitCode, RunDocument};
use handoff_core::run::{Run, RunState};
use handoff_core::{BatchId, RunId, TaskId};
use handoff_engine::{Walk, adoptable, reconcile};
use handoff_operations::{Failure, Project};
use handoff_store::{read, runs};

use super::seat::{self, Asked};
use super::{gate, parts, status};
use crate::cli::crier::Crier;
use crate::cli::session::Spawner;
use crate::context::Context;
use crate::output::{Ticker, Tone, plain};

/// How long one waits for another who works on the phase, before looking again.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

pub(super) fn to_the_end(
    run: &Run,
    agent: AgentName,
    arguments: Vec<OsString>,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    ctx.stay();
    let crier = Crier::hire(ctx)?;
    let spawner = spawner(agent, arguments, crier.clone(), ctx)?;
    let openings = spawner.openings();
    let outcome = go_on(run, spawner, ctx);
    openings.wait();
    crier.dismiss();
    outcome
}

fn go_on(run: &Run, mut spawner: Spawner, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let is_seated = run.spec.is_interactive && seat::is_taken(ctx);
    let mut seen = None;
    let mut told = run.steps.len();
    let mut announced: Option<(Job, Ticker)> = None;
    begin_telling(run, ctx)?;
    loop {
        let run = reload(run.id, ctx)?;
        let job = match run.state {
            RunState::Working { task } => Some(Job::Phase(task)),
            RunState::FannedOut { batch } => Some(Job::Batch(batch)),
            RunState::Gated { .. }
            | RunState::Stopped { .. }
            | RunState::Paused { .. }
            | RunState::Done { .. }
            | RunState::Cancelled { .. } => None,
        };
        // The line of one that is over goes before anything is said.
        announced = announced.filter(|(it, _)| Some(*it) == job);
        for step in RunDocument::of(&run).steps.iter().skip(told) {
            let line = status::step_line(step, ctx);
            say(line, ctx)?;
        }
        told = run.steps.len();
        let Some(job) = job else {
            match seat::ask(&run, ctx)? {
                Some(Asked::Decided) => continue,
                Some(Asked::Left) => return Ok(outcome(&run)),
                None => return finish(&run, ctx),
            }
        };
        // Nobody sits at several sessions at once.
        spawner.is_attended = is_seated && matches!(job, Job::Phase(_));
        if announced.is_none() {
            announce(&run, ctx)?;
            // Where somebody sits at the session, that is what they see.
            let ticker = if spawner.is_attended {
                Ticker::still()
            } else {
                ctx.out.tick(format!("    {}", run.at.phase))
            };
            announced = Some((job, ticker));
        }
        let was_free = match job {
            Job::Phase(task) if spawner.is_attended => {
                seat::work_on(task, &spawner, &mut seen, ctx)?
            }
            Job::Phase(task) => work_on(task, &spawner, ctx)?,
            Job::Batch(batch) => parts::work_on(batch, &spawner, ctx)?,
        };
        if !was_free {
            wait_for_news(ctx)?;
        }
    }
}

/// What begins the sessions. Refuses an agent that is not known or not there.
pub(super) fn spawner(
    agent: AgentName,
    arguments: Vec<OsString>,
    crier: Crier,
    ctx: &Context,
) -> Result<Spawner, Failure> {
    Spawner::new(agent, arguments, ctx.config()?.worker.spawn, crier, ctx)
}

/// What a run waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Job {
    Phase(TaskId),
    Batch(BatchId),
}

pub(super) fn reload(id: RunId, ctx: &Context) -> Result<Run, Failure> {
    let mut desk = Project::open(ctx)?;
    Ok(read(&mut *desk.store, |tx| runs::get(tx, id))?)
}

/// Takes the task of a phase down the road, also if somebody began it and died; says whether it was to be had.
pub(super) fn work_on(task: TaskId, spawner: &Spawner, ctx: &Context) -> Result<bool, Failure> {
    let mut desk = Project::open(ctx)?;
    let clock = ctx.clock()?;
    let mut workshop = desk.workshop(ctx, &*clock)?;
    reconcile::all(&mut workshop)?;
    let claimed = match Walk::claim_this(&mut workshop, task)? {
        Some(walk) => Some(walk),
        None => {
            let left = adoptable(&mut workshop)?;
            match left.iter().find(|it| it.id == task) {
                Some(left) => Walk::take_over(&mut workshop, left)?,
                None => None,
            }
        }
    };
    match claimed {
        Some(walk) => {
            walk.to_the_end(&mut workshop, spawner)?;
            Ok(true)
        }
        None => Ok(false),
    }
}

fn wait_for_news(ctx: &Context) -> Result<(), Failure> {
    let store = ctx.open_store()?;
    store.bell()?.wait(LOOK_AGAIN)?;
    Ok(())
}

fn begin_telling(run: &Run, ctx: &mut Context) -> Result<(), Failure> {
    let name = ctx.out.styled(Tone::Strong, run.spec.name.as_str());
    let branch = handoff_engine::phase::branch(run);
    say(
        format!("{name}  {} on {branch}", run.spec.workflow.name),
        ctx,
    )
}

/// The phase that is worked on now.
fn announce(run: &Run, ctx: &mut Context) -> Result<(), Failure> {
    let refused = run.at.refused.as_ref();
    if let Some(refused) = refused {
        let cross = ctx.out.styled(Tone::Attention, "✗");
        say(
            format!(
                "  {cross} {:<10} {}: {}",
                run.at.phase,
                refused.cause.word(),
                plain(refused.reason.as_str())
            ),
            ctx,
        )?;
    }
    if let RunState::FannedOut { .. } = run.state {
        let document = status::document(run, ctx)?;
        let batch = document.batch.map_or_else(String::new, |it| {
            format!("batch {}, {} parts", it.name, it.parts)
        });
        let line = ctx.out.styled(Tone::Active, &format!("→ {batch}"));
        return say(format!("  {line}"), ctx);
    }
    let attempt = match run.at.number {
        0 | 1 => String::new(),
        number => format!(" (attempt {number})"),
    };
    let place = place_in_list(run, ctx)?;
    let place = place.map_or_else(String::new, |(at, of)| format!("  test {at} of {of}"));
    let phase = ctx
        .out
        .styled(Tone::Active, &format!("→ {}{attempt}", run.at.phase));
    say(format!("  {phase}{place}"), ctx)
}

fn place_in_list(run: &Run, ctx: &Context) -> Result<Option<(usize, usize)>, Failure> {
    let mut desk = Project::open(ctx)?;
    let clock = ctx.clock()?;
    let workshop = desk.workshop(ctx, &*clock)?;
    Ok(handoff_engine::phase::place_in_list(&workshop, run))
}

/// With `--json` only the end is told.
fn say(line: String, ctx: &mut Context) -> Result<(), Failure> {
    if !ctx.out.is_json() {
        ctx.out.line(line)?;
    }
    Ok(())
}

/// What a run came to that does not work any more.
pub(super) fn finish(run: &Run, ctx: &mut Context) -> Result<ExitCode, Failure> {
    status::tell(&status::document(run, ctx)?, ctx)?;
    gate::show(run, ctx)?;
    Ok(outcome(run))
}

/// What a command says that leaves a run where it is.
pub(super) const fn outcome(run: &Run) -> ExitCode {
    match run.state {
        RunState::Done { .. }
        | RunState::Paused { .. }
        | RunState::Working { .. }
        | RunState::FannedOut { .. } => ExitCode::Done,
        RunState::Gated { .. } => ExitCode::Blocked,
        RunState::Stopped { .. } | RunState::Cancelled { .. } => ExitCode::Failed,
    }
}
