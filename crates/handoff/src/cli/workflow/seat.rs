//! A person at the sessions of a run: they sit at each as it works, and are asked between two of them.
//!
//! What they agree to is recorded as at any gate, so that a run whose person has left waits for them, here or elsewhere.

use std::thread;
use std::time::Duration;

use handoff_core::run::{Run, RunCommand, RunState};
use handoff_core::task::Reason;
use handoff_core::{Action, SessionId, TaskId, TaskState};
use handoff_operations::{Failure, Project, project};
use handoff_store::queue::{Change, RunRef};
use handoff_store::{read, tasks};

use super::{gate, progress, status};
use crate::cli::session::{Seat, Spawner};
use crate::context::Context;
use crate::output::plain;

/// How soon a session that has begun is noticed, if nobody rings.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// Refuses a place where nobody can sit.
pub(super) fn require(ctx: &Context) -> Result<(), Failure> {
    if is_taken(ctx) {
        return Ok(());
    }
    let failure = Failure::usage("there is no terminal at which a person could sit down");
    Err(failure.hint("leave `--interactive` out, or run it in a terminal"))
}

/// Whether a person sits here, who can see and type.
pub(super) fn is_taken(ctx: &Context) -> bool {
    ctx.can_ask() && Seat::is_there()
}

/// Has the task of a phase worked on while the person sits at its session; says whether it was to be had. Whoever works on it, it is
/// the session of this task that they see.
pub(super) fn work_on(
    task: TaskId,
    spawner: &Spawner,
    seen: &mut Option<SessionId>,
    ctx: &mut Context,
) -> Result<bool, Failure> {
    let invocation = ctx.invocation();
    thread::scope(|scope| {
        let walk =
            scope.spawn(move || progress::work_on(task, spawner, &Context::quiet(invocation)));
        if let Err(failure) = sit_through(task, &|| walk.is_finished(), seen, ctx) {
            // What becomes of the phase does not depend on who can watch it.
            let why = plain(&failure.message);
            let text = format!("Nobody can sit at the session any more: {why}.");
            ctx.out.note(text).unwrap_or_default();
        }
        walk.join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// The person sits at the session of a task, and at the one that takes its place, until all is over.
fn sit_through(
    task: TaskId,
    is_over: &dyn Fn() -> bool,
    seen: &mut Option<SessionId>,
    ctx: &mut Context,
) -> Result<(), Failure> {
    loop {
        let session = session_of(task, ctx)?.filter(|it| *seen != Some(*it));
        if let Some(session) = session
            && let Some(seat) = Seat::at(session, ctx)
            && seat.sit_down(ctx)?
        {
            // Whoever left it sits down again when they want to.
            *seen = Some(session);
        }
        if is_over() {
            return Ok(());
        }
        ctx.open_store()?.bell()?.wait(LOOK_AGAIN)?;
    }
}

fn session_of(task: TaskId, ctx: &Context) -> Result<Option<SessionId>, Failure> {
    let mut desk = Project::open(ctx)?;
    let task = read(&mut *desk.store, |tx| tasks::get(tx, task))?;
    let TaskState::Running { session, .. } = task.state else {
        return Ok(None);
    };
    Ok(Some(session))
}

/// What comes of asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// It goes on.
    Decided,
    /// It stays where it is.
    Left,
}

/// Asks the person what is to become of a run that cannot go on without them; nothing where there is nothing to ask, or nobody.
pub(super) fn ask(run: &Run, ctx: &mut Context) -> Result<Option<Asked>, Failure> {
    if !run.spec.is_interactive || !is_taken(ctx) {
        return Ok(None);
    }
    let asked = match run.state {
        RunState::Gated { .. } => at_gate(run, ctx)?,
        RunState::Stopped { .. } => at_stop(run, ctx)?,
        RunState::Working { .. }
        | RunState::FannedOut { .. }
        | RunState::Paused { .. }
        | RunState::Done { .. }
        | RunState::Cancelled { .. } => return Ok(None),
    };
    if asked == Asked::Left {
        let name = &run.spec.name;
        let way = format!("It stays there. `handoff workflow resume {name}` asks again.");
        ctx.out.note(way)?;
    }
    Ok(Some(asked))
}

fn at_gate(run: &Run, ctx: &mut Context) -> Result<Asked, Failure> {
    gate::show(run, ctx)?;
    let ask = run.phase().ask.as_ref().map_or_else(
        || format!("Phase `{}` is proved.", run.at.phase),
        ToString::to_string,
    );
    loop {
        let question = format!("{ask} Go on? [y]es, [n]o and do it again, [q]uit: ");
        let answer = ctx.out.inquire(&question)?;
        match answer.as_deref().map(letter) {
            Some('y') => return tell(run, RunCommand::Approve, ctx),
            Some('n') => {
                let Some(reason) = reason(ctx)? else {
                    continue;
                };
                return tell(run, RunCommand::Reject { reason }, ctx);
            }
            Some('q') | None => return Ok(Asked::Left),
            Some(_) => {}
        }
    }
}

fn at_stop(run: &Run, ctx: &mut Context) -> Result<Asked, Failure> {
    status::tell(&status::document(run, ctx)?, ctx)?;
    loop {
        let question = format!("Try phase `{}` again? [y]es, [n]o and quit: ", run.at.phase);
        let answer = ctx.out.inquire(&question)?;
        match answer.as_deref().map(letter) {
            Some('y') => return tell(run, RunCommand::Retry { from: None }, ctx),
            Some('n' | 'q') | None => return Ok(Asked::Left),
            Some(_) => {}
        }
    }
}

/// Why it is to be done again; nothing if they say nothing.
fn reason(ctx: &mut Context) -> Result<Option<Reason>, Failure> {
    let said = ctx.out.inquire("Why? The next session reads it: ")?;
    Ok(said.and_then(|it| it.trim().parse().ok()))
}

fn letter(answer: &str) -> char {
    let first = answer.trim().chars().next();
    first.unwrap_or(' ').to_ascii_lowercase()
}

fn tell(run: &Run, command: RunCommand, ctx: &Context) -> Result<Asked, Failure> {
    if matches!(command, RunCommand::Approve | RunCommand::Reject { .. }) {
        project::require_person(Action::Approve, &ctx.ambient)?;
    }
    let mut desk = Project::open(ctx)?;
    let run = RunRef::Id(run.id);
    desk.submit(Change::Run { run, command }, None)?;
    Ok(Asked::Decided)
}
