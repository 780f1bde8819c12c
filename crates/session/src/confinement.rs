//! How an agent is held: not at all, or by the kernel to the worktree it stands in.
//!
//! The holder is outside and the agent is inside, with everything that it starts. What it needs done outside it asks its
//! holder for.

use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use handoff_core::SessionId;
pub use handoff_core::{Confinement, ConfinementError};
use handoff_files::Dir;
use handoff_process::Kernel;
use serde::{Deserialize, Serialize};

use crate::catalogue;
use crate::place::Places;

/// Why nothing holds the session of a task, which is held by itself otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxOff {
    /// A person said so when the task was added.
    Task,
    /// The user's settings say so.
    Settings,
    /// The kernel has no sandbox.
    Kernel,
    /// The agent is somewhere else, where nothing of ours holds it.
    Agent,
}

impl SandboxOff {
    const ALL: [Self; 4] = [Self::Task, Self::Settings, Self::Kernel, Self::Agent];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Settings => "settings",
            Self::Kernel => "kernel",
            Self::Agent => "agent",
        }
    }

    /// Why the session of a task is not held; none if it is. It is held as a person said for the task, else as the settings say,
    /// else where the kernel can. A task for which somebody asks for the sandbox does not begin without.
    pub const fn of_task(
        task: Option<Confinement>,
        settings: Option<Confinement>,
        kernel: Kernel,
    ) -> Option<Self> {
        match (task, settings, kernel) {
            (Some(Confinement::None), ..) => Some(Self::Task),
            (None, Some(Confinement::None), _) => Some(Self::Settings),
            (None, None, Kernel::Without | Kernel::TooOld(_)) => Some(Self::Kernel),
            (Some(Confinement::Worktree), ..)
            | (None, Some(Confinement::Worktree), _)
            | (None, None, Kernel::Holds(_)) => None,
        }
    }

    /// Whose decision it is, in a few words.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Task => "its task says so",
            Self::Settings => "your settings say so",
            Self::Kernel => "this kernel has none",
            Self::Agent => "its agent is somewhere else",
        }
    }
}

/// A word that is no reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a sandbox is off by `task`, `settings`, `kernel` or `agent`")]
pub struct SandboxOffError;

impl FromStr for SandboxOff {
    type Err = SandboxOffError;

    fn from_str(text: &str) -> Result<Self, SandboxOffError> {
        let mut all = Self::ALL.into_iter();
        all.find(|it| it.word() == text).ok_or(SandboxOffError)
    }
}

/// The walls of a confined session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    /// The linked worktree.
    pub root: PathBuf,
    /// What may be changed besides: build output, caches, what the agent keeps for itself.
    pub scratch: Vec<PathBuf>,
    /// Git's own directory, which must not: what is done for the session is done to this one, whatever the tree says.
    pub common_dir: PathBuf,
}

/// Walls that would hold nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` cannot be changed by a session in a sandbox: `{}` is to be protected", .place.display(), .guarded.display())]
pub struct Breach {
    pub place: PathBuf,
    pub guarded: PathBuf,
}

impl Bounds {
    /// Refuses places around what is to be protected, or in it. The worktree itself may lie in such a place.
    pub fn check(&self, guarded: &[&Path]) -> Result<(), Breach> {
        let breach = |place: &Path, guarded: &Path| Breach {
            place: place.to_owned(),
            guarded: guarded.to_owned(),
        };
        for guarded in guarded {
            if guarded.starts_with(&self.root) {
                return Err(breach(&self.root, guarded));
            }
            let meets = |it: &&PathBuf| guarded.starts_with(it) || it.starts_with(guarded);
            let own = |it: &&PathBuf| !it.starts_with(&self.root);
            if let Some(place) = self.scratch.iter().filter(own).find(meets) {
                return Err(breach(place, guarded));
            }
        }
        Ok(())
    }
}

/// Makes the directory for temporary files that only this session uses.
pub(crate) fn make_private(places: &Places, session: SessionId) -> io::Result<PathBuf> {
    sweep(places);
    let path = places.private(session);
    Dir::create_private(&path).map_err(io::Error::other)?;
    Ok(path)
}

/// Removes it with all that is in it.
pub fn remove_private(places: &Places, session: SessionId) {
    // What cannot be removed now is tried again by the next session in a sandbox.
    std::fs::remove_dir_all(places.private(session)).ok();
}

/// Removes those of sessions that are over.
fn sweep(places: &Places) {
    let Ok(entries) = std::fs::read_dir(places.all_private()) else {
        return;
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let sessions = names.filter_map(|name| name.parse::<SessionId>().ok());
    for session in sessions {
        // The lock is made before the directory: one whose lock is free has ended.
        if matches!(catalogue::is_held(&places.session(session)), Ok(false)) {
            remove_private(places, session);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_of_a_task_is_held_unless_a_person_or_the_kernel_says_otherwise() {
        use Confinement::{None as Open, Worktree};
        let (holds, old) = (Kernel::Holds(7), Kernel::TooOld(2));
        let table = [
            (None, None, holds, None),
            (None, None, old, Some(SandboxOff::Kernel)),
            (None, None, Kernel::Without, Some(SandboxOff::Kernel)),
            (None, Some(Open), holds, Some(SandboxOff::Settings)),
            (None, Some(Worktree), old, None),
            (Some(Open), None, holds, Some(SandboxOff::Task)),
            (Some(Open), Some(Worktree), holds, Some(SandboxOff::Task)),
            (Some(Worktree), Some(Open), holds, None),
            (Some(Worktree), None, Kernel::Without, None),
        ];
        for (task, settings, kernel, expected) in table {
            let off = SandboxOff::of_task(task, settings, kernel);
            assert_eq!(off, expected, "{task:?} {settings:?} {kernel:?}");
        }
    }

    #[test]
    fn a_reason_is_read_back() {
        for reason in SandboxOff::ALL {
            assert_eq!(reason.word().parse(), Ok(reason));
        }
        assert_eq!("none".parse::<SandboxOff>(), Err(SandboxOffError));
    }

    #[test]
    fn no_wall_has_a_hole_where_something_is_to_be_protected() {
        let guarded = [Path::new("/repo/.git"), Path::new("/state")];
        let is_tight = |root: &str, scratch: &str| {
            let bounds = Bounds {
                root: root.into(),
                scratch: vec![scratch.into()],
                common_dir: "/repo/.git".into(),
            };
            bounds.check(&guarded).is_ok()
        };
        let table = [
            ("/work", "/cache", true),
            ("/state/worktrees/x", "/cache", true),
            ("/state/worktrees/x", "/state/worktrees/x/target", true),
            ("/repo/trees/x", "/cache", true),
            ("/repo", "/cache", false),
            ("/work", "/", false),
            ("/work", "/repo", false),
            ("/work", "/repo/.git/objects", false),
            ("/work", "/state/sessions", false),
            ("/work", "/statement", true),
        ];
        for (root, scratch, expected) in table {
            assert_eq!(is_tight(root, scratch), expected, "{root} {scratch}");
        }
    }
}
