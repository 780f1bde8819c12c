//! Which workers live: each holds a lock of its own while it does.

use std::path::{Path, PathBuf};

use handoff_api::WorkerDocument;
use handoff_files::{Dir, Lock};

use super::log;
use crate::context::Context;
use crate::desk::Desk;
use crate::failure::Failure;

/// So many of the last digits tell one from another: the first ones are the time.
const SHOWN: usize = 8;

/// A worker that lives.
pub(crate) struct Living {
    /// What it signed in as.
    pub(super) id: String,
    /// To be shown, never to be signalled.
    pid: u32,
    /// What it holds while it lives.
    pub(super) lock: PathBuf,
    log: Option<PathBuf>,
}

impl Living {
    /// What people call it.
    pub(super) fn name(&self) -> &str {
        short(&self.id)
    }

    pub(super) fn document(&self) -> WorkerDocument {
        WorkerDocument {
            id: self.name().to_owned(),
            log: self.log.as_ref().map(|it| it.display().to_string()),
            pid: Some(self.pid),
        }
    }

    /// A line for people.
    pub(super) fn line(&self) -> String {
        let log = self.log.as_ref();
        let log = log.map_or_else(String::new, |it| format!(", log {}", it.display()));
        format!("worker {}, process {}{log}", self.name(), self.pid)
    }
}

/// An id as people see it.
pub(super) fn short(id: &str) -> &str {
    &id[id.len().saturating_sub(SHOWN)..]
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
    let locks = names.iter().map(|it| directory.join(it));
    for lock in locks.filter(|it| is_lock(it)) {
        let holder = Lock::holder(&lock).map_err(|error| cannot().because(&error))?;
        let id = lock.file_stem().and_then(|it| it.to_str());
        let (Some(holder), Some(id)) = (holder, id) else {
            continue;
        };
        let log = log::place(&ctx.home()?, desk.project, id);
        living.push(Living {
            id: id.to_owned(),
            pid: holder.pid,
            log: log.exists().then_some(log),
            lock,
        });
    }
    Ok(living)
}

fn is_lock(path: &Path) -> bool {
    path.extension() == Some("lock".as_ref())
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
