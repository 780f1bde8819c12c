//! Claiming: find a task that may be handed out, and lease it.

use handoff_core::hold::HoldScope;
use handoff_core::lease::Standing;
use handoff_core::ownership::{CaseRule, overlap};
use handoff_core::task::Command;
use handoff_core::{Caller, Now, ProjectId, Task};

use super::change::{Answer, TaskRef, TenureWish};
use super::{Performed, command_task, resolve};
use crate::error::StoreError;
use crate::events::Keyed;
use crate::holds;
use crate::sql::RowLock;
use crate::store::Transaction;
use crate::tasks::{self, Place};

pub(super) use crate::tasks::Line;

/// Leases the first task that is ready and whose paths nobody else is changing.
pub(super) fn next(
    tx: &mut Transaction<'_>,
    line: &Line<'_>,
    tenure: &TenureWish,
    by: &Caller,
    keyed: &Keyed<'_>,
) -> Result<Performed, StoreError> {
    let (mut place, mut owners) = (Place::FRONT, Owners::default());
    let (mut limit, mut has_swept) = (1, false);
    let mut others = RowLock::Skip;
    loop {
        let ready = tasks::ready(tx, line, place, limit, others)?;
        if !has_swept && (ready.tasks.is_empty() || ready.run_out > 0) {
            has_swept = true;
            if sweep(tx, line.project)? > 0 {
                continue;
            }
        }
        let Some((last, _)) = ready.tasks.last() else {
            // Who stands in line for owners must not wait for others' tasks: they stand in line behind us.
            if others == RowLock::Wait || owners.are_known() {
                return Ok(Performed::unrecorded(Answer::NothingReady));
            }
            // What others are reaching for they may not get, or one of them carries the same key.
            (others, place) = (RowLock::Wait, Place::FRONT);
            continue;
        };
        (place, limit) = (*last, PAGE);
        for (_, task) in ready.tasks {
            if owners.in_the_way(tx, &task)?.is_none() {
                // Another claimer may have kept us waiting since the task was found.
                if owners.are_known() || others == RowLock::Wait {
                    refuse_held(tx, &task)?;
                }
                return lease(tx, task, tenure, by, keyed);
            }
        }
        // From here on we stand in line for owners.
        others = RowLock::Skip;
    }
}

/// Gives back what has run out, and says how much that was.
fn sweep(tx: &mut Transaction<'_>, project: ProjectId) -> Result<usize, StoreError> {
    let run_out = tasks::run_out(tx, project)?;
    let count = run_out.len();
    for mut task in run_out {
        command_task(tx, &mut task, &Command::Expire, &Caller::Reconciler, None)?;
    }
    Ok(count)
}

/// Usually the first ready task is free. Where it is not, many may be taken by the same owner.
const PAGE: u32 = 64;

/// Leases this task, or says what is in the way.
pub(super) fn this(
    tx: &mut Transaction<'_>,
    task: &TaskRef,
    tenure: &TenureWish,
    by: &Caller,
    keyed: &Keyed<'_>,
) -> Result<Performed, StoreError> {
    let id = resolve(tx, task)?;
    let task = tasks::lock(tx, id)?;
    if let Some(taken) = Owners::default().in_the_way(tx, &task)? {
        return Err(taken);
    }
    refuse_held(tx, &task)?;
    lease(tx, task, tenure, by, keyed)
}

/// Looks at holds after whatever may have kept us waiting.
fn refuse_held(tx: &mut Transaction<'_>, task: &Task) -> Result<(), StoreError> {
    match holds::in_force(tx, &HoldScope::over_task(task))? {
        Some((scope, _)) => Err(StoreError::Held { scope }),
        None => Ok(()),
    }
}

fn lease(
    tx: &mut Transaction<'_>,
    mut task: Task,
    tenure: &TenureWish,
    by: &Caller,
    keyed: &Keyed<'_>,
) -> Result<Performed, StoreError> {
    let claim = Command::Claim {
        tenure: tenure.granted(&tx.now.moment),
    };
    command_task(tx, &mut task, &claim, by, Some(keyed)).map(|is_recorded| Performed {
        answer: Answer::Task(Box::new(task)),
        is_recorded,
    })
}

fn is_over(task: &Task, now: &Now) -> bool {
    let lease = task.state.lease();
    lease.is_some_and(|lease| lease.standing(&now.moment) == Standing::Expired)
}

/// The live leases that declare paths, read once a claim and only if a candidate declares some too.
#[derive(Default)]
struct Owners(Option<Vec<Task>>);

impl Owners {
    fn are_known(&self) -> bool {
        self.0.is_some()
    }

    fn live(&mut self, tx: &mut Transaction<'_>, candidate: &Task) -> Result<&[Task], StoreError> {
        if self.0.is_none() {
            tx.line_up(&candidate.project.to_string())?;
            let mut live = tasks::owners(tx, candidate.project)?;
            live.retain(|owner| owner.id != candidate.id);
            let (over, mut live): (Vec<_>, Vec<_>) =
                { live.into_iter() }.partition(|owner| is_over(owner, &tx.now));
            for owner in over {
                // Whoever has its lock may be renewing the lease with an older reading of the clock. We must not wait for them:
                // they may be waiting for our place in line.
                let own = tasks::lock_if_free(tx, owner.id)?;
                let is_free =
                    own.is_some_and(|it| it.state.lease().is_none() || is_over(&it, &tx.now));
                live.extend((!is_free).then_some(owner));
            }
            self.0 = Some(live);
        }
        Ok(self.0.as_deref().unwrap_or_default())
    }

    /// A live lease on paths that this task would change too.
    fn in_the_way(
        &mut self,
        tx: &mut Transaction<'_>,
        task: &Task,
    ) -> Result<Option<StoreError>, StoreError> {
        let Some(wanted) = &task.spec.owns else {
            return Ok(None);
        };
        let taken = self.live(tx, task)?.iter().filter_map(|owner| {
            let overlap = overlap(wanted, owner.spec.owns.as_ref()?, CaseRule::NATIVE)?;
            let overlap = Box::new(overlap);
            Some(StoreError::OwnershipTaken {
                by: owner.spec.name.clone(),
                overlap,
            })
        });
        Ok({ taken }.next())
    }
}
