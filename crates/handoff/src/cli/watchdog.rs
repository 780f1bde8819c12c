//! `handoff watchdog`: everything that a worker puts right, without a worker. For cron and timers.

use handoff_api::{ExitCode, WatchdogDocument};
use handoff_core::Action;
use handoff_engine::reconcile::Repaired;
use handoff_engine::{Question, Spawn, SpawnError, Walk, adoptable, is_bereft, reconcile};
use handoff_operations::session::relief::relieve;
use handoff_operations::{Failure, Project};
use handoff_session::catalogue;
use handoff_store::StoreError;

use super::crier::Crier;
use crate::context::Context;
use crate::output::{one_line, repair_document, repair_line};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Look once, which is all that it does; for those who are used to say so.
    #[arg(long)]
    once: bool,
}

pub(super) fn run(_args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let mut seen = Seen::default();
    // One that is no project yet has nothing to be put right, and stays none.
    if let Some(mut desk) = Project::peek(ctx)? {
        desk.caller.may(Action::Claim).map_err(StoreError::from)?;
        let crier = Crier::hire(ctx)?;
        let looked = look(&mut seen, &mut desk, &crier, ctx);
        // Whatever went wrong with one thing, people are called for the others.
        crier.dismiss();
        looked?;
    }
    show(&seen, ctx)
}

/// What was seen and done.
#[derive(Default)]
struct Seen {
    repaired: Repaired,
    judged: Vec<String>,
    bereft: Vec<String>,
    unattended: Vec<String>,
    leases: Vec<String>,
}

fn look(seen: &mut Seen, desk: &mut Project, crier: &Crier, ctx: &Context) -> Result<(), Failure> {
    let clock = ctx.clock()?;
    let mut workshop = desk.workshop(ctx, &*clock)?;
    seen.repaired = reconcile::all(&mut workshop)?;
    seen.leases = leases(ctx)?;
    for task in adoptable(&mut workshop)? {
        let name = task.spec.name.to_string();
        let is_bereft = is_bereft(&workshop, &task);
        if lives(&task, ctx)? && !is_bereft {
            seen.unattended.push(name);
        } else if let Some(walk) = Walk::take_over(&mut workshop, &task)? {
            walk.to_the_end(&mut workshop, &Bystander { crier })?;
            let list = if is_bereft {
                &mut seen.bereft
            } else {
                &mut seen.judged
            };
            list.push(name);
        }
    }
    Ok(())
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

fn show(seen: &Seen, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if ctx.out.is_json() {
        ctx.out
            .document(WatchdogDocument::SCHEMA, seen.document())?;
        return Ok(ExitCode::Done);
    }
    let mut lines = seen.lines();
    if lines.is_empty() {
        lines.push("Everything is as it should be.".to_owned());
    }
    for line in lines {
        ctx.out.line(line)?;
    }
    Ok(ExitCode::Done)
}

impl Seen {
    /// Worktrees that stay, and why.
    fn stuck(&self) -> Vec<String> {
        let stuck = self.repaired.stuck.iter();
        let line = |(path, error): &(std::path::PathBuf, _)| {
            let why: &handoff_engine::EngineError = error;
            format!("{}: {}", path.display(), one_line(&why.to_string()))
        };
        stuck.map(line).collect()
    }

    fn document(&self) -> WatchdogDocument {
        WatchdogDocument {
            repairs: self.repaired.repairs.iter().map(repair_document).collect(),
            given_back: self.repaired.given_back(),
            retired: self.repaired.retired(),
            stuck: self.stuck(),
            judged: self.judged.clone(),
            bereft: self.bereft.clone(),
            unattended: self.unattended.clone(),
            leases: self.leases.clone(),
        }
    }

    fn lines(&self) -> Vec<String> {
        let mut lines: Vec<_> = self.repaired.repairs.iter().map(repair_line).collect();
        let stuck = self.stuck().into_iter();
        lines.extend(stuck.map(|it| format!("A worktree stays as it is: {it}")));
        let judged = self.judged.iter();
        lines.extend(judged.map(|name| format!("{name} was finished, and is judged now")));
        lines.extend(self.bereft.iter().map(|name| {
            format!("The worktree of {name} is gone; its session is ended, and it is given back")
        }));
        lines.extend(self.unattended.iter().map(|name| {
            format!(
                "{name} works without a worker; start one and it is taken over: `handoff worker`"
            )
        }));
        lines.extend(self.leases.iter().cloned());
        lines
    }
}
