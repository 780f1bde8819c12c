//! The fan-in: the tool, not an agent, brings the results of a batch together. An agent gets only what needs judgement.
//!
//! Every part that is done has a commit. They are merged onto the batch's base in the order of the manifest (what others are
//! built on before them), in the object database, so that a crash leaves nothing half done and doing it again makes the same commits. What conflicts is left out. Then
//! the check of the fan-in runs on all of it; if it fails, the part with which it begins to fail is searched for and left out,
//! until it passes. Nothing is lost by that: the commit of a part that was left out stays on its own branch.
//!
//! An attempt at a fan-in works on a branch of its own like any other. `handoff/<batch>` is moved once, by [`publish`], when the
//! result is accepted.

mod gathering;
mod pile;

pub use gathering::{Conflict, FailedCheck, Gathering, MergedPart, Missing};

use handoff_core::batch::{is_built_on, merging_order};
use handoff_core::ownership::CaseRule;
use handoff_core::task::{Evidence, Part, VerifyCommand};
use handoff_core::{Batch, BatchName, BranchName, CommitId, PartName, Task, TaskId};
use handoff_git::{KeptPack, Repository};
use handoff_store::{batches, read, tasks};

use crate::continuation;
use crate::error::EngineError;
use crate::phase::Join;
use crate::places::Attempt;
use crate::referee;
use crate::workshop::Workshop;
use pile::{Contribution, Pile};

/// The branch on which the results of a batch come together.
pub fn branch(batch: &BatchName) -> BranchName {
    let name = format!("handoff/{batch}");
    name.parse()
        .expect("a batch's name is a part of a branch name")
}

/// Brings the results of the parts together in the tree `at`, which is the fan-in's own: its branch is moved, and what was not
/// committed there is gone.
pub fn gather(
    workshop: &mut Workshop<'_>,
    task: &Task,
    at: &Repository,
) -> Result<Gathering, EngineError> {
    let batch = batch_of(workshop, task)?;
    let (given, mut missing) = contributions(workshop, &batch)?;
    for it in &mut missing {
        it.saved = saved(workshop, it.task)?;
    }
    let base = ground(workshop, &batch)?;
    let git = workshop.git.bound_to(at);
    let mut pile = Pile::new((&git, at), &batch, base, in_order(&given))?;
    git.put_tree(at, pile.top()).map_err(EngineError::Gather)?;
    let join = Join::of(workshop, task, &batch, at)?;
    let mut trial = Trial {
        workshop,
        task,
        at,
        join: join.as_ref(),
        passed: None,
    };
    let failed_checks = if trial.asks_anything() {
        weed(&mut trial, &mut pile)?
    } else {
        vec![]
    };
    let passed = trial.passed.take();
    git.put_tree(at, pile.top()).map_err(EngineError::Gather)?;
    let checked = passed.filter(|(commit, _)| commit == pile.top());
    let gathering = pile.gathered(&batch, missing, failed_checks);
    Ok(Gathering {
        checked: checked.map(|(_, proof)| proof),
        ..gathering
    })
}

/// Points the branch of the batch to an accepted result. What an earlier batch of the same name left there is kept.
pub fn publish(
    workshop: &mut Workshop<'_>,
    task: &Task,
    commit: &CommitId,
) -> Result<BranchName, EngineError> {
    let branch = branch(&batch_of(workshop, task)?.spec.name);
    let (git, repository) = (&workshop.git, workshop.repository);
    git.point_branch(repository, &branch, commit)
        .map_err(EngineError::Gather)?;
    Ok(branch)
}

/// Where the work on a task of a batch begins.
#[derive(Debug)]
pub struct Beginning {
    /// The commit.
    pub commit: CommitId,
    /// What its session is told of it, if there is more to it than the base of the batch.
    pub told: Option<String>,
    /// Needed until a ref names the commit.
    pub kept: Vec<KeptPack>,
}

