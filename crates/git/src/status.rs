//! The state of a tree in one look: branch, commit, and what is not committed.
//!
//! One call of git says all of it. What is not committed is then read by ourselves, for a digest
//! that tells whether it is still the same later; staging a file does not change the code, and so
//! not the digest either. The workspace in `.handoff/` is not code.

mod digest;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use handoff_core::tree::{Dirty, HeadName, Relation};
use handoff_core::{CommitId, TreeState};

use crate::git::{Begun, Git, GitError, printable};
use crate::loose_commit;
use crate::repository::Repository;

/// The folder of the workspace, at the root of a tree.
const WORKSPACE: &[u8] = b".handoff";

/// What one look at a tree found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The state, to be kept and compared.
    pub tree: TreeState,
    /// The paths that are not committed, fit to be shown, sorted.
    pub edited: Vec<String>,
}

/// A look at a tree that git is taking.
#[derive(Debug)]
pub struct Look {
    call: Begun,
    root: PathBuf,
    unknown: GitError,
}

impl Look {
    /// Waits until it was taken.
    pub fn finish(self) -> Result<Status, GitError> {
        let listing = Listing::parse(&self.call.finish()?).ok_or(self.unknown)?;
        Ok(listing.into_status(&self.root))
    }
}

impl Git {
    /// Looks at the tree of `at`.
    pub fn status(&self, at: &Repository) -> Result<Status, GitError> {
        self.begin_status(at)?.finish()
    }

    /// Begins to look, for whoever has something else to do meanwhile.
    pub fn begin_status(&self, at: &Repository) -> Result<Look, GitError> {
        let root = at.tree()?;
        let git = self.without_own_filters(at);
        let call = git.call_in_tree("status", root).arguments([
            "--porcelain=v2",
            "--branch",
            "-z",
            "--no-renames",
            "--untracked-files=all",
            "--ignore-submodules=dirty",
        ]);
        Ok(Look {
            unknown: call.unknown_answer(),
            root: root.to_owned(),
            call: call.begin()?,
        })
    }

    /// How the commit that is checked out lies to an earlier one.
    pub fn relation(&self, at: &Repository, earlier: &CommitId) -> Result<Relation, GitError> {
        if !self.has_commit(at, earlier)? {
            return Ok(Relation::Missing);
        }
        let range = format!("{earlier}...HEAD");
        let call = self.call("rev-list", at.any_place()).arguments([
            "--left-right",
            "--count",
            "--end-of-options",
            &range,
        ]);
        let unknown = call.unknown_answer();
        counts(&call.run()?).ok_or(unknown)
    }

    /// Whether a commit is there.
    pub fn has_commit(&self, at: &Repository, commit: &CommitId) -> Result<bool, GitError> {
        let object = format!("{commit}^{{commit}}");
        let call = self.call("rev-parse", at.any_place()).arguments([
            "--verify",
            "--quiet",
            "--end-of-options",
            &object,
        ]);
        Ok(call.ask()?.is_some())
    }

    /// The first lines of the newest commits since an earlier one, newest first, fit to be shown.
    pub fn subjects_since(
        &self,
        at: &Repository,
        earlier: &CommitId,
        limit: u32,
    ) -> Result<Vec<String>, GitError> {
        self.subjects(at, &format!("{earlier}..HEAD"), limit)
    }

    fn subjects(&self, at: &Repository, range: &str, limit: u32) -> Result<Vec<String>, GitError> {
        self.ask_subjects(at, range, limit)?.answer()
    }

    fn ask_subjects(&self, at: &Repository, range: &str, limit: u32) -> Result<Subjects, GitError> {
        let limit = format!("--max-count={limit}");
        let call = self.call("log", at.any_place()).arguments([
            "-z",
            "--no-show-signature",
            "--format=%h %s",
            &limit,
            "--end-of-options",
            range,
        ]);
        Ok(Subjects(Answer::Asked(Box::new(call.begin()?))))
    }

    /// Asks for the first lines of the newest commits, newest first, fit to be shown. Whoever asks can do something else
    /// while git looks.
    pub fn newest_subjects(&self, at: &Repository, limit: u32) -> Result<Subjects, GitError> {
        match loose_commit::newest(at, limit) {
            Some(known) => Ok(Subjects(Answer::Known(known))),
            None => self.ask_subjects(at, "HEAD", limit),
        }
    }

    /// How much is changed and not committed, in git's words; empty if nothing is.
    pub fn shortstat(&self, at: &Repository) -> Result<String, GitError> {
        let answer = self
            .without_own_filters(at)
            .call_in_tree("diff", at.tree()?)
            .arguments([
                "--shortstat",
                "--no-ext-diff",
                "--no-textconv",
                "--end-of-options",
                "HEAD",
            ])
            .run()?;
        Ok(printable(String::from_utf8_lossy(&answer).trim()))
    }
}

