//! Judging an attempt: what a session did is looked at, checked, and committed. What it says about it is not asked for.

use std::path::Path;

use handoff_agents::Usage;
use handoff_core::rest::Setback;
use handoff_core::run::Cause;
use handoff_core::task::{Command, Evidence, Part};
use handoff_core::{CommitId, SessionId, Task, TaskState};
use handoff_git::Repository;
use handoff_session::journal;
use handoff_session::record::Ending as Exit;

use crate::attendance::Conclusion;
use crate::collect::{commit, harvest};
use crate::error::EngineError;
use crate::places::Attempt;
use crate::referee::{self, Verdict};
use crate::road::{Ending, reason};
use crate::trouble::printed;
use crate::workshop::Workshop;
use crate::{fan_in, phase};

/// What becomes of the work.
pub(crate) enum Judgement {
    Accepted(Vec<Evidence>),
    Rejected(Ending),
    /// It is to be done again when the trouble is over.
    PutOff(Setback),
    /// The session blocked it, or a person called it off.
    EndedMeanwhile(Ending),
}

/// Looks at how the session ended, then at what it did.
pub(crate) fn judge(
    workshop: &mut Workshop<'_>,
    task: &Task,
    session: SessionId,
    base: &CommitId,
    at: Option<&Repository>,
    conclusion: Conclusion,
) -> Result<Judgement, EngineError> {
    let failed = |text: String| Judgement::Rejected(Ending::Failed(reason(&text)));
    workshop.require_repository()?;
    if let Some(ending) = ended_meanwhile(&workshop.reload(task)?) {
        return Ok(Judgement::EndedMeanwhile(ending));
    }
    note_usage(workshop, task, session)?;
    let directory = workshop.places.session(session);
    let last_line = || last_line(&directory);
    Ok(match conclusion {
        Conclusion::Finished if let Some(at) = at => {
            return judge_work(workshop, task, base, at, None);
        }
        Conclusion::Finished | Conclusion::Bereft => bereft(),
        Conclusion::Blocked(reason) => Judgement::Rejected(Ending::Blocked(reason)),
        Conclusion::Failed(Exit::Code(code)) => {
            failed(format!("the agent exited with {code}{}", last_line()))
        }
        Conclusion::Failed(Exit::Signal(signal)) => {
            failed(format!("the agent was ended by signal {signal}"))
        }
        Conclusion::TimedOut(limit) => {
            let cause = Cause::BudgetSpent;
            let is_phase = task.spec.part.and_then(Part::run).is_some();
            if is_phase {
                prove(workshop, task, &Evidence::Refused { cause }, "refuse")?;
            }
            failed(format!("the agent took longer than {} s", limit.as_secs()))
        }
        Conclusion::Stalled => failed("nothing of the agent moved any more".to_owned()),
        Conclusion::Troubled(setback) => Judgement::PutOff(setback),
        Conclusion::Lost => Judgement::Rejected(Ending::GivenBack(reason("its session was lost"))),
        Conclusion::Over => {
            let why = gone(&workshop.reload(task)?);
            Judgement::EndedMeanwhile(Ending::GivenBack(reason(why)))
        }
    })
}

/// What became of the right to work on a task that has not ended.
fn gone(task: &Task) -> &'static str {
    let is_paused = task.hold.as_ref().is_some_and(|it| it.pause.is_some());
    match task.state.lease() {
        Some(_) => "somebody else has the task",
        None if is_paused => "it was paused",
        None => "its lease was taken back",
    }
}

/// What the agent says that its session used, for whoever has a budget.
fn note_usage(
    workshop: &mut Workshop<'_>,
    task: &Task,
    session: SessionId,
) -> Result<(), EngineError> {
    if phase::run_behind(workshop, task)?.is_none() {
        return Ok(());
    }
    // Whoever judged before and died has said it; the session may have used more since.
    let told = workshop.reload(task)?.evidence;
    if told.iter().any(|it| it.tokens().is_some()) {
        return Ok(());
    }
    // A session without a journal used nothing that anybody knows of.
    let entries = journal::read(&workshop.places.session(session)).unwrap_or_default();
    let used = entries.iter().filter_map(|it| it.event.usage());
    let tokens = used.map(Usage::tokens).fold(0, u64::saturating_add);
    match tokens {
        0 => Ok(()),
        tokens => prove(workshop, task, &Evidence::Used { tokens }, "used"),
    }
}

