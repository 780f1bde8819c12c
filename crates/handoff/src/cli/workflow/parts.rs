//! Working on the batch into which a phase was split, in the foreground: several parts at a time, each in a thread with a store of
//! its own. Workers that live beside take parts too.

use std::sync::mpsc::channel;
use std::thread;

use handoff_core::{BatchId, TaskState};
use handoff_engine::{Walk, adoptable, reconcile};
use handoff_operations::{Failure, Project};
use handoff_store::{read, tasks};

use crate::ambient::Invocation;
use crate::cli::session::Spawner;
use crate::cli::worker;
use crate::context::Context;

/// Takes what is ready of a batch down the road, and what becomes ready by that; says whether there was anything to be had.
pub(super) fn work_on(batch: BatchId, spawner: &Spawner, ctx: &Context) -> Result<bool, Failure> {
    let slots = worker::slots(ctx)?;
    let (bell, door) = channel();
    thread::scope(|scope| {
        let (mut busy, mut began) = (0, 0);
        loop {
            while busy < slots
                && let Some(walk) = claim(batch, ctx)?
            {
                let (bell, invocation) = (bell.clone(), ctx.invocation());
                scope.spawn(move || {
                    // Nobody at the door: another part could not be worked on, and that is told.
                    bell.send(walk_on(walk, invocation, spawner)).ok();
                });
                (busy, began) = (busy + 1, began + 1);
            }
            if busy == 0 {
                return Ok(began > 0);
            }
            let ended = door.recv();
            busy -= 1;
            ended.unwrap_or(Ok(()))?;
        }
    })
}

fn walk_on(walk: Walk, invocation: Invocation, spawner: &Spawner) -> Result<(), Failure> {
    let ctx = Context::quiet(invocation);
    let mut desk = Project::open(&ctx)?;
    let clock = ctx.clock()?;
    let mut workshop = desk.workshop(&ctx, &*clock)?;
    walk.to_the_end(&mut workshop, spawner)?;
    Ok(())
}

/// Something of the batch that nobody works on: ready, or begun by somebody who died.
fn claim(batch: BatchId, ctx: &Context) -> Result<Option<Walk>, Failure> {
    let mut desk = Project::open(ctx)?;
    let clock = ctx.clock()?;
    let mut workshop = desk.workshop(ctx, &*clock)?;
    reconcile::all(&mut workshop)?;
    let members = read(workshop.store, |tx| tasks::of_batch(tx, batch))?;
    let ready = members.iter().filter(|it| it.state == TaskState::Queued);
    for task in ready {
        if let Some(walk) = Walk::claim_this(&mut workshop, task.id)? {
            return Ok(Some(walk));
        }
    }
    let left = adoptable(&mut workshop)?;
    let is_member = |id| members.iter().any(|it| it.id == id);
    for task in left.iter().filter(|it| is_member(it.id)) {
        if let Some(walk) = Walk::take_over(&mut workshop, task)? {
            return Ok(Some(walk));
        }
    }
    Ok(None)
}
