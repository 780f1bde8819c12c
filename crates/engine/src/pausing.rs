//! A pause that somebody is about to make. It is written down before anything is done, with what would have to be undone, and
//! taken away when the pause is whole. Whoever finds one that nobody holds knows that its maker died, or failed: it never was a
//! pause, and the work goes on ([`crate::reconcile::broken_pauses`]).
//!
//! The note is a file of this machine, like the lock that says whether its maker lives: the ledger cannot know that.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use handoff_core::{BatchId, PackageId, ProjectId, RunId, SessionId, TaskId};
use handoff_files::{Dir, Lock, Mode, atomic};
use serde::{Deserialize, Serialize};

use crate::error::EngineError;
use crate::places::Places;

/// Ids of a batch of any size.
const LONGEST: u64 = 1024 * 1024;

/// What a pause is going to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseNote {
    /// The package that makes it a pause.
    pub package: PackageId,
    /// The tasks that it holds. A hold says which pause put it on, so one of a person stays.
    pub tasks: Vec<TaskId>,
    /// Of a batch: the packages of its parts. Those that nobody works on get none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartPause>,
    /// The batch that it holds.
    pub batch: Option<BatchId>,
    /// The session that it ends after it was sealed.
    pub session: Option<SessionId>,
    /// Of a session whose agent is told to stop, and understands words: the last event before that. If nothing comes of the
    /// pause, it is told to go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_after: Option<u64>,
    /// The run that it stops.
    pub run: Option<RunId>,
}

/// A part of a batch that is paused with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartPause {
    /// The part.
    pub task: TaskId,
    /// The package that it would go on from.
    pub package: PackageId,
}

/// How things are that a note is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PauseFacts {
    /// Whether its package is there, and not deleted.
    pub(crate) is_sealed: bool,
    /// Whether the session lives that it was to end.
    pub(crate) lives: bool,
    /// Whether all of its tasks are held.
    pub(crate) holds: bool,
}

impl PauseNote {
    /// Of a pause that this package makes, and that holds nothing.
    #[must_use]
    pub const fn of(package: PackageId) -> Self {
        Self {
            package,
            tasks: vec![],
            parts: vec![],
            batch: None,
            session: None,
            stopped_after: None,
            run: None,
        }
    }

    /// Whether the pause is whole, though its maker did not live to say so. A session is sealed first and ended last; a task is
    /// held first and sealed last, and may have been taken up since.
    pub(crate) const fn is_whole(&self, facts: PauseFacts) -> bool {
        let is_over = self.session.is_none() || (!facts.lives && facts.holds);
        facts.is_sealed && is_over
    }

    /// Writes it down. None if somebody else is pausing the same thing.
    pub fn begin(
        &self,
        places: &Places,
        project: ProjectId,
        subject: impl fmt::Display,
    ) -> Result<Option<Pausing>, EngineError> {
        let dir = Dir::create_private(&places.pauses(project))?;
        let Some(pausing) = Pausing::take(dir, subject.to_string())? else {
            return Ok(None);
        };
        let bytes = serde_json::to_vec(self).expect("ids are JSON");
        atomic::replace(&pausing.dir, &pausing.file(), &bytes, Mode::Private)?;
        Ok(Some(pausing))
    }
}

/// A pause in the making. Dropped, it is one that failed.
#[derive(Debug)]
#[must_use = "a pause that is not ended has failed"]
pub struct Pausing {
    dir: Dir,
    subject: String,
    lock: Lock,
}

impl Pausing {
    fn take(dir: Dir, subject: String) -> Result<Option<Self>, EngineError> {
        let lock = Lock::try_acquire(&lock_of(&dir, &subject), "pause")?;
        Ok(lock.map(|lock| Self { dir, subject, lock }))
    }

    /// The pause is whole, or undone: nobody needs to know of it any more.
    pub fn end(self) -> Result<(), EngineError> {
        match self.dir.remove(self.file()) {
            Err(error) if !error.is_not_found() => return Err(error.into()),
            Ok(()) | Err(_) => {}
        }
        // While the lock is held nobody else has its file. One that stays harms nobody.
        std::fs::remove_file(lock_of(&self.dir, &self.subject)).ok();
        drop(self.lock);
        Ok(())
    }

    fn file(&self) -> String {
        format!("{}.json", self.subject)
    }

    /// What was written down; none if nothing was, and so nothing was done yet. It is written in one step: one that cannot be
    /// understood is of a later version.
    pub(crate) fn note(&self) -> Result<Option<PauseNote>, EngineError> {
        let bytes = match self.dir.read(self.file(), LONGEST) {
            Ok(bytes) => bytes,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let note = serde_json::from_slice(&bytes);
        note.map(Some).map_err(|cause| EngineError::PauseNote {
            subject: self.subject.clone(),
            cause,
        })
    }

    /// Pauses whose makers are dead, or failed. What those left who died before they wrote anything down is swept away.
    pub(crate) fn broken(places: &Places, project: ProjectId) -> Result<Vec<Self>, EngineError> {
        let open = || Dir::open(&places.pauses(project));
        let dir = match open() {
            Ok(dir) => dir,
            Err(error) if error.is_not_found() => return Ok(vec![]),
            Err(error) => return Err(error.into()),
        };
        let names = dir.names()?;
        if names.is_empty() {
            return Ok(vec![]);
        }
        // Whatever stays is swept by the next one.
        atomic::sweep(&dir).ok();
        let mut broken = vec![];
        for subject in subjects(&names) {
            broken.extend(Self::take(open()?, subject)?);
        }
        Ok(broken)
    }
}

/// What the notes and the locks of a directory are about.
fn subjects(names: &[OsString]) -> BTreeSet<String> {
    let subject = |name: &OsString| {
        let name = name.to_str()?;
        let subject = name.strip_suffix(".json").or(name.strip_suffix(".lock"));
        subject.map(ToOwned::to_owned)
    };
    names.iter().filter_map(subject).collect()
}

fn lock_of(dir: &Dir, subject: &str) -> PathBuf {
    dir.path().join(format!("{subject}.lock"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(session: Option<SessionId>) -> PauseNote {
        PauseNote {
            session,
            ..PauseNote::of("pkg_0192f0c47d0a7c3e9f5b2a1c3d4e5f60".parse().unwrap())
        }
    }

    /// A pause that was made and whose maker died.
    const MADE: PauseFacts = PauseFacts {
        is_sealed: true,
        lives: false,
        holds: true,
    };
    const UNSEALED: PauseFacts = PauseFacts {
        is_sealed: false,
        ..MADE
    };
    const LIVING: PauseFacts = PauseFacts {
        lives: true,
        ..MADE
    };
    const TAKEN_UP: PauseFacts = PauseFacts {
        holds: false,
        ..MADE
    };

    #[test]
    fn a_task_is_paused_when_it_is_sealed_whatever_became_of_it_since() {
        let task = note(None);
        let whole = [MADE, UNSEALED, TAKEN_UP].map(|facts| task.is_whole(facts));
        assert_eq!(whole, [true, false, true]);
    }

    #[test]
    fn a_session_is_paused_when_it_has_ended_and_its_task_is_held() {
        let id = "ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f60".parse().unwrap();
        let session = note(Some(id));
        let whole = [MADE, UNSEALED, LIVING, TAKEN_UP].map(|facts| session.is_whole(facts));
        assert_eq!(whole, [true, false, false, false]);
    }
}
