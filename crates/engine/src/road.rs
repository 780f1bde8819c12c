//! The road: one task, from claim to the next one ready. Each step is a function; this file is their order.
//!
//! Two ways lead onto it: a ready task is claimed, or the attempt of a dead worker is taken over where it stands. From the
//! session on they are the same.

mod acceptance;
mod arrival;
mod rejection;

use std::sync::Arc;

use handoff_core::run::Run;
use handoff_core::task::{Command, Evidence, Part, Reason};
use handoff_core::{CommitId, Rest, SessionId, Task, TaskId, TaskName};
use handoff_files::{Dir, Lock, Mode, atomic};
use handoff_git::saved_work::SavedWork;
use handoff_git::{KeptPack, Repository};
use handoff_store::queue::Agents;

pub use self::arrival::Milestone;

use crate::adoption::session_of;
use crate::attendance::Conclusion;
use crate::earlier::hindsight_after;
use crate::error::EngineError;
use crate::fan_in::Gathering;
use crate::judgement::{Judgement, judge, judge_gathered, prove};
use crate::places::Attempt;
use crate::prompt::{Baton, prompt};
use crate::reconcile::is_finished;
use crate::session::Attendant;
use crate::spawn::{Order, Spawn, session_name};
use crate::ticket::Ticket;
use crate::workshop::Workshop;
use crate::{continuation, fan_in, phase, reconcile, storm};

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
    /// A person does not want it any more.
    CalledOff,
    /// It is back in the queue, through no fault of its own.
    GivenBack(Reason),
    /// The same, for later: its agent is in trouble.
    Resting(Box<Rest>),
}

/// Takes the next ready task down the road. Nothing ready, nothing done. Whoever calls this runs the reconcilers first.
pub fn walk_next(
    workshop: &mut Workshop<'_>,
    spawn: &dyn Spawn,
) -> Result<Option<Walked>, EngineError> {
    match Walk::claim(workshop, Agents::default())? {
        Some(walk) => walk.to_the_end(workshop, spawn).map(Some),
        None => Ok(None),
    }
}

/// A task on its way. Dropping it leaves everything as if its worker had died.
#[must_use = "a task that was claimed is to be worked on"]
pub struct Walk {
    task: Task,
    session: SessionId,
    base: CommitId,
    /// What the session is to know of where it starts.
    ground: Option<String>,
    /// Objects of the commit where the work begins, until its branch names that.
    kept: Vec<KeptPack>,
    stage: Stage,
    /// Says that somebody attends to the session.
    _lock: Lock,
}

/// Whose work is to be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Work {
    OfAgent,
    /// The tool brought results together, and there is nothing for an agent to decide.
    OfTool {
        /// That the check passed on exactly this, if there is one: it is not run twice.
        checked: Option<Evidence>,
    },
}

/// How far it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Nothing is there but the lease.
    Claimed,
    /// The agent was started, by somebody else; so many have died who wanted to judge what it left.
    Begun { dead: u64 },
}

/// What is to be claimed.
enum Wanted {
    /// The next one for any of these agents.
    Next(Agents),
    /// This one.
    This(TaskId),
}

impl Walk {
    /// Claims the next ready task.
    pub fn claim(workshop: &mut Workshop<'_>, agents: Agents) -> Result<Option<Self>, EngineError> {
        Self::claim_wanted(workshop, Wanted::Next(agents))
    }

    fn claim_wanted(
        workshop: &mut Workshop<'_>,
        wanted: Wanted,
    ) -> Result<Option<Self>, EngineError> {
        // What can fail without a task fails before one is claimed.
        workshop.require_repository()?;
        let ground = workshop.survey()?;
        let session = SessionId::from_uuid(handoff_process::mint());
        Dir::create_private(&workshop.places.session(session))?;
        // Before the claim: a lease that is anchored in locks nobody holds would be taken for lost.
        let path = workshop.places.worker_lock(session);
        let lock = Lock::try_acquire(&path, "worker")?.ok_or(EngineError::Taken(path))?;
        let claimed = match wanted {
            Wanted::This(task) => workshop.claim_this(session, task)?,
            Wanted::Next(agents) => workshop.claim_next(session, agents)?,
        };
        let Some(task) = claimed else {
            drop(lock);
            // Nothing was ever in it but the lock.
            std::fs::remove_dir_all(workshop.places.session(session)).ok();
            return Ok(None);
        };
        Ok(Some(Self {
            task,
            session,
            base: ground.base().clone(),
            ground: ground.told(),
            kept: vec![],
            stage: Stage::Claimed,
            _lock: lock,
        }))
    }

