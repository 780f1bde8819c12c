//! `handoff watchdog`: everything that a worker puts right, without a worker. For cron and timers.

use handoff_api::{ExitCode, WatchdogDocument};
use handoff_core::Action;
use handoff_engine::{Question, Spawn, SpawnError, Walk, adoptable, reconcile};
use handoff_session::catalogue;
use handoff_store::StoreError;

use super::crier::Crier;
use super::session::relieve;
use crate::context::Context;
use crate::desk::Desk;
use crate::failure::Failure;
use crate::output::one_line;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Look once, which is all that it does; for those who are used to say so.
    #[arg(long)]
    once: bool,
}

pub(super) fn run(_args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let mut desk = Desk::open(ctx)?;
    desk.caller.may(Action::Claim).map_err(StoreError::from)?;
    let clock = ctx.clock()?;
    let crier = Crier::hire(ctx)?;
    let mut workshop = desk.workshop(ctx, &*clock)?;
    let repaired = reconcile::all(&mut workshop)?;
    let mut seen = WatchdogDocument {
        given_back: repaired.given_back,
        retired: repaired.retired,
        stuck: vec![],
        judged: vec![],
        unattended: vec![],
        leases: leases(ctx)?,
    };
    for (path, error) in &repaired.stuck {
        let why = one_line(&error.to_string());
        seen.stuck.push(format!("{}: {why}", path.display()));
    }
    for task in adoptable(&mut workshop)? {
        let name = task.spec.name.to_string();
        if lives(&task, ctx)? {
            seen.unattended.push(name);
        } else if let Some(walk) = Walk::take_over(&mut workshop, &task)? {
            walk.to_the_end(&mut workshop, &Bystander { crier: &crier })?;
            seen.judged.push(name);
        }
    }
    crier.dismiss();
    show(&seen, ctx)
}

/// Sees to it that the leases of sessions are renewed, and says what is to be said of them.
fn leases(ctx: &Context) -> Result<Vec<String>, Failure> {
    let places = handoff_session::Places::new(ctx.home()?);
    let known = catalogue::all(&places)
        .map_err(|error| Failure::failed("cannot look at the sessions").because(&error))?;
    let remarks = known.iter().filter_map(|known| {
        let (work, tenure) = relieve(known, ctx)?;
        tenure.remark(known, &work)
    });
    Ok(remarks.collect())
}

/// Whether the session that works on a task still lives.
fn lives(task: &handoff_core::Task, ctx: &Context) -> Result<bool, Failure> {
    let handoff_core::TaskState::Running { session, .. } = &task.state else {
        return Ok(false);
    };
    let places = handoff_session::Places::new(ctx.home()?);
    let known = catalogue::by_id(&places, *session)
        .map_err(|error| Failure::failed("cannot look at a session").because(&error))?;
    Ok(known.is_some_and(|known| known.record.ended.is_none()))
}

/// A watchdog begins nothing. It calls a person as a worker does.
struct Bystander<'a> {
    crier: &'a Crier,
}

impl Spawn for Bystander<'_> {
    fn spawn(&self, _order: &handoff_engine::Order<'_>) -> Result<(), SpawnError> {
        Err("a watchdog begins no sessions".into())
    }

    fn tell_question(&self, question: &Question<'_>) {
        self.crier.ask(question);
    }
}

fn show(seen: &WatchdogDocument, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if ctx.out.is_json() {
        ctx.out.document(WatchdogDocument::SCHEMA, seen)?;
        return Ok(ExitCode::Done);
    }
    let mut lines = vec![];
    if seen.given_back > 0 {
        lines.push(format!(
            "Given back, because their sessions are gone: {}",
            seen.given_back
        ));
    }
    if seen.retired > 0 {
        lines.push(format!("Worktrees saved and removed: {}", seen.retired));
    }
    let stuck = seen
        .stuck
        .iter()
        .map(|it| format!("A worktree stays as it is: {it}"));
    lines.extend(stuck);
    let judged = seen.judged.iter();
    lines.extend(judged.map(|name| format!("{name} was finished, and is judged now")));
    let unattended = seen.unattended.iter();
    lines.extend(unattended.map(|name| {
        format!("{name} works without a worker; start one and it is taken over: `handoff worker`")
    }));
    lines.extend(seen.leases.iter().cloned());
    if lines.is_empty() {
        lines.push("Everything is as it should be.".to_owned());
    }
    for line in lines {
        ctx.out.line(line)?;
    }
    Ok(ExitCode::Done)
}