/// The first lines of commits, which may be asked for and not heard yet.
#[derive(Debug)]
pub struct Subjects(Answer);

#[derive(Debug)]
enum Answer {
    Known(Vec<Vec<u8>>),
    Asked(Box<Begun>),
}

impl Subjects {
    /// Waits for them.
    pub fn answer(self) -> Result<Vec<String>, GitError> {
        let lines = match self.0 {
            Answer::Known(lines) => lines,
            Answer::Asked(call) => {
                let answer = call.finish()?;
                let lines = answer.split(|&byte| byte == 0);
                lines.map(<[u8]>::to_vec).collect()
            }
        };
        let told = lines.iter().filter(|line| !line.is_empty());
        Ok(told
            .map(|line| printable(&String::from_utf8_lossy(line)))
            .collect())
    }
}

/// `<left> TAB <right>`: what only the earlier one has, what only the later one has.
fn counts(answer: &[u8]) -> Option<Relation> {
    let (lost, gained) = str::from_utf8(answer).ok()?.trim_end().split_once('\t')?;
    Some(Relation::Counted {
        gained: gained.parse().ok()?,
        lost: lost.parse().ok()?,
    })
}

/// What `git status` said.
#[derive(Debug, Default, PartialEq, Eq)]
struct Listing {
    branch: Option<HeadName>,
    commit: Option<CommitId>,
    /// Sorted, without the workspace.
    paths: Vec<Vec<u8>>,
}

impl Listing {
    fn parse(answer: &[u8]) -> Option<Self> {
        let mut listing = Self::default();
        let entries = answer.strip_suffix(b"\0")?.split(|&byte| byte == 0);
        for entry in entries {
            listing.take(entry)?;
        }
        listing.paths.retain(|path| !is_workspace(path));
        listing.paths.sort_unstable();
        Some(listing)
    }

    fn take(&mut self, entry: &[u8]) -> Option<()> {
        let (kind, rest) = entry.split_at_checked(2)?;
        match kind {
            b"# " => self.take_header(str::from_utf8(rest).ok()),
            b"? " => self.paths.push(rest.to_owned()),
            // After the kind: XY, submodule, three modes, two objects, and then the path.
            b"1 " => self.paths.push(after_fields(rest, 7)?),
            // After the kind: XY, submodule, four modes, three objects, and then the path.
            b"u " => self.paths.push(after_fields(rest, 9)?),
            _ => return None,
        }
        Some(())
    }

    /// A branch whose name cannot be shown is as good as none.
    fn take_header(&mut self, header: Option<&str>) {
        match header.and_then(|header| header.split_once(' ')) {
            Some(("branch.oid", id)) => self.commit = id.parse().ok(),
            Some(("branch.head", name)) if name != "(detached)" => self.branch = name.parse().ok(),
            _ => {}
        }
    }

    fn into_status(self, root: &Path) -> Status {
        let dirty = (!self.paths.is_empty()).then(|| Dirty {
            digest: digest::of(root, &self.paths),
            files: u32::try_from(self.paths.len()).unwrap_or(u32::MAX),
        });
        let show = |path: &Vec<u8>| printable(&OsStr::from_bytes(path).to_string_lossy());
        Status {
            edited: self.paths.iter().map(show).collect(),
            tree: TreeState {
                branch: self.branch,
                commit: self.commit,
                dirty,
            },
        }
    }
}

fn after_fields(entry: &[u8], count: usize) -> Option<Vec<u8>> {
    let mut rest = entry;
    for _ in 0..count {
        let space = rest.iter().position(|&byte| byte == b' ')?;
        rest = &rest[space + 1..];
    }
    (!rest.is_empty()).then(|| rest.to_owned())
}

fn is_workspace(path: &[u8]) -> bool {
    let rest = path.strip_prefix(WORKSPACE);
    rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_understood_whole_or_not_at_all() {
        let commit = "a".repeat(40);
        let answer = format!(
            "# branch.oid {commit}\0# branch.head main\0# branch.ab +1 -0\0\
             1 .M N... 100644 100644 100644 {commit} {commit} b c\0? a\nx\0? .handoff/x\0"
        );
        let listing = Listing::parse(answer.as_bytes()).unwrap();
        assert_eq!(listing.commit.unwrap().as_str(), commit);
        assert_eq!(listing.branch.unwrap().as_str(), "main");
        assert_eq!(listing.paths, [b"a\nx".to_vec(), b"b c".to_vec()]);
        assert_eq!(Listing::parse(b"? a"), None);
        assert_eq!(Listing::parse(b"x a\0"), None);
    }

    #[test]
    fn before_the_first_commit_there_is_none() {
        let answer = b"# branch.oid (initial)\0# branch.head (detached)\0";
        assert_eq!(Listing::parse(answer), Some(Listing::default()));
    }
}