    /// Claims this task; nothing if it is not to be had now.
    pub fn claim_this(
        workshop: &mut Workshop<'_>,
        task: TaskId,
    ) -> Result<Option<Self>, EngineError> {
        Self::claim_wanted(workshop, Wanted::This(task))
    }

    /// Takes over the attempt of a dead worker. Nothing if somebody else was quicker.
    pub fn take_over(
        workshop: &mut Workshop<'_>,
        task: &Task,
    ) -> Result<Option<Self>, EngineError> {
        let Some(session) = session_of(task) else {
            return Ok(None);
        };
        let path = workshop.places.worker_lock(session);
        let Some(lock) = Lock::try_acquire(&path, "worker")? else {
            return Ok(None);
        };
        // Whoever had the lock meanwhile may have come to the end.
        let now = workshop.reload(task)?;
        let ticket = Ticket::read(&workshop.places, session)
            .filter(|_| session_of(&now) == Some(session) && now.fence == task.fence);
        let Some(mut ticket) = ticket else {
            return Ok(None);
        };
        let dead = ticket.judges;
        if is_finished(&workshop.places, session)? {
            let now = workshop.clock.now().wall;
            if storm::is_too_early(ticket.not_before, now) {
                return Ok(None);
            }
            // Before anything is looked at: whoever dies over it has been counted.
            ticket.judges += 1;
            ticket.not_before = storm::next_judge(ticket.judges, now);
            ticket.write(&workshop.places, session)?;
        }
        Ok(Some(Self {
            task: now,
            session,
            base: ticket.base,
            ground: None,
            kept: vec![],
            stage: Stage::Begun { dead },
            _lock: lock,
        }))
    }

    /// The task.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// The session that works on it, or is about to.
    pub fn session(&self) -> SessionId {
        self.session
    }

    fn go(
        &mut self,
        workshop: &mut Workshop<'_>,
        spawn: &dyn Spawn,
        passed: &mut dyn FnMut(Milestone),
    ) -> Result<Ending, EngineError> {
        let occupied = occupy(workshop, &self.task)?;
        if let Some(judgement) = self.storm(workshop)? {
            return self.conclude(workshop, judgement, occupied);
        }
        let (at, work) = match self.stage {
            Stage::Claimed => {
                let (at, work) = self.set_out(workshop, spawn)?;
                (Some(at), work)
            }
            Stage::Begun { .. } => (self.tree(workshop), Work::OfAgent),
        };
        passed(Milestone::Launched);
        let (task, base) = (&self.task, &self.base);
        let judgement = match work {
            Work::OfAgent => {
                let conclusion =
                    Attendant::new(workshop, task, self.session).attend(workshop, spawn)?;
                // An agent that is in trouble may keep others from beginning: that is recorded before anybody is claimed for it.
                if conclusion == Conclusion::Finished && !self.is_to_be_run() {
                    passed(Milestone::Vacated);
                }
                judge(workshop, task, self.session, base, at.as_ref(), conclusion)?
            }
            Work::OfTool { checked } => judge_gathered(workshop, task, base, at.as_ref(), checked)?,
        };
        self.conclude(workshop, judgement, occupied)
    }

    /// Whether the judgement runs something of what the agent left: a check, or the tests of a phase.
    fn is_to_be_run(&self) -> bool {
        let spec = &self.task.spec;
        let is_run = match spec.part {
            Some(Part::Phase { .. } | Part::FanIn { .. }) => true,
            Some(Part::SubTask { .. }) | None => false,
        };
        is_run || spec.verify.is_some()
    }

    /// What becomes of it instead, if too many have died over it.
    fn storm(&self, workshop: &mut Workshop<'_>) -> Result<Option<Judgement>, EngineError> {
        Ok(match self.stage {
            Stage::Claimed => storm::of_attempts(workshop, &self.task)?
                .map(|why| Judgement::PutOff(self.lost(&why))),
            Stage::Begun { dead } => {
                storm::of_judges(dead).map(|why| Judgement::Rejected(Ending::Blocked(reason(&why))))
            }
        })
    }

