//! The working tree as a tree object: tracked files and others that are not ignored.
//!
//! The index and the working tree stay as they are. What was staged and is no longer in the
//! working tree is not in the snapshot.

use std::io;
use std::path::{Path, PathBuf};

use handoff_core::CommitId;

use crate::change::{Change, Difference};
use crate::git::{Call, Git, GitError};
use crate::index::PrivateIndex;
use crate::kept_pack::{KeepError, KeptPack, Wanted};
use crate::repository::Repository;
use crate::safe_commit::hides_nothing;

/// A working tree, put into the object store.
#[derive(Debug)]
pub struct Snapshot {
    /// The commit it stands on.
    pub(crate) head: CommitId,
    /// The tree object; an object id has the form of a commit id.
    pub(crate) tree: CommitId,
    /// What differs between the two.
    pub(crate) differences: Vec<Difference>,
    /// The index that the tree object was made from.
    pub(crate) index: PrivateIndex,
    /// Keeps the tree object from being pruned; none if it is that of the commit.
    pub(crate) kept: Option<KeptPack>,
}

/// The working tree could not be looked at as a whole. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// Git failed.
    #[error("cannot put the working tree into the object store")]
    Git(#[from] GitError),
    /// Its objects could not be kept.
    #[error("cannot put the working tree into the object store")]
    Keep(#[from] KeepError),
    /// The index could not be copied.
    #[error("cannot copy the index of `{}`", .0.display())]
    Index(PathBuf, #[source] io::Error),
    /// A repository within the tree: git would keep its commit id and lose its files.
    #[error("`{0}` is a git repository of its own, whose files would be lost")]
    NestedRepository(String),
}

impl SnapshotError {
    /// Whether it says nothing of the tree, but of git that was killed.
    pub const fn is_cut_short(&self) -> bool {
        match self {
            Self::Git(error) | Self::Keep(KeepError::Git(error)) => error.is_cut_short(),
            Self::Keep(_) | Self::Index(..) | Self::NestedRepository(_) => false,
        }
    }
}

impl SnapshotError {
    pub(crate) const fn git(&self) -> Option<&GitError> {
        match self {
            Self::Git(error) => Some(error),
            Self::Keep(error) => error.git(),
            Self::Index(..) | Self::NestedRepository(_) => None,
        }
    }
}

impl Git {
    /// Puts the tree of `at` into the object store: tracked files, and others that are not ignored.
    pub fn snapshot(&self, at: &Repository) -> Result<Snapshot, SnapshotError> {
        self.apart(at, SnapshotError::git, |private| {
            let mut snapshot = self.writing_to(private).snapshot_unkept(at)?;
            if !snapshot.differences.is_empty() {
                let known = vec![&snapshot.head];
                let tip = &snapshot.tree;
                let wanted = Wanted::Beyond { tip, known };
                snapshot.kept = Some(self.keep_objects(at, private, &wanted)?);
            }
            Ok(snapshot)
        })
    }

    /// The same where nothing keeps the objects: for a private directory of objects.
    pub(crate) fn snapshot_unkept(&self, at: &Repository) -> Result<Snapshot, SnapshotError> {
        let root = at.tree()?;
        let head = self.head(at)?;
        let index = PrivateIndex::copied(at)
            .map_err(|error| SnapshotError::Index(at.git_dir().to_owned(), error))?;
        let call = |name| self.call_in_tree(name, root).index(&index);
        if !index.path().exists() {
            call("read-tree").arguments([head.as_str()]).run()?;
        } else if !hides_nothing(index.path()) {
            unhide(root, &call)?;
        }
        call("add").arguments(["--all"]).run()?;
        let tree = call("write-tree").run_for_commit()?;
        let differences = self.compare(at, head.as_str(), tree.as_str())?;
        match differences
            .iter()
            .find(|difference| difference.is_new_repository())
        {
            Some(nested) => Err(SnapshotError::NestedRepository(nested.shown_path())),
            None => Ok(Snapshot {
                head,
                tree,
                differences,
                index,
                kept: None,
            }),
        }
    }

    /// What a snapshot has changed since `base`, committed or not. Sorted by path.
    pub fn changes_since(
        &self,
        at: &Repository,
        snapshot: &Snapshot,
        base: &CommitId,
    ) -> Result<Vec<Change>, GitError> {
        let asked;
        let differences = if *base == snapshot.head {
            &snapshot.differences
        } else {
            asked = self.compare(at, base.as_str(), snapshot.tree.as_str())?;
            &asked
        };
        let changes = differences.iter().map(Difference::change);
        let mut changes = changes.collect::<Result<Vec<_>, GitError>>()?;
        changes.sort_unstable();
        Ok(changes)
    }
}

/// Makes git look at files that it was told to pass over: "assume unchanged", and "skip" where the file is there all the same.
///
/// Taking the bits away is not enough. Most gits compare times by the second, and one that was passed over is not looked into
/// when the index is written again: a change of the same size within that second is gone for them. So the entries are made anew,
/// with nothing known of their files.
fn unhide(root: &Path, call: &impl Fn(&'static str) -> Call) -> Result<(), GitError> {
    let listing = call("ls-files").arguments(["-v", "-s", "-z"]);
    let unknown = listing.unknown_answer();
    let entries = parse(&listing.run()?).ok_or(unknown)?;
    let is_there = |path: &[u8]| root.join(path_of(path)).symlink_metadata().is_ok();
    let is_hidden = |entry: &&Entry| match entry.tag {
        b's' | b'S' => is_there(&entry.path),
        tag => tag.is_ascii_lowercase(),
    };
    let hidden = entries.iter().filter(is_hidden);
    let anew: Vec<u8> = hidden.flat_map(Entry::line).collect();
    if anew.is_empty() {
        return Ok(());
    }
    let anew = call("update-index")
        .arguments(["-z", "--index-info"])
        .input(anew);
    anew.run().map(drop)
}

struct Entry {
    tag: u8,
    /// Mode, object and stage, as git wants them back.
    content: Vec<u8>,
    path: Vec<u8>,
}

impl Entry {
    fn line(&self) -> Vec<u8> {
        [self.content.as_slice(), b"\t", &self.path, b"\0"].concat()
    }
}

/// `<tag> <mode> <object> <stage> TAB <path> NUL`, repeated.
fn parse(listing: &[u8]) -> Option<Vec<Entry>> {
    let lines = listing
        .strip_suffix(b"\0")
        .into_iter()
        .flat_map(|l| l.split(|&b| b == 0));
    lines
        .map(|line| {
            let [tag, b' ', rest @ ..] = line else {
                return None;
            };
            let tab = rest.iter().position(|&byte| byte == b'\t')?;
            Some(Entry {
                tag: *tag,
                content: rest[..tab].to_owned(),
                path: rest[tab + 1..].to_owned(),
            })
        })
        .collect()
}

fn path_of(bytes: &[u8]) -> &Path {
    use std::os::unix::ffi::OsStrExt as _;
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}
