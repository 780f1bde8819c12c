//! What knocks at the door of a crew besides its hands: the ledger, and other workers.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use handoff_files::{Dir, Lock, Watch, WatchError};

use super::hand::Knock;
use super::{Crew, Site};
use crate::echo::{echo, ring};
use crate::error::EngineError;
use crate::workshop::Workshop;

/// Whether the kernel tells of other workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hearing {
    Told,
    Deaf,
}

impl<S: Site> Crew<S> {
    pub(super) fn listen_to_ledger(&self, workshop: &Workshop<'_>) -> Result<(), EngineError> {
        let (site, bell) = (Arc::clone(&self.site), self.bell.clone());
        let echo = echo(workshop)?;
        thread::spawn(move || {
            // If it cannot be heard, the rounds are what is left.
            site.listen(&mut || {
                if let Some(echo) = &echo {
                    ring(echo);
                }
                bell.send(Knock::Ledger).is_ok()
            })
            .ok();
        });
        Ok(())
    }

    pub(super) fn listen_to_workers(
        &self,
        workshop: &Workshop<'_>,
    ) -> Result<Hearing, EngineError> {
        let directory = workshop.places.workers(workshop.project);
        let mut watch = match Watch::on_directories(&[&directory]) {
            Ok(watch) => watch,
            Err(WatchError::Exhausted(..)) => return Ok(Hearing::Deaf),
            Err(error @ (WatchError::Watch(..) | WatchError::Wait(..))) => {
                return Err(EngineError::Watch(error));
            }
        };
        let bell = self.bell.clone();
        thread::spawn(
            move || {
                while watch.wait(None).is_ok() && bell.send(Knock::Worker).is_ok() {}
            },
        );
        Ok(Hearing::Told)
    }
}

/// The place at which a worker is signed in. Giving it up signs it out.
pub(super) struct Presence {
    /// What somebody makes who wants it to stop.
    order: PathBuf,
    _lock: Lock,
}

impl Presence {
    /// Says that a worker lives. What dead ones left is cleared away.
    pub(super) fn sign_in(workshop: &Workshop<'_>, id: &str) -> Result<Self, EngineError> {
        let directory = workshop.places.workers(workshop.project);
        let dir = Dir::create_private(&directory)?;
        for name in dir.names()? {
            let path = directory.join(name);
            if path.extension() == Some("lock".as_ref())
                && let Some(free) = Lock::try_acquire(&path, "gone")?
            {
                std::fs::remove_file(path.with_extension("stop")).ok();
                std::fs::remove_file(&path).ok();
                drop(free);
            }
        }
        let path = directory.join(format!("{id}.lock"));
        let order = path.with_extension("stop");
        let lock = Lock::try_acquire(&path, "worker")?.ok_or(EngineError::Taken(path))?;
        Ok(Self { order, _lock: lock })
    }

    /// Whether somebody has told it to stop.
    pub(super) fn is_to_stop(&self) -> bool {
        self.order.exists()
    }
}
