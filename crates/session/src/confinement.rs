//! How an agent is held: not at all, or by the kernel to the worktree it stands in.
//!
//! The holder is outside and the agent is inside, with everything that it starts. What it needs done outside it asks its
//! holder for.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use handoff_core::{Role, SessionId};
use handoff_files::Dir;
use handoff_process::Kernel;
use serde::{Deserialize, Serialize};

use crate::catalogue;
use crate::place::Places;

/// Whether something holds an agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confinement {
    /// It can do what the one who started it can.
    #[default]
    None,
    /// It can change its linked worktree, what is declared as scratch, and nothing else.
    Worktree,
}

/// A word that is no confinement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a sandbox is `worktree` or `none`")]
pub struct ConfinementError;

impl Confinement {
    /// What a session gets when nobody says otherwise: one of several that work side by side is held where the kernel can.
    pub const fn for_role(role: Role, kernel: Kernel) -> Self {
        match (role, kernel) {
            (Role::SubTask, Kernel::Holds(_)) => Self::Worktree,
            (Role::SubTask, Kernel::Without | Kernel::TooOld(_))
            | (Role::Main | Role::FanIn, _) => Self::None,
        }
    }

    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Worktree => "worktree",
        }
    }
}

impl fmt::Display for Confinement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Confinement {
    type Err = ConfinementError;

    fn from_str(text: &str) -> Result<Self, ConfinementError> {
        [Self::None, Self::Worktree]
            .into_iter()
            .find(|it| it.word() == text)
            .ok_or(ConfinementError)
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
    fn only_a_sub_task_is_held_unasked_and_only_where_the_kernel_can() {
        let holds = Kernel::Holds(7);
        let table = [
            (Role::SubTask, holds, Confinement::Worktree),
            (Role::SubTask, Kernel::TooOld(2), Confinement::None),
            (Role::SubTask, Kernel::Without, Confinement::None),
            (Role::Main, holds, Confinement::None),
            (Role::FanIn, holds, Confinement::None),
        ];
        for (role, kernel, expected) in table {
            assert_eq!(
                Confinement::for_role(role, kernel),
                expected,
                "{role:?} {kernel:?}"
            );
        }
    }

    #[test]
    fn a_word_is_read_back() {
        for confinement in [Confinement::None, Confinement::Worktree] {
            assert_eq!(confinement.word().parse(), Ok(confinement));
        }
        assert_eq!("yes".parse::<Confinement>(), Err(ConfinementError));
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