/// Where the work on a task of a batch begins: at the base of the batch, with what the parts have done that it is built on. None
/// for a task that belongs to no batch.
pub fn beginning(
    workshop: &mut Workshop<'_>,
    task: &Task,
) -> Result<Option<Beginning>, EngineError> {
    let is_part = match task.spec.part {
        None | Some(Part::Phase { .. }) => return Ok(None),
        Some(Part::FanIn { .. }) => false,
        Some(Part::SubTask { .. }) => true,
    };
    let batch = batch_of(workshop, task)?;
    let (mut given, _) = contributions(workshop, &batch)?;
    given.retain(|it| is_part && is_built_on(task, &it.task, CaseRule::NATIVE));
    let is_needed = |id: TaskId| task.spec.after.iter().any(|need| need.task == id);
    let mut given = in_order(&given);
    // One that only owns the same paths and does not fit is left to the fan-in.
    given.sort_by_key(|it| !is_needed(it.task.id));
    let below: Vec<_> = given.iter().map(|it| it.name.clone()).collect();
    let base = ground(workshop, &batch)?;
    let git = workshop.git.clone();
    let pile = Pile::new((&git, workshop.repository), &batch, base, given)?;
    match { pile.conflicts().iter() }.find(|it| is_needed(it.task)) {
        None => Ok(Some(Beginning {
            commit: pile.top().clone(),
            told: told(&below, pile.conflicts()),
            kept: pile.into_kept(),
        })),
        Some(conflict) => Err(EngineError::NoBeginning {
            needed: conflict.part.to_string(),
            paths: conflict.paths.clone(),
        }),
    }
}

/// What every part began with: the base of the batch, and what its parts waited for outside of it.
fn ground(
    workshop: &mut Workshop<'_>,
    batch: &Batch,
) -> Result<(CommitId, Vec<KeptPack>), EngineError> {
    let base = &batch.spec.base;
    let Some(part) = batch.spec.parts.first() else {
        return Ok((base.clone(), vec![]));
    };
    let task = read(workshop.store, |tx| tasks::get(tx, part.task))?;
    let beginning = continuation::beginning(workshop, &task, base)?;
    Ok(beginning.map_or_else(|| (base.clone(), vec![]), |it| (it.commit, it.kept)))
}

/// What a part is told of those that its tree begins with.
fn told(below: &[PartName], conflicts: &[Conflict]) -> Option<String> {
    let is_in = |name: &&PartName| !conflicts.iter().any(|it| it.part == **name);
    let names: Vec<_> = { below.iter() }
        .filter(is_in)
        .map(|name| format!("`{name}`"))
        .collect();
    (!names.is_empty()).then(|| {
        let names = names.join(", ");
        format!("It has what these parts of the batch have done: {names}.")
    })
}

fn batch_of(workshop: &mut Workshop<'_>, task: &Task) -> Result<Batch, EngineError> {
    let batch = task.spec.part.and_then(Part::batch);
    let batch = batch.ok_or(EngineError::NoBatch(task.id))?;
    Ok(read(workshop.store, |tx| batches::get(tx, batch))?)
}

/// What the parts left, and which left nothing because they did not end well, as the manifest has them.
fn contributions(
    workshop: &mut Workshop<'_>,
    batch: &Batch,
) -> Result<(Vec<Contribution>, Vec<Missing>), EngineError> {
    let (mut given, mut missing) = (vec![], vec![]);
    for part in &batch.spec.parts {
        let task = read(workshop.store, |tx| tasks::get(tx, part.task))?;
        match Missing::of(part, &task) {
            Some(it) => missing.push(it),
            None => given.push(Contribution {
                name: part.name.clone(),
                commit: committed(&task),
                task,
            }),
        }
    }
    Ok((given, missing))
}

/// As they are merged.
fn in_order(given: &[Contribution]) -> Vec<Contribution> {
    let tasks: Vec<_> = given.iter().map(|it| it.task.clone()).collect();
    let order = merging_order(&tasks, CaseRule::NATIVE);
    let given = order.into_iter().map(|place| given[place].clone());
    given.collect()
}

/// Where what a part wrote is saved. It only informs: what git cannot tell is left out.
fn saved(workshop: &mut Workshop<'_>, task: TaskId) -> Result<Vec<String>, EngineError> {
    let task = read(workshop.store, |tx| tasks::get(tx, task))?;
    let label = Attempt::labels(&task);
    let saved = workshop.git.saved_work(workshop.repository, &label);
    let saved = saved.unwrap_or_default().into_iter();
    Ok(saved.map(|it| it.name).collect())
}

