//! The road: one task, from claim to the next one ready. Each step is a function; this file is their order.

use handoff_core::task::{Command, Evidence, Reason};
use handoff_core::{CommitId, SessionId, Task, TaskName};
use handoff_files::{Dir, Lock, Mode, atomic};
use handoff_git::Repository;

use crate::collect::{Collected, collect};
use crate::error::EngineError;
use crate::places::Attempt;
use crate::prompt::{Baton, prompt};
use crate::session::Launch;
use crate::workshop::Workshop;
use crate::{reconcile, referee, seal, session};

/// What came of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Walked {
    /// Which task.
    pub name: TaskName,
    /// How it ended.
    pub ending: Ending,
}

/// How a walk ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The task is done and proved.
    Done,
    /// It is not; this is what was recorded.
    Failed(Reason),
    /// It needs a person; this is what was recorded.
    Blocked(Reason),
}

/// Repairs what crashes left, then takes the next ready task down the road. Nothing ready, nothing done.
pub fn walk_next(
    workshop: &mut Workshop<'_>,
    launch: &Launch,
) -> Result<Option<Walked>, EngineError> {
    reconcile::all(workshop)?;
    let session = SessionId::from_uuid(handoff_process::mint());
    // Before the claim: a lease that is anchored in a lock nobody holds would be taken for lost.
    let _holder = hold(workshop, session)?;
    let Some(task) = workshop.claim_next(session)? else {
        return Ok(None);
    };
    let base = workshop
        .git
        .head(workshop.repository)
        .map_err(EngineError::Base)?;
    let at = prepare(workshop, &task, session, &base)?;
    let ending = match judge(workshop, launch, &task, session, &at, &base)? {
        Judgement::Accepted(evidence) => accept(workshop, &task, &evidence)?,
        Judgement::Rejected(ending) => reject(workshop, &task, ending)?,
    };
    reconcile::retire(workshop, &task, Attempt::of(&task))?;
    Ok(Some(Walked {
        name: task.spec.name,
        ending,
    }))
}

/// The lock that says this session's holder lives.
fn hold(workshop: &Workshop<'_>, session: SessionId) -> Result<Lock, EngineError> {
    Dir::create_private(&workshop.places.session(session))?;
    let path = workshop.places.holder_lock(session);
    Lock::try_acquire(&path, "holder")?.ok_or(EngineError::Taken(path))
}

/// A linked worktree on a branch of its own, and the prompt.
fn prepare(
    workshop: &mut Workshop<'_>,
    task: &Task,
    session: SessionId,
    base: &CommitId,
) -> Result<Repository, EngineError> {
    let attempt = Attempt::of(task);
    let branch = attempt.branch(task);
    let path = workshop.places.worktree(task.project, attempt);
    Dir::create_private(&workshop.places.worktrees(task.project))?;
    let at = workshop
        .git
        .add_worktree(workshop.repository, &path, &branch, base)?;
    let packages = workshop.packages_before(task)?;
    let text = prompt(&Baton {
        task,
        base,
        branch: &branch,
        packages: &packages,
    });
    let dir = Dir::open(&workshop.places.session(session))?;
    atomic::replace(&dir, "prompt.md", text.as_bytes(), Mode::Private)?;
    Ok(at)
}

/// What becomes of the work.
enum Judgement {
    Accepted(Vec<Evidence>),
    Rejected(Ending),
}

/// Lets the agent work, then looks at what it did. What it says about it is not asked for.
fn judge(
    workshop: &mut Workshop<'_>,
    launch: &Launch,
    task: &Task,
    session: SessionId,
    at: &Repository,
    base: &CommitId,
) -> Result<Judgement, EngineError> {
    let worktree = workshop.places.worktree(task.project, Attempt::of(task));
    if let Some(objection) = session::run(workshop, launch, task, session, &worktree)? {
        return Ok(Judgement::Rejected(Ending::Failed(reason(&objection))));
    }
    let mut evidence = vec![];
    if let Some(command) = &task.spec.verify {
        let verdict = referee::verify(workshop, command, &worktree)?;
        prove(workshop, task, &verdict.evidence, "verify")?;
        evidence.push(verdict.evidence);
        if let Some(objection) = verdict.objection {
            return Ok(Judgement::Rejected(Ending::Failed(reason(&objection))));
        }
    }
    match collect(workshop, task, at, base)? {
        Collected::Nothing => {}
        Collected::Foreign(reason) => return Ok(Judgement::Rejected(Ending::Blocked(reason))),
        Collected::Committed(proof) => {
            prove(workshop, task, &proof, "commit")?;
            evidence.push(proof);
        }
    }
    Ok(Judgement::Accepted(evidence))
}

fn prove(
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

fn accept(
    workshop: &mut Workshop<'_>,
    task: &Task,
    evidence: &[Evidence],
) -> Result<Ending, EngineError> {
    seal::seal(workshop, task, evidence)?;
    let complete = Command::Complete {
        fence: Some(task.fence),
        summary: None,
    };
    workshop.tell(task, complete, "end")?;
    Ok(Ending::Done)
}

fn reject(workshop: &mut Workshop<'_>, task: &Task, ending: Ending) -> Result<Ending, EngineError> {
    let fence = Some(task.fence);
    let command = match &ending {
        Ending::Failed(reason) => Command::Fail {
            fence,
            reason: reason.clone(),
        },
        Ending::Blocked(reason) => Command::Block {
            fence,
            reason: reason.clone(),
        },
        Ending::Done => Command::Complete {
            fence,
            summary: None,
        },
    };
    workshop.tell(task, command, "end")?;
    Ok(ending)
}

/// An objection as the ledger takes it: without NUL, and not endless.
fn reason(text: &str) -> Reason {
    let text: String = text.replace('\0', "\u{fffd}").chars().take(4_000).collect();
    text.parse()
        .expect("an objection says something, briefly, without NUL")
}
