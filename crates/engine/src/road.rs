//! The road: one task, from claim to the next one ready. Each step is a function; this file is their order.

use handoff_core::task::{Command, Evidence, Reason};
use handoff_core::{CommitId, SessionId, Task, TaskName, TaskState};
use handoff_files::{Dir, Lock, Mode, atomic};
use handoff_git::Repository;

use crate::collect::{commit, harvest};
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

/// Takes the next ready task down the road. Nothing ready, nothing done. Whoever calls this runs the reconcilers first.
pub fn walk_next(
    workshop: &mut Workshop<'_>,
    launch: &Launch,
) -> Result<Option<Walked>, EngineError> {
    // What can fail without a task fails before one is claimed.
    let base = workshop
        .git
        .head(workshop.repository)
        .map_err(EngineError::Base)?;
    let session = SessionId::from_uuid(handoff_process::mint());
    // Before the claim: a lease that is anchored in a lock nobody holds would be taken for lost.
    let holder = hold(workshop, session)?;
    let Some(task) = workshop.claim_next(session)? else {
        drop(holder);
        // Nothing was ever in it but the lock.
        std::fs::remove_dir_all(workshop.places.session(session)).ok();
        return Ok(None);
    };
    let walk = Walk {
        task: &task,
        session,
        base: &base,
    };
    match walk.to_the_end(workshop, launch) {
        Ok(ending) => Ok(Some(Walked {
            name: task.spec.name.clone(),
            ending,
        })),
        Err(error) => {
            walk.give_back(workshop, &error);
            Err(error)
        }
    }
}

/// A task on its way.
struct Walk<'a> {
    task: &'a Task,
    session: SessionId,
    base: &'a CommitId,
}

impl Walk<'_> {
    fn to_the_end(
        &self,
        workshop: &mut Workshop<'_>,
        launch: &Launch,
    ) -> Result<Ending, EngineError> {
        let attempt = Attempt::of(self.task);
        let occupied = occupy(workshop, self.task)?;
        let at = prepare(workshop, self.task, self.session, self.base)?;
        let ending = match self.judge(workshop, launch, &at)? {
            Judgement::Accepted(evidence) => accept(workshop, self.task, &evidence)?,
            Judgement::Rejected(ending) => reject(workshop, self.task, ending)?,
            Judgement::EndedMeanwhile(ending) => ending,
        };
        drop(occupied);
        // The outcome is recorded; what keeps the worktree from going is the reconcilers' business.
        reconcile::retire(workshop, self.task, attempt).ok();
        Ok(ending)
    }

    /// The task is not to wait for a lease to run out. If that fails too, it does.
    fn give_back(&self, workshop: &mut Workshop<'_>, error: &EngineError) {
        let mut why = error.to_string();
        if let Some(cause) = std::error::Error::source(error) {
            why = format!("{why}: {cause}");
        }
        let release = Command::Release {
            fence: self.task.fence,
            reason: Some(reason(&why)),
        };
        workshop.tell(self.task, release, "release").ok();
    }

    /// Lets the agent work, then looks at what it did. What it says about it is not asked for.
    fn judge(
        &self,
        workshop: &mut Workshop<'_>,
        launch: &Launch,
        at: &Repository,
    ) -> Result<Judgement, EngineError> {
        let task = self.task;
        let worktree = workshop.places.worktree(task.project, Attempt::of(task));
        let objection = session::run(workshop, launch, task, self.session, &worktree)?;
        if let Some(ending) = ended_meanwhile(&workshop.reload(task)?) {
            return Ok(Judgement::EndedMeanwhile(ending));
        }
        if let Some(objection) = objection {
            return Ok(Judgement::Rejected(Ending::Failed(reason(&objection))));
        }
        let paths = match harvest(workshop, task, at, self.base) {
            Ok(paths) => paths,
            Err(reason) => return Ok(Judgement::Rejected(Ending::Blocked(reason))),
        };
        let mut evidence = vec![];
        if let Some(command) = &task.spec.verify {
            let verdict = referee::verify(workshop, task, command, &worktree)?;
            prove(workshop, task, &verdict.evidence, "verify")?;
            evidence.push(verdict.evidence);
            if let Some(objection) = verdict.objection {
                return Ok(Judgement::Rejected(Ending::Failed(reason(&objection))));
            }
        }
        if let Some(proof) = commit(workshop, task, at, &paths)? {
            prove(workshop, task, &proof, "commit")?;
            evidence.push(proof);
        }
        Ok(Judgement::Accepted(evidence))
    }
}

/// The lock that says this session's holder lives.
fn hold(workshop: &Workshop<'_>, session: SessionId) -> Result<Lock, EngineError> {
    Dir::create_private(&workshop.places.session(session))?;
    let path = workshop.places.holder_lock(session);
    Lock::try_acquire(&path, "holder")?.ok_or(EngineError::Taken(path))
}

/// The lock that says somebody works in this attempt's worktree, whatever becomes of the lease.
fn occupy(workshop: &Workshop<'_>, task: &Task) -> Result<Lock, EngineError> {
    Dir::create_private(&workshop.places.worktrees(task.project))?;
    let path = workshop
        .places
        .worktree_lock(task.project, Attempt::of(task));
    Lock::try_acquire(&path, "worktree")?.ok_or(EngineError::Taken(path))
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
    /// The session blocked it, or a person called it off.
    EndedMeanwhile(Ending),
}

fn ended_meanwhile(task: &Task) -> Option<Ending> {
    match &task.state {
        TaskState::Done { .. } => Some(Ending::Done),
        TaskState::Failed { reason, .. } => Some(Ending::Failed(reason.clone())),
        TaskState::Blocked { reason, .. } => Some(Ending::Blocked(reason.clone())),
        TaskState::Cancelled { .. } => Some(Ending::Blocked(reason("the task was called off"))),
        TaskState::Waiting
        | TaskState::Queued
        | TaskState::Leased { .. }
        | TaskState::Running { .. } => None,
    }
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
pub(crate) fn reason(text: &str) -> Reason {
    let text: String = text.replace('\0', "\u{fffd}").chars().take(4_000).collect();
    text.parse()
        .expect("an objection says something, briefly, without NUL")
}
