//! What differs between a commit and a working tree.
//!
//! Trees are compared with trees: the working tree is first put into the object store, by a
//! private index, so that neither a stat cache nor a bit in the index hides a change.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

use handoff_core::CommitId;
use handoff_core::ownership::RepoPath;

use crate::git::{Git, GitError, printable};
use crate::repository::Repository;
use crate::snapshot::SnapshotError;

/// One path that differs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// Where.
    pub path: RepoPath,
    /// How.
    pub kind: ChangeKind,
}

/// How a path differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// Its content, its mode or its type is another.
    Modified,
    /// It is gone.
    Deleted,
}

impl Git {
    /// What the tree of `at` has changed since `base`, committed or not: tracked files, and others
    /// that are not ignored. Sorted by path.
    pub fn changed_paths(
        &self,
        at: &Repository,
        base: &CommitId,
    ) -> Result<Vec<Change>, SnapshotError> {
        self.apart(at, SnapshotError::git, |private| {
            let git = self.writing_to(private);
            let snapshot = git.snapshot_unkept(at)?;
            Ok(git.changes_since(at, &snapshot, base)?)
        })
    }

    /// What differs from one commit to another, sorted by path.
    pub fn changes_between(
        &self,
        at: &Repository,
        from: &CommitId,
        to: &CommitId,
    ) -> Result<Vec<Change>, GitError> {
        let differences = self.compare(at, from.as_str(), to.as_str())?;
        let changes = differences.iter().map(Difference::change);
        let mut changes = changes.collect::<Result<Vec<_>, GitError>>()?;
        changes.sort_unstable();
        Ok(changes)
    }

    /// The differences from one commit or tree to another.
    pub(crate) fn compare(
        &self,
        at: &Repository,
        from: &str,
        to: &str,
    ) -> Result<Vec<Difference>, GitError> {
        let call = self.call("diff-tree", at.any_place()).arguments([
            "-r",
            "-z",
            "--raw",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            "--ignore-submodules=none",
            "--end-of-options",
            from,
            to,
        ]);
        let unknown = call.unknown_answer();
        parse(&call.run()?).ok_or(unknown)
    }
}

/// The mode of a directory that is a repository of its own.
const GITLINK: &str = "160000";
const ABSENT: &str = "000000";

/// One line of a raw diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) old_mode: String,
    pub(crate) new_mode: String,
    pub(crate) old_object: String,
    pub(crate) new_object: String,
    pub(crate) path: Vec<u8>,
}

impl Difference {
    /// What it is now: mode and object.
    pub(crate) fn new_entry(&self) -> (String, String) {
        (self.new_mode.clone(), self.new_object.clone())
    }

    /// Whether a repository appeared where none was, of which git would keep only a commit id.
    pub(crate) fn is_new_repository(&self) -> bool {
        self.new_mode == GITLINK && self.old_mode != GITLINK
    }

    pub(crate) fn change(&self) -> Result<Change, GitError> {
        let kind = if self.old_mode == ABSENT {
            ChangeKind::Added
        } else if self.new_mode == ABSENT {
            ChangeKind::Deleted
        } else {
            ChangeKind::Modified
        };
        Ok(Change {
            path: self.repo_path()?,
            kind,
        })
    }

    pub(crate) fn repo_path(&self) -> Result<RepoPath, GitError> {
        let Ok(text) = str::from_utf8(&self.path) else {
            return Err(GitError::Path {
                path: self.shown_path(),
                source: None,
            });
        };
        text.parse().map_err(|error| GitError::Path {
            path: self.shown_path(),
            source: Some(error),
        })
    }

    pub(crate) fn shown_path(&self) -> String {
        printable(&OsString::from_vec(self.path.clone()).to_string_lossy())
    }
}

/// `:<old mode> <new mode> <old object> <new object> <status> NUL <path> NUL`, repeated.
pub(crate) fn parse(raw: &[u8]) -> Option<Vec<Difference>> {
    let mut fields = raw.split(|&byte| byte == 0);
    let mut differences = Vec::new();
    loop {
        let head = fields.next()?;
        if head.is_empty() {
            return fields.next().is_none().then_some(differences);
        }
        let words = str::from_utf8(head).ok()?.strip_prefix(':')?;
        let [old_mode, new_mode, old_object, new_object, _] =
            words.split(' ').collect::<Vec<_>>().try_into().ok()?;
        differences.push(Difference {
            old_mode: old_mode.to_owned(),
            new_mode: new_mode.to_owned(),
            old_object: old_object.to_owned(),
            new_object: new_object.to_owned(),
            path: fields.next()?.to_owned(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_answer_is_not_understood() {
        let raw = b":100644 000000 aa 00 D\0a\nb\0:000000 100755 00 bb A\0c\0";
        let paths: Vec<_> = parse(raw).unwrap().into_iter().map(|d| d.path).collect();
        assert_eq!(paths, [b"a\nb".to_vec(), b"c".to_vec()]);
        assert_eq!(parse(b"").unwrap(), []);
        for cut in (1..raw.len()).filter(|cut| raw[cut - 1] != 0) {
            assert_eq!(parse(&raw[..cut]), None, "cut at {cut}");
        }
        assert_eq!(parse(b":100644 000000 aa 00 D\0"), None);
    }

    #[test]
    fn a_path_that_is_not_utf8_is_named_as_far_as_it_can_be() {
        let raw = b":000000 100644 00 bb A\0a\xff\x1b\0";
        let error = parse(raw).unwrap()[0].repo_path().unwrap_err();
        assert_eq!(error.to_string(), "cannot name the path `a\u{fffd}\\u{1b}`");
    }
}
