//! Noticing what prevention cannot reach: a ref that moved past our hooks while a restricted
//! session lives.
//!
//! While somebody is watched, our `reference-transaction` hook writes down every move that it sees, a
//! person's too. What moved and was not seen went past git's hooks: by hand, by another library, or
//! with the hooks turned off. Branches of ours and `refs/handoff/` are moved by us without
//! hooks, and are not looked at.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;

use handoff_files::{DirError, Mode, WriteError, atomic};

use crate::git::{Git, GitError};
use crate::ref_moves::RefMove;
use crate::repository::Repository;

const PLACE: &str = "watch";
const SEEN: &str = "seen.log";

/// A ref that moved past our hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignMove {
    /// Which.
    pub moved: RefMove,
    /// The restricted sessions that lived at the time.
    pub sessions: Vec<String>,
}

/// Refs cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum RefWatchError {
    /// Git failed.
    #[error("cannot list the refs")]
    Git(#[from] GitError),
    /// The place for it.
    #[error("cannot use the place where moves are written down")]
    Directory(#[from] DirError),
    /// What is written down.
    #[error("cannot write down where the refs are")]
    Write(#[from] WriteError),
    /// The list of moves.
    #[error("cannot write down a move")]
    Note(#[source] io::Error),
}

impl Git {
    /// Begins to watch: what moves from now on must be seen. `session` is a plain name.
    pub fn begin_ref_watch(&self, at: &Repository, session: &str) -> Result<(), RefWatchError> {
        let dir = at.own_dir()?.create_dir(PLACE)?;
        let refs = self.shared_refs(at)?;
        let lines: Vec<_> = refs
            .iter()
            .map(|(name, id)| format!("{id} {name}"))
            .collect();
        Ok(atomic::replace(
            &dir,
            session,
            lines.join("\n").as_bytes(),
            Mode::Private,
        )?)
    }

    /// What moved unseen since the watches began. Each move is told once.
    pub fn foreign_moves(&self, at: &Repository) -> Result<Vec<ForeignMove>, RefWatchError> {
        let watches = watches(at);
        if watches.is_empty() {
            return Ok(vec![]);
        }
        let now = self.shared_refs(at)?;
        let seen = seen(at);
        let mut found: BTreeMap<String, ForeignMove> = BTreeMap::new();
        for (session, before) in &watches {
            for moved in unseen(before, &now, &seen) {
                let name = moved.name.clone();
                let foreign = found.entry(name).or_insert(ForeignMove {
                    moved,
                    sessions: vec![],
                });
                foreign.sessions.push(session.clone());
            }
        }
        let found: Vec<_> = found.into_values().collect();
        let moves: Vec<_> = found.iter().map(|it| it.moved.clone()).collect();
        at.note_moves(&moves).map_err(RefWatchError::Note)?;
        Ok(found)
    }

    fn shared_refs(&self, at: &Repository) -> Result<BTreeMap<String, String>, GitError> {
        let call = self.call("for-each-ref", at.any_place());
        let answer = call
            .arguments(["--format=%(objectname) %(refname)"])
            .run()?;
        Ok(refs(&String::from_utf8_lossy(&answer)))
    }
}

impl Repository {
    /// Writes down moves that went the right way; nothing, where nobody is watched.
    pub fn note_moves(&self, moves: &[RefMove]) -> io::Result<()> {
        let place = place(self);
        if moves.is_empty() || !place.exists() {
            return Ok(());
        }
        let lines: String = moves
            .iter()
            .map(|it| format!("{} {}\n", it.new, it.name))
            .collect();
        let mut log = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(place.join(SEEN))?;
        log.write_all(lines.as_bytes())
    }

    /// The session ended. With the last one goes what was written down.
    pub fn end_ref_watch(&self, session: &str) -> io::Result<()> {
        crate::safe_commit::remove_file(&place(self).join(session))?;
        if watches(self).is_empty() {
            match fs::remove_dir_all(place(self)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }
}

fn place(at: &Repository) -> PathBuf {
    at.common_dir().join("handoff").join(PLACE)
}

fn refs(text: &str) -> BTreeMap<String, String> {
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    pairs
        .filter(|(_, name)| !is_ours(name))
        .map(|(id, name)| (name.to_owned(), id.to_owned()))
        .collect()
}

fn is_ours(name: &str) -> bool {
    name.starts_with("refs/handoff/") || name.starts_with("refs/heads/handoff/")
}

fn watches(at: &Repository) -> Vec<(String, BTreeMap<String, String>)> {
    let Ok(entries) = fs::read_dir(place(at)) else {
        return vec![];
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut found: Vec<_> = names
        .filter(|name| name != SEEN && !name.starts_with('.'))
        .filter_map(|name| {
            let text = fs::read_to_string(place(at).join(&name)).ok()?;
            Some((name, refs(&text)))
        })
        .collect();
    found.sort();
    found
}

fn seen(at: &Repository) -> BTreeSet<String> {
    let text = fs::read_to_string(place(at).join(SEEN)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// What is elsewhere than before, and was not seen to go there.
fn unseen(
    before: &BTreeMap<String, String>,
    now: &BTreeMap<String, String>,
    seen: &BTreeSet<String>,
) -> Vec<RefMove> {
    let names: BTreeSet<_> = before.keys().chain(now.keys()).collect();
    let nowhere = "0".repeat(40);
    let moves = names.into_iter().map(|name| RefMove {
        old: before.get(name).unwrap_or(&nowhere).clone(),
        new: now.get(name).unwrap_or(&nowhere).clone(),
        name: name.clone(),
    });
    moves
        .filter(|it| it.old != it.new && !seen.contains(&format!("{} {}", it.new, it.name)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_seen_is_foreign() {
        let before = refs("a refs/heads/main\nb refs/heads/gone\nc refs/heads/handoff/x");
        let now = refs("d refs/heads/main\ne refs/heads/new\nf refs/heads/handoff/x");
        let seen: BTreeSet<_> = ["d refs/heads/main".to_owned()].into();
        let names: Vec<_> = unseen(&before, &now, &seen)
            .into_iter()
            .map(|it| it.name)
            .collect();
        assert_eq!(names, ["refs/heads/gone", "refs/heads/new"]);
        assert_eq!(unseen(&now, &now, &BTreeSet::new()), []);
    }
}
