//! What is checked out, read without running git.
//!
//! Only for refs that are files. A repository with reftables has a HEAD that says nothing.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use handoff_core::CommitId;

use crate::ref_moves::RefMove;
use crate::repository::Repository;

/// What a worktree stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The full name of the branch; none if HEAD is detached.
    pub branch: Option<String>,
    /// None before the first commit.
    pub commit: Option<CommitId>,
}

/// HEAD cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum HeadError {
    /// A file could not be read.
    #[error("cannot read `{}`", .0.display())]
    Read(PathBuf, #[source] io::Error),
    /// A file says nothing that we understand.
    #[error("`{}` names neither a branch nor a commit", .0.display())]
    Unknown(PathBuf),
    /// Refs are kept in another way.
    #[error("the refs of `{}` are reftables, which are not supported yet", .0.display())]
    Reftable(PathBuf),
}

/// A ref that leads to a ref that leads to a ref: git gives up at five as well.
const DEPTH: u8 = 5;

impl Repository {
    /// What the worktree stands on.
    pub fn read_head(&self) -> Result<Head, HeadError> {
        if self.common_dir().join("reftable").exists() {
            return Err(HeadError::Reftable(self.common_dir().to_owned()));
        }
        let file = self.git_dir().join("HEAD");
        match read(&file)?.as_deref().map(parse) {
            Some(Some(Target::Commit(commit))) => Ok(Head {
                branch: None,
                commit: Some(commit),
            }),
            Some(Some(Target::Name(branch))) => Ok(Head {
                commit: self.read_ref(&branch)?,
                branch: Some(branch),
            }),
            Some(None) | None => Err(HeadError::Unknown(file)),
        }
    }

    /// Where a ref of the common directory points; none if there is none.
    pub(crate) fn read_ref(&self, name: &str) -> Result<Option<CommitId>, HeadError> {
        let mut name = name.to_owned();
        for _ in 0..DEPTH {
            let file = self.common_dir().join(&name);
            match read(&file)?.as_deref().map(parse) {
                None => return self.read_packed(&name),
                Some(Some(Target::Commit(commit))) => return Ok(Some(commit)),
                Some(Some(Target::Name(next))) => name = next,
                Some(None) => return Err(HeadError::Unknown(file)),
            }
        }
        Err(HeadError::Unknown(self.common_dir().join(name)))
    }

    /// Whether a ref of this name could be made beside those that there are.
    pub(crate) fn has_room_for(&self, name: &str) -> bool {
        let Ok(text) = read(&self.common_dir().join("packed-refs")) else {
            return false;
        };
        let text = text.unwrap_or_default();
        let names = text.split(|&byte| byte == b'\n');
        let names = names.filter_map(|line| line.split(|&byte| byte == b' ').nth(1));
        let is_beneath = |one: &[u8], other: &[u8]| {
            one.strip_prefix(other)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        };
        let name = name.as_bytes();
        let is_in_the_way = |it: &[u8]| is_beneath(it, name) || is_beneath(name, it);
        let file = self.common_dir().join(OsStr::from_bytes(name));
        !file.exists() && !names.into_iter().any(is_in_the_way)
    }

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
            let here = if is_nowhere(&it.new) {
                !is_locked && places.find_packed(&it.name).ok().flatten().as_ref() == Some(&it.old)
            } else {
                places.find(&it.name).ok().flatten().as_ref() == Some(&it.new)
            };
            !here
        });
    }

    fn read_packed(&self, name: &str) -> Result<Option<CommitId>, HeadError> {
        let file = self.common_dir().join("packed-refs");
        let Some(text) = read(&file)? else {
            return Ok(None);
        };
        Ok(packed(&text, name))
    }
}

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

enum Target {
    Name(String),
    Commit(CommitId),
}

fn parse(text: &[u8]) -> Option<Target> {
    let text = str::from_utf8(text).ok()?.trim_end();
    match text.strip_prefix("ref:") {
        Some(name) => Some(Target::Name(name.trim_start().to_owned()))
            .filter(|_| name.trim_start().starts_with("refs/") && !name.contains("..")),
        None => text.parse().ok().map(Target::Commit),
    }
}

/// `<id> <name>` on a line.
fn packed(text: &[u8], name: &str) -> Option<CommitId> {
    let line = text.split(|&byte| byte == b'\n').find(|line| {
        line.strip_suffix(name.as_bytes())
            .is_some_and(|rest| rest.ends_with(b" "))
    })?;
    let (id, _) = str::from_utf8(line).ok()?.split_once(' ')?;
    id.parse().ok()
}

/// The file, or nothing where there is none.
fn read(file: &Path) -> Result<Option<Vec<u8>>, HeadError> {
    use io::ErrorKind::{IsADirectory, NotADirectory, NotFound};
    match fs::read(file) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if matches!(error.kind(), NotFound | NotADirectory | IsADirectory) => Ok(None),
        Err(error) => Err(HeadError::Read(file.to_owned(), error)),
    }
}

#[cfg(test)]
mod tests {
    use handoff_testkit::TestEnv;

    use super::*;

    #[test]
    fn a_ref_has_room_where_no_other_is_or_would_be_beneath() {
        let env = TestEnv::without_binary();
        let repo = env.repo("repo");
        repo.commit("first");
        for name in ["packed/one", "plain"] {
            repo.git(["branch", name]);
        }
        repo.git(["pack-refs", "--all"]);
        repo.git(["branch", "loose/one"]);
        let at = Repository::open(repo.path()).unwrap();
        let table = [
            ("packed/one", false),
            ("packed", false),
            ("packed/one/more", false),
            ("packed/two", true),
            ("packed/on", true),
            ("plain/more", false),
            ("loose/one", false),
            ("new", true),
        ];
        for (name, has_room) in table {
            let found = at.has_room_for(&format!("refs/heads/{name}"));
            assert_eq!(found, has_room, "{name}");
        }
    }

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
        fs::write(repo.path().join(".git/packed-refs.lock"), "").unwrap();
        assert_eq!(left(&id, &nowhere, "packed"), 1);
    }

    #[test]
    fn head_is_what_git_says_it_is() {
        let env = TestEnv::without_binary();
        let repo = env.repo("repo");
        let read = || Repository::open(repo.path()).unwrap().read_head().unwrap();
        let commit: Option<CommitId> = Some(repo.head().parse().unwrap());
        let main = Head {
            branch: Some("refs/heads/main".to_owned()),
            commit,
        };
        assert_eq!(read(), main);
        repo.git(["pack-refs", "--all"]);
        repo.git(["branch", "other-main"]);
        assert_eq!(read(), main);
        repo.git(["checkout", "--quiet", "--detach"]);
        assert_eq!(
            read(),
            Head {
                branch: None,
                ..main
            }
        );
        repo.git(["checkout", "--quiet", "--orphan", "new/born"]);
        let unborn = Head {
            branch: Some("refs/heads/new/born".to_owned()),
            commit: None,
        };
        assert_eq!(read(), unborn);
    }
}
