//! Which workers live: each holds a lock of its own while it does.

use std::path::{Path, PathBuf};

use handoff_api::WorkerDocument;
use handoff_core::ProjectId;
use handoff_files::{Dir, Lock};

use crate::failure::Failure;
use crate::project::Project;
use crate::workplace::Workplace;

/// So many of the last digits tell one from another: the first ones are the time.
const SHOWN: usize = 8;

/// A worker that lives.
pub struct LivingWorker {
    /// What it signed in as.
    pub id: String,
    /// To be shown, never to be signalled.
    pid: u32,
    /// What it holds while it lives.
    pub lock: PathBuf,
    log: Option<PathBuf>,
}

impl LivingWorker {
    /// What people call it.
    pub fn name(&self) -> &str {
        short(&self.id)
    }

    pub fn document(&self) -> WorkerDocument {
        WorkerDocument {
            id: self.name().to_owned(),
            log: self.log.as_ref().map(|it| it.display().to_string()),
            pid: Some(self.pid),
        }
    }

    /// A line for people.
    pub fn line(&self) -> String {
        let log = self.log.as_ref();
        let log = log.map_or_else(String::new, |it| format!(", log {}", it.display()));
        format!("worker {}, process {}{log}", self.name(), self.pid)
    }
}

/// An id as people see it.
pub fn short(id: &str) -> &str {
    &id[id.len().saturating_sub(SHOWN)..]
}

/// The workers of this project that live.
pub fn living(project: &Project, here: &Workplace) -> Result<Vec<LivingWorker>, Failure> {
    let cannot = || Failure::failed("cannot tell which workers live");
    let places = handoff_engine::Places::new(here.home()?);
    let directory = places.workers(project.id);
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
        let log = log_place(&here.home()?, project.id, id);
        living.push(LivingWorker {
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

/// Whether nobody lives here who would take what was put into the queue. Not knowing is no reason to say so.
#[must_use]
pub fn is_missed(project: &Project, here: &Workplace) -> bool {
    living(project, here).is_ok_and(|living| living.is_empty())
}

/// Where the log of a worker is.
#[must_use]
pub fn log_place(home: &Path, project: ProjectId, id: &str) -> PathBuf {
    home.join("logs")
        .join(project.to_string())
        .join(format!("{id}.log"))
}