    /// A linked worktree, what is in it already, the prompt, and the agent; unless there is nothing for one to do.
    fn set_out(
        &mut self,
        workshop: &mut Workshop<'_>,
        spawn: &dyn Spawn,
    ) -> Result<(Repository, Work), EngineError> {
        if let Some(beginning) = fan_in::beginning(workshop, &self.task)? {
            self.base = beginning.commit;
            self.ground = beginning.told;
            self.kept = beginning.kept;
        }
        let run = phase::run_of(workshop, &self.task)?;
        if let Some(run) = &run {
            phase::show_in_git(workshop, run).ok();
            self.base = run.head().clone();
        }
        self.go_on(workshop)?;
        let _kept = std::mem::take(&mut self.kept);
        let task = &self.task;
        let attempt = Attempt::of(task);
        let path = workshop.places.worktree(task.project, attempt);
        let branch = attempt.branch(task);
        let git = workshop.git.clone();
        let stock = Arc::clone(&workshop.stock);
        let tree = stock.begin_worktree(workshop, &path, &branch, &self.base)?;
        if run.is_none() && !matches!(task.spec.part, Some(Part::FanIn { .. })) {
            // What needs nothing of the tree is done while git fills it. Whatever comes of it, git is not left at work there.
            let announced = self.tell_beginning(workshop, spawn);
            let at = git.finish_worktree(workshop.repository, tree)?;
            announced?;
            self.launch(workshop, spawn, None)?;
            return Ok((at, Work::OfAgent));
        }
        let at = git.finish_worktree(workshop.repository, tree)?;
        let gathering = match task.spec.part {
            Some(Part::FanIn { .. }) => Some(fan_in::gather(workshop, task, &at)?),
            Some(Part::SubTask { .. } | Part::Phase { .. }) | None => None,
        };
        if let Some(gathering) = &gathering {
            prove(workshop, task, &gathering.evidence(), "gather")?;
            if !gathering.needs_judgement() {
                let checked = gathering.checked.clone();
                return Ok((at, Work::OfTool { checked }));
            }
        }
        let mut before = vec![];
        let told = match &run {
            Some(run) => {
                phase::measure(workshop, task, run, &at)?;
                phase::tick(workshop, task, &at)?;
                before = phase::packages_before(workshop, run)?;
                Some(phase::text(workshop, run, &at, &before)?)
            }
            None => None,
        };
        let hindsight = hindsight_after(workshop, task, &before)?;
        self.write_prompt(workshop, gathering.as_ref(), told.as_deref(), &hindsight)?;
        self.announce(workshop, spawn)?;
        self.launch(workshop, spawn, run.as_ref())?;
        Ok((at, Work::OfAgent))
    }

    /// A task that waited for others begins with what they did, and so does a part of a batch that waited for one outside of it.
    /// Fan-ins and phases have a beginning of their own.
    fn go_on(&mut self, workshop: &mut Workshop<'_>) -> Result<(), EngineError> {
        if matches!(self.task.spec.part, None | Some(Part::SubTask { .. }))
            && let Some(beginning) = continuation::beginning(workshop, &self.task, &self.base)?
        {
            self.base = beginning.commit;
            self.kept.extend(beginning.kept);
            // What is known of the ground is still true of what is below.
            let told = self.ground.take().into_iter().chain([beginning.told]);
            self.ground = Some(told.collect::<Vec<_>>().join(" "));
        }
        Ok(())
    }

    /// The worktree that somebody else has made for it; none if it is gone.
    fn tree(&self, workshop: &Workshop<'_>) -> Option<Repository> {
        let attempt = Attempt::of(&self.task);
        let path = workshop.places.worktree(self.task.project, attempt);
        workshop.repository.linked_at(&path)
    }

    fn write_prompt(
        &self,
        workshop: &mut Workshop<'_>,
        gathering: Option<&Gathering>,
        told: Option<&str>,
        hindsight: &str,
    ) -> Result<(), EngineError> {
        let saved = self.saved(workshop);
        let text = prompt(&Baton {
            task: &self.task,
            base: &self.base,
            ground: self.ground.as_deref(),
            branch: &Attempt::of(&self.task).branch(&self.task),
            hindsight,
            saved: &saved,
            gathering,
            told,
        });
        let dir = Dir::open(&workshop.places.session(self.session))?;
        // Whoever reads it lives now: after a power cut it is another session that is told.
        Ok(atomic::replace_view(
            &dir,
            "prompt.md",
            text.as_bytes(),
            Mode::Private,
        )?)
    }

