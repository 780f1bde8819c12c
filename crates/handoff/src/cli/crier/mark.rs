//! What a person has been told: a file for each occasion, in `$HANDOFF_HOME/summons/<project>/`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use handoff_core::{Digest, ProjectId, Timestamp};
use handoff_files::{Dir, Lock, Mode, atomic};
use handoff_operations::Failure;
use serde::{Deserialize, Serialize};

/// How long a command that did not work rests, after each try. After the last it is left alone.
const RESTS: [Duration; 3] = [
    Duration::from_mins(1),
    Duration::from_mins(10),
    Duration::from_hours(1),
];
/// What was told so long ago comes up no more.
const KEPT: Duration = Duration::from_hours(30 * 24);
/// A mark is a line.
const LONGEST: u64 = 4096;

/// How often something was told, or tried to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mark {
    schema_version: u32,
    tries: usize,
    is_told: bool,
    tried_at: Timestamp,
    /// The digest of the command: another one may work.
    command: String,
}

impl Mark {
    fn first(command: &str, now: Timestamp) -> Self {
        Self {
            schema_version: 1,
            tries: 1,
            is_told: false,
            tried_at: now,
            command: command.to_owned(),
        }
    }

    /// The mark of the next try, if it is time for one.
    fn next(self, command: &str, now: Timestamp) -> Option<Self> {
        if self.is_told {
            return None;
        }
        if self.command != command {
            return Some(Self::first(command, now));
        }
        let rest = RESTS.get(self.tries.checked_sub(1)?)?;
        let is_due = self.tried_at.saturating_add(*rest).unwrap_or(now) <= now;
        is_due.then(|| Self {
            tries: self.tries + 1,
            tried_at: now,
            ..self
        })
    }

    pub(super) fn told(self) -> Self {
        Self {
            is_told: true,
            ..self
        }
    }
}

/// The marks of a project.
pub(super) struct Marks {
    dir: Dir,
    lock: PathBuf,
}

impl Marks {
    pub(super) fn open(home: &Path, project: ProjectId) -> Result<Self, Failure> {
        let home = home.join("summons");
        let dir = Dir::create_private(&home.join(project.to_string()))
            .map_err(|error| unreadable().because(&error))?;
        let lock = home.join(format!("{project}.lock"));
        Ok(Self { dir, lock })
    }

    /// The right to tell; none if somebody else has it. It ends with whoever has it.
    pub(super) fn lock(&self) -> Result<Option<Lock>, Failure> {
        Lock::try_acquire(&self.lock, "crier").map_err(|error| unreadable().because(&error))
    }

    /// The mark to be made before something is told; none if it was told, or is not to be tried now.
    pub(super) fn due(&self, occasion: &str, command: &str, now: Timestamp) -> Option<Mark> {
        let bytes = self.dir.read(name(occasion), LONGEST).ok();
        let mark = bytes.and_then(|it| serde_json::from_slice::<Mark>(&it).ok());
        match mark {
            Some(mark) => mark.next(command, now),
            None => Some(Mark::first(command, now)),
        }
    }

    /// Writes one down. Only whoever has the right to tell does.
    pub(super) fn write(&self, occasion: &str, mark: &Mark, _held: &Lock) -> Result<(), Failure> {
        let bytes = serde_json::to_vec(mark).expect("numbers and texts are JSON");
        atomic::replace(&self.dir, &name(occasion), &bytes, Mode::Private)
            .map_err(|error| unreadable().because(&error))
    }

    /// Removes those of long ago. What stays now goes another time.
    pub(super) fn clear(&self, now: Timestamp) {
        let oldest = std::time::SystemTime::from(now).checked_sub(KEPT);
        for name in self.dir.names().unwrap_or_default() {
            let written = fs::metadata(self.dir.path().join(&name)).and_then(|it| it.modified());
            if written.ok().is_some_and(|it| Some(it) < oldest) {
                self.dir.remove(&name).ok();
            }
        }
    }
}

fn name(occasion: &str) -> String {
    Digest::of(occasion.as_bytes()).to_string()
}

fn unreadable() -> Failure {
    Failure::failed("cannot tell what was told")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    #[test]
    fn a_command_that_does_not_work_is_tried_a_few_times_and_later_each_time() {
        let first = Mark::first("a", at(0));
        assert_eq!(first.clone().next("a", at(59)), None);
        let second = first.next("a", at(60)).unwrap();
        assert_eq!(second.clone().next("a", at(659)), None);
        let third = second.next("a", at(660)).unwrap();
        let last = third.next("a", at(4_260)).unwrap();
        assert_eq!((last.tries, last.next("a", at(1_000_000))), (4, None));
    }

    #[test]
    fn another_command_is_tried_at_once_but_tells_nothing_twice() {
        let first = Mark::first("a", at(0));
        let other = first.clone().next("b", at(1)).unwrap();
        assert_eq!((other.tries, other.command.as_str()), (1, "b"));
        assert_eq!(first.told().next("b", at(100)), None);
    }
}
