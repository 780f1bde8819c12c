//! What is checked out, read without running git.
//!
//! Only for refs that are files. A repository with reftables has a HEAD that says nothing.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use handoff_core::CommitId;

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

    fn read_packed(&self, name: &str) -> Result<Option<CommitId>, HeadError> {
        let file = self.common_dir().join("packed-refs");
        let Some(text) = read(&file)? else {
            return Ok(None);
        };
        Ok(packed(&text, name))
    }
}

/// What a ref or HEAD says.
pub(crate) enum Target {
    Name(String),
    Commit(CommitId),
}

pub(crate) fn parse(text: &[u8]) -> Option<Target> {
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
pub(crate) fn read(file: &Path) -> Result<Option<Vec<u8>>, HeadError> {
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