    /// What is left of earlier attempts. It only informs: what cannot be found out is left out.
    fn saved(&self, workshop: &Workshop<'_>) -> Vec<SavedWork> {
        if self.task.leases() <= 1 {
            return vec![];
        }
        let label = Attempt::labels(&self.task);
        let saved = workshop.git.saved_work(workshop.repository, &label);
        saved.unwrap_or_default()
    }

    /// What a task is told that is neither a fan-in nor a phase, and that it begins.
    fn tell_beginning(
        &self,
        workshop: &mut Workshop<'_>,
        spawn: &dyn Spawn,
    ) -> Result<(), EngineError> {
        let hindsight = hindsight_after(workshop, &self.task, &[])?;
        self.write_prompt(workshop, None, None, &hindsight)?;
        self.announce(workshop, spawn)
    }

    /// Writes down what whoever takes over needs, and that the session begins.
    fn announce(&self, workshop: &mut Workshop<'_>, spawn: &dyn Spawn) -> Result<(), EngineError> {
        let (task, session) = (&self.task, self.session);
        let ticket = Ticket::new(task.id, task.fence, self.base.clone());
        ticket.issue(&workshop.places, session)?;
        let fence = task.fence;
        let agent = spawn.agent(task);
        let start = Command::Start {
            fence,
            session,
            agent,
        };
        workshop.tell(task, start, "start")
    }

    /// Lets the agent begin.
    fn launch(
        &self,
        workshop: &Workshop<'_>,
        spawn: &dyn Spawn,
        run: Option<&Run>,
    ) -> Result<(), EngineError> {
        let (task, session) = (&self.task, self.session);
        let path = workshop.places.session(session).join("prompt.md");
        let text = std::fs::read_to_string(path).map_err(EngineError::Prompt)?;
        let order = Order {
            session,
            name: session_name(task),
            task,
            worktree: &workshop.places.worktree(task.project, Attempt::of(task)),
            prompt: &text,
            role: run.map(|run| run.phase().role.as_str()),
        };
        spawn.spawn(&order).map_err(EngineError::Spawn)
    }

    /// From what was done to the end: whoever began it, whoever walks here now.
    fn conclude(
        &self,
        workshop: &mut Workshop<'_>,
        judgement: Judgement,
        occupied: Lock,
    ) -> Result<Ending, EngineError> {
        let task = &self.task;
        if !matches!(judgement, Judgement::Accepted(_)) {
            // What could not be read because the repository went away meanwhile says nothing about the work.
            workshop.require_repository()?;
        }
        if matches!(judgement, Judgement::Rejected(_) | Judgement::PutOff(_)) {
            // Somebody may claim it as soon as it is given back, and is told what was saved. If it cannot be saved, the
            // worktree stays.
            reconcile::save(workshop, task, Attempt::of(task)).ok();
        }
        let ending = match judgement {
            Judgement::Accepted(evidence) => self.accept(workshop, &evidence)?,
            Judgement::Rejected(ending) => self.reject(workshop, ending)?,
            Judgement::PutOff(setback) => self.put_off(workshop, setback)?,
            Judgement::EndedMeanwhile(ending) => ending,
        };
        // A view of the ledger: what keeps it from being shown does not undo what was proved.
        if let Ok(Some(run)) = phase::run_behind(workshop, task) {
            phase::show_in_git(workshop, &run).ok();
        }
        drop(occupied);
        Ok(ending)
    }
}

/// The lock that says somebody works in this attempt's worktree, whatever becomes of the lease.
fn occupy(workshop: &Workshop<'_>, task: &Task) -> Result<Lock, EngineError> {
    Dir::create_private(&workshop.places.worktrees(task.project))?;
    let path = workshop
        .places
        .worktree_lock(task.project, Attempt::of(task));
    Lock::try_acquire(&path, "worktree")?.ok_or(EngineError::Taken(path))
}

/// An objection as the ledger takes it: without NUL, and not endless.
pub(crate) fn reason(text: &str) -> Reason {
    let text: String = text.replace('\0', "\u{fffd}").chars().take(4_000).collect();
    text.parse()
        .expect("an objection says something, briefly, without NUL")
}
