//! Where refs are, read without running git, for one who asks for many: hooks, which are told of moves that move nothing.
//!
//! Only for refs that are files, like [`crate::head`].

use std::collections::BTreeMap;

use crate::head::{HeadError, Target, parse, read};
use crate::ref_moves::RefMove;
use crate::repository::Repository;

/// Where refs are. Those that are packed are read once.
pub(crate) struct RefPlaces<'a> {
    at: &'a Repository,
    packed: Option<BTreeMap<String, String>>,
}

impl RefPlaces<'_> {
    /// An id, or `ref:` and a name for a link; none if there is no such ref.
    pub(crate) fn find(&mut self, name: &str) -> Result<Option<String>, HeadError> {
        let common_dir = self.at.common_dir();
        if common_dir.join("reftable").exists() {
            return Err(HeadError::Reftable(common_dir.to_owned()));
        }
        let file = common_dir.join(name);
        match read(&file)?.as_deref().map(parse) {
            Some(Some(Target::Commit(commit))) => return Ok(Some(commit.to_string())),
            Some(Some(Target::Name(name))) => return Ok(Some(format!("ref:{name}"))),
            Some(None) => return Err(HeadError::Unknown(file)),
            None => {}
        }
        self.find_packed(name)
    }

    /// The same, of a ref that is packed.
    fn find_packed(&mut self, name: &str) -> Result<Option<String>, HeadError> {
        let common_dir = self.at.common_dir();
        if self.packed.is_none() {
            let text = read(&common_dir.join("packed-refs"))?.unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            let pairs = text.lines().filter_map(|line| line.split_once(' '));
            let places = pairs.map(|(id, name)| (name.to_owned(), id.to_owned()));
            self.packed = Some(places.collect());
        }
        let packed = self.packed.as_ref();
        Ok(packed.and_then(|places| places.get(name)).cloned())
    }
}

impl Repository {
    /// Where refs are, for one who asks for many.
    pub(crate) fn ref_places(&self) -> RefPlaces<'_> {
        RefPlaces {
            at: self,
            packed: None,
        }
    }

    /// Leaves out what moves nothing, because refs are packed: first each is written into the one file where it is already in its
    /// own, then those files go. A ref that really ends is locked in the one file as well.
    pub fn leave_out_packing(&self, moves: &mut Vec<RefMove>) {
        let mut places = self.ref_places();
        let is_locked = self.common_dir().join("packed-refs.lock").exists();
        let is_nowhere = |id: &str| id.bytes().all(|digit| digit == b'0');
        moves.retain(|it| {
            // Names outside of it are of one worktree, and are never packed.
            let is_shared = it.name.starts_with("refs/");
            let is_here = if !is_shared {
                false
            } else if is_nowhere(&it.new) {
                !is_locked && places.find_packed(&it.name).ok().flatten().as_ref() == Some(&it.old)
            } else {
                places.find(&it.name).ok().flatten().as_ref() == Some(&it.new)
            };
            !is_here
        });
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use handoff_testkit::TestEnv;

    use super::*;

    #[test]
    fn packing_refs_moves_none() {
        let env = TestEnv::without_binary();
        let repo = env.repo("repo");
        repo.git(["branch", "packed"]);
        repo.git(["pack-refs", "--all"]);
        repo.git(["branch", "loose"]);
        let at = Repository::open(repo.path()).unwrap();
        let (id, nowhere) = (repo.head(), "0".repeat(40));
        let left = |old: &str, new: &str, name: &str| {
            let moved = format!("{old} {new} refs/heads/{name}");
            let mut moves = crate::ref_moves::parse(&moved);
            at.leave_out_packing(&mut moves);
            moves.len()
        };
        assert_eq!(left(&nowhere, &id, "loose"), 0);
        assert_eq!(left(&nowhere, &id, "new"), 1);
        assert_eq!(left(&id, &nowhere, "packed"), 0);
        assert_eq!(left(&id, &nowhere, "loose"), 1);
        assert_eq!(left(&nowhere, &nowhere, "packed"), 1);
        let mut head = crate::ref_moves::parse(&format!("{nowhere} ref:refs/heads/main HEAD"));
        at.leave_out_packing(&mut head);
        assert_eq!(head.len(), 1);
        fs::write(repo.path().join(".git/packed-refs.lock"), "").unwrap();
        assert_eq!(left(&id, &nowhere, "packed"), 1);
    }
}