fn committed(task: &Task) -> Option<CommitId> {
    let proofs = task.evidence.iter().rev();
    { proofs }.find_map(Evidence::commit).cloned()
}

/// Takes parts off the pile until the check passes on what is left.
fn weed(trial: &mut Trial<'_, '_>, pile: &mut Pile<'_>) -> Result<Vec<FailedCheck>, EngineError> {
    let mut failed = vec![];
    while let Some(objection) = trial.objection(pile.top())? {
        let Some(height) = first_failing(trial, pile)? else {
            // It fails without any part too: nobody here is to blame, and leaving parts out would help nobody.
            failed.push(FailedCheck {
                part: None,
                also_left_out: vec![],
                objection,
            });
            break;
        };
        let (part, also_left_out) = pile.take_off(height)?;
        failed.push(FailedCheck {
            part: Some(part),
            also_left_out,
            objection,
        });
    }
    Ok(failed)
}

/// The height of the pile at which the check begins to fail, by halving; none if it fails at the base. The top is known to fail.
fn first_failing(trial: &mut Trial<'_, '_>, pile: &Pile<'_>) -> Result<Option<usize>, EngineError> {
    if trial.objection(pile.at_height(0))?.is_some() {
        return Ok(None);
    }
    let (mut good, mut bad) = (0, pile.height());
    while bad - good > 1 {
        let middle = usize::midpoint(good, bad);
        match trial.objection(pile.at_height(middle))? {
            Some(_) => bad = middle,
            None => good = middle,
        }
    }
    Ok(Some(bad))
}

/// What the results must stand up to: the check of the fan-in, and the tests where a run waits for them.
struct Trial<'a, 'b> {
    workshop: &'a mut Workshop<'b>,
    task: &'a Task,
    at: &'a Repository,
    join: Option<&'a Join>,
    /// The commit that the check passed on last, with the proof.
    passed: Option<(CommitId, Evidence)>,
}

impl Trial<'_, '_> {
    fn asks_anything(&self) -> bool {
        self.task.spec.verify.is_some() || self.join.is_some()
    }

    /// What there is against a commit.
    fn objection(&mut self, commit: &CommitId) -> Result<Option<String>, EngineError> {
        if let Some(check) = &self.task.spec.verify
            && let Some(objection) = self.checked(check, commit)?
        {
            return Ok(Some(objection));
        }
        match self.join {
            Some(join) => join.objection(self.workshop, self.task, commit),
            None => Ok(None),
        }
    }

    fn checked(
        &mut self,
        check: &VerifyCommand,
        commit: &CommitId,
    ) -> Result<Option<String>, EngineError> {
        let git = self.workshop.git.bound_to(self.at);
        git.put_tree(self.at, commit).map_err(EngineError::Gather)?;
        let root = self.at.worktree_root().unwrap_or_else(|| self.at.git_dir());
        let verdict = referee::verify(self.workshop, self.task, check, root)?;
        if verdict.objection.is_none() {
            self.passed = Some((commit.clone(), verdict.evidence));
        }
        Ok(verdict.objection)
    }
}

/// Judges what a fan-in came to for the run that waits for it: the verdict, nothing where no run waits, or why it is not accepted.
pub(crate) fn judge_join(
    workshop: &mut Workshop<'_>,
    task: &Task,
    at: &Repository,
    base: &CommitId,
    evidence: &[Evidence],
) -> Result<Result<Option<Evidence>, String>, EngineError> {
    let Some(Part::FanIn { .. }) = task.spec.part else {
        return Ok(Ok(None));
    };
    let batch = batch_of(workshop, task)?;
    let Some(join) = Join::of(workshop, task, &batch, at)? else {
        return Ok(Ok(None));
    };
    let commit = evidence.iter().rev().find_map(Evidence::commit);
    let judged = join.judge(workshop, task, commit.unwrap_or(base))?;
    Ok(judged.map(Some))
}