/// Looks at what the tool itself brought together; `checked` says that the check passed on it.
pub(crate) fn judge_gathered(
    workshop: &mut Workshop<'_>,
    task: &Task,
    base: &CommitId,
    at: Option<&Repository>,
    checked: Option<Evidence>,
) -> Result<Judgement, EngineError> {
    workshop.require_repository()?;
    match (ended_meanwhile(&workshop.reload(task)?), at) {
        (Some(ending), _) => Ok(Judgement::EndedMeanwhile(ending)),
        (None, Some(at)) => judge_work(workshop, task, base, at, checked),
        (None, None) => Ok(bereft()),
    }
}

fn bereft() -> Judgement {
    let why = "its worktree is gone: somebody removed it, and what was not committed with it";
    Judgement::Rejected(Ending::GivenBack(reason(why)))
}

fn judge_work(
    workshop: &mut Workshop<'_>,
    task: &Task,
    base: &CommitId,
    at: &Repository,
    checked: Option<Evidence>,
) -> Result<Judgement, EngineError> {
    if let Some(run) = phase::run_of(workshop, task)? {
        return phase::judge(workshop, task, &run, base, at);
    }
    let worktree = workshop.places.worktree(task.project, Attempt::of(task));
    let harvest = match harvest(workshop, task, at, base) {
        Ok(harvest) => harvest,
        Err(ending) => return Ok(Judgement::Rejected(ending)),
    };
    let mut evidence = vec![];
    if let Some(command) = &task.spec.verify {
        let verdict = match checked {
            Some(evidence) => Verdict {
                evidence,
                objection: None,
            },
            None => referee::verify(workshop, task, command, &worktree)?,
        };
        // Another run of the same check is another proof.
        let verb = format!("verify-{}", handoff_process::mint().simple());
        prove(workshop, task, &verdict.evidence, &verb)?;
        evidence.push(verdict.evidence);
        if let Some(objection) = verdict.objection {
            return Ok(Judgement::Rejected(Ending::Failed(reason(&objection))));
        }
    }
    if let Some(proof) = commit(workshop, task, at, &harvest)? {
        prove(workshop, task, &proof, "commit")?;
        remember(workshop, task, &proof)?;
        evidence.push(proof);
    }
    match fan_in::judge_join(workshop, task, at, base, &evidence)? {
        Ok(judged) => {
            evidence.extend(judged);
            Ok(Judgement::Accepted(evidence))
        }
        Err(objection) => Ok(Judgement::Rejected(Ending::Failed(reason(&objection)))),
    }
}

/// What the check passed on is what a next one can be built on.
fn remember(workshop: &mut Workshop<'_>, task: &Task, proof: &Evidence) -> Result<(), EngineError> {
    if let (Evidence::Committed { branch, commit }, Some(command)) = (proof, &task.spec.verify) {
        workshop.set_baseline(task, branch, commit, command)?;
    }
    Ok(())
}

fn ended_meanwhile(task: &Task) -> Option<Ending> {
    match &task.state {
        TaskState::Done { .. } => Some(Ending::Done),
        TaskState::Failed { reason, .. } => Some(Ending::Failed(reason.clone())),
        TaskState::Blocked { reason, .. } => Some(Ending::Blocked(reason.clone())),
        TaskState::Cancelled { .. } => Some(Ending::CalledOff),
        TaskState::Waiting
        | TaskState::Queued
        | TaskState::Leased { .. }
        | TaskState::Running { .. } => None,
    }
}

pub(crate) fn prove(
    workshop: &mut Workshop<'_>,
    task: &Task,
    evidence: &Evidence,
    verb: &str,
) -> Result<(), EngineError> {
    let command = Command::Prove {
        fence: task.fence,
        evidence: evidence.clone(),
    };
    workshop.tell(task, command, verb)
}

/// The last line that the agent printed, where it may have said what is wrong.
fn last_line(session: &Path) -> String {
    let lines = printed(session);
    let last = lines.iter().rev().find(|line| !line.trim().is_empty());
    last.map_or_else(String::new, |line| format!(": {}", line.trim()))
}
