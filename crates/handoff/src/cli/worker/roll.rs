//! Which workers live: each holds a lock of its own while it does.

use handoff_files::{Dir, Lock};

use crate::context::Context;
use crate::desk::Desk;
use crate::failure::Failure;

/// A worker that lives.
pub(crate) struct Living {
    /// To be shown, never to be signalled.
    pub(crate) pid: u32,
}

/// The workers of this project that live.
pub(crate) fn living(desk: &Desk, ctx: &Context) -> Result<Vec<Living>, Failure> {
    let cannot = || Failure::failed("cannot tell which workers live");
    let places = handoff_engine::Places::new(ctx.home()?);
    let directory = places.workers(desk.project);
    let names = match Dir::open(&directory).and_then(|dir| dir.names()) {
        Ok(names) => names,
        Err(error) if error.is_not_found() => return Ok(vec![]),
        Err(error) => return Err(cannot().because(&error)),
    };
    let mut living = vec![];
    for name in names {
        let holder =
            Lock::holder(&directory.join(name)).map_err(|error| cannot().because(&error))?;
        living.extend(holder.map(|holder| Living { pid: holder.pid }));
    }
    Ok(living)
}

/// Says that nobody lives here who would take what was put into the queue. Not knowing is no reason to say anything.
pub(crate) fn miss(desk: &Desk, ctx: &mut Context) -> Result<(), Failure> {
    let is_missed = living(desk, ctx).is_ok_and(|living| living.is_empty());
    if is_missed {
        ctx.out
            .note("No worker lives here to take it: `handoff worker --agent NAME` starts one.")?;
    }
    Ok(())
}
