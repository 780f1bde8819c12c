//! Letting a paused batch go on: one act. Everything is looked at before anything is changed, and the hold of the batch is taken away
//! last, so that nothing of it begins before all of it is in its place.

use handoff_core::package::PackageState;
use handoff_core::{HoldScope, Task};
use handoff_operations::{Failure, Project};
use handoff_package::payload::{BatchState, PausedPart};
use handoff_store::queue::Change;
use handoff_store::{packages, read, tasks};

use super::{Asked, expired, take_up, unhold};
use crate::cli::package::grasp::Grasp;
use crate::cli::package::receive::{self, PolicyArg, Received};
use crate::context::Context;

/// Lets all parts of a batch go on from their packages. Whoever is killed before its hold is taken away can say the same again.
pub(super) fn goes_on(
    args: &Asked,
    batch: &BatchState,
    (fan_in, grasp): (&Task, &Grasp),
    desk: &mut Project,
    ctx: &Context,
) -> Result<Received, Failure> {
    let parts = waiting(batch, desk)?;
    can_go_on(args, batch, (fan_in, &parts), desk, ctx)?;
    for part in &parts {
        part.goes_on(args.how.policy, desk, ctx)?;
    }
    let received = take_up(args.package, args.how.policy, fan_in, grasp, desk, ctx)?;
    let scope = HoldScope::Batch(batch.id);
    desk.submit(Change::Unhold { scope }, None)?;
    Ok(received)
}

/// A part that nobody has taken up by itself meanwhile.
struct Waiting<'a> {
    part: &'a PausedPart,
    task: Task,
    /// Whether one who was killed had received its package, and not handed it out again.
    is_received: bool,
}

fn waiting<'a>(batch: &'a BatchState, desk: &mut Project) -> Result<Vec<Waiting<'a>>, Failure> {
    let mut found = vec![];
    for part in &batch.parts {
        let (task, record) = read(&mut *desk.store, |tx| {
            Ok((tasks::get(tx, part.task)?, packages::get(tx, part.package)?))
        })?;
        if task.hold.is_some() {
            found.push(Waiting {
                part,
                task,
                is_received: matches!(record.state, PackageState::Consumed { .. }),
            });
        }
    }
    Ok(found)
}

impl Waiting<'_> {
    fn goes_on(&self, policy: PolicyArg, desk: &mut Project, ctx: &Context) -> Result<(), Failure> {
        if self.is_received {
            return unhold(self.task.id, desk);
        }
        let grasp = Grasp::take(self.part.package, desk)?;
        take_up(self.part.package, policy, &self.task, &grasp, desk, ctx).map(drop)
    }
}

/// Refuses a batch of which something could not be received: a resume that stops in the middle would have handed out half of it.
fn can_go_on(
    args: &Asked,
    batch: &BatchState,
    (fan_in, parts): (&Task, &[Waiting<'_>]),
    desk: &mut Project,
    ctx: &Context,
) -> Result<(), Failure> {
    let parts = parts.iter().filter(|it| !it.is_received);
    let of_parts = parts.map(|it| (it.part.package, &it.task));
    for (package, task) in of_parts.chain([(args.package, fan_in)]) {
        let asked = receive::Args::into_task(package, task, args.how.policy);
        let Err(mut failure) = receive::could_receive(&asked, desk, ctx) else {
            continue;
        };
        let text = format!(
            "batch `{}` does not go on because of `{}`, and nothing was changed",
            batch.name, task.spec.name
        );
        let cause = std::mem::replace(&mut failure.message, text);
        failure.causes.insert(0, cause);
        if expired(package, desk) {
            failure = failure.hint(format!(
                "as it stands it goes on with `handoff unhold --batch {}`: whoever works on it next is told what was sealed",
                batch.name
            ));
        }
        return Err(failure);
    }
    Ok(())
}
