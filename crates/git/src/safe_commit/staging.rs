//! How the declared paths stand, and what follows for the commit: one look, one pure decision.

mod plain;

use std::collections::BTreeSet;
use std::path::Path;

use crate::git::{Git, GitError};
use crate::repository::Repository;
use crate::tree_path::TreePath;

/// Which of two versions of a file is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// The only one there is; where there are two, say so.
    Only,
    /// The one that is staged.
    Staged,
    /// The one in the tree.
    Tree,
}

/// Why the declared paths are not committed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StagingRefusal {
    /// Some are staged, and have been edited since.
    #[error("{} staged and edited further: two versions could be meant", are(.0))]
    TwoVersions(Vec<TreePath>),
    /// Some are directories.
    #[error("{} a directory; name the files", are(.paths))]
    Directory {
        /// Those.
        paths: Vec<TreePath>,
        /// What has changed in them.
        changed: Vec<TreePath>,
    },
    /// Some are ignored.
    #[error("{} ignored by git", are(.0))]
    Ignored(Vec<TreePath>),
    /// Some are nowhere.
    #[error("{} neither in the tree nor in HEAD", are(.0))]
    Unknown(Vec<TreePath>),
    /// Some are repositories of their own that are not submodules yet.
    #[error("{} a git repository of its own, whose files would be lost", are(.0))]
    NestedRepository(Vec<TreePath>),
    /// Some are in conflict, and nothing is being merged that a commit could conclude.
    #[error("{} still in conflict", are(.0))]
    Conflict(Vec<TreePath>),
    /// Nothing has changed.
    #[error("nothing has changed in the declared paths")]
    Unchanged,
}

fn are(paths: &[TreePath]) -> String {
    let shown: Vec<_> = paths.iter().map(|path| format!("`{path}`")).collect();
    let verb = if paths.len() == 1 { "is" } else { "are" };
    format!("{} {verb}", shown.join(", "))
}

/// What is to be done with the declared paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// Those that have changed.
    pub(super) changed: Vec<TreePath>,
    /// Those among them that git must be told of first.
    pub(super) unknown_to_git: Vec<TreePath>,
    /// Whether a directory takes the place of a file.
    pub(super) replacing: Replacing,
}

/// Whether a directory takes the place of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Replacing {
    #[default]
    No,
    Yes,
}

/// How one path stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) path: TreePath,
    pub(super) standing: Standing,
}

impl Entry {
    /// Whether the tree has another version of a tracked file than the index.
    pub(super) fn is_edited(&self) -> bool {
        let edited = Change::Some;
        matches!(self.standing, Standing::Tracked { edited: it, .. } if it == edited)
    }
}

/// How a path differs: between HEAD and index, between index and tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Tracked { staged: Change, edited: Change },
    Unmerged,
    Untracked,
    Ignored,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    None,
    Some,
}

/// More would not fit on a command line; the whole tree is looked at instead.
const FEW: usize = 500;

impl Git {
    /// Looks at these paths in the tree of `at`, or at all of it.
    pub(super) fn staging(
        &self,
        at: &Repository,
        paths: &[TreePath],
    ) -> Result<Vec<Entry>, GitError> {
        match self.plain_staging(at, paths) {
            Some(entries) => Ok(entries),
            None => self.ask_staging(at, paths),
        }
    }

    fn ask_staging(&self, at: &Repository, paths: &[TreePath]) -> Result<Vec<Entry>, GitError> {
        let call = self.call_in_tree("status", at.tree()?).arguments([
            "--porcelain=v2",
            "-z",
            "--no-renames",
            "--untracked-files=all",
            "--ignored=matching",
            "--ignore-submodules=dirty",
            "--",
        ]);
        let few = if paths.len() > FEW { &[] } else { paths };
        let call = call.arguments(few.iter().map(TreePath::pathspec));
        let unknown = call.unknown_answer();
        parse(&call.run()?).ok_or(unknown)
    }
}

pub(super) fn parse(answer: &[u8]) -> Option<Vec<Entry>> {
    let lines = answer.split(|&byte| byte == 0);
    lines.filter(|line| !line.is_empty()).map(entry).collect()
}

fn entry(line: &[u8]) -> Option<Entry> {
    let (kind, rest) = line.split_at_checked(2)?;
    let (standing, path) = match kind {
        b"? " => (Standing::Untracked, rest),
        b"! " => (Standing::Ignored, rest),
        // XY, submodule, three modes, two objects, and then the path.
        b"1 " => (tracked(rest)?, after_fields(rest, 7)?),
        // XY, submodule, four modes, three objects, and then the path.
        b"u " => (Standing::Unmerged, after_fields(rest, 9)?),
        _ => return None,
    };
    Some(Entry {
        path: TreePath::from_git(path),
        standing,
    })
}

fn tracked(rest: &[u8]) -> Option<Standing> {
    let change = |letter: u8| match letter {
        b'.' => Change::None,
        _ => Change::Some,
    };
    let (staged, edited) = (*rest.first()?, *rest.get(1)?);
    Some(Standing::Tracked {
        staged: change(staged),
        edited: change(edited),
    })
}

fn after_fields(entry: &[u8], count: usize) -> Option<&[u8]> {
    let rest = (0..count).try_fold(entry, |rest, _| {
        let space = rest.iter().position(|&byte| byte == b' ')?;
        Some(&rest[space + 1..])
    })?;
    (!rest.is_empty()).then_some(rest)
}

/// What the file system says of a declared path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    File,
    Directory,
    /// A directory with a `.git` in it.
    Repository,
    Absent,
}

impl Form {
    pub(super) fn of(root: &Path, path: &TreePath) -> Self {
        let path = root.join(path.as_path());
        match path.symlink_metadata() {
            Err(_) => Self::Absent,
            Ok(metadata) if !metadata.is_dir() => Self::File,
            Ok(_) if path.join(".git").symlink_metadata().is_ok() => Self::Repository,
            Ok(_) => Self::Directory,
        }
    }
}

/// A declared path, and all that is known of it.
struct Declared<'a> {
    path: &'a TreePath,
    form: Form,
    standing: Vec<Standing>,
}

/// Decides what to commit of the declared paths, or that nothing is.
pub(super) fn plan(
    declared: &[(TreePath, Form)],
    entries: &[Entry],
    version: Version,
    is_merging: Merging,
) -> Result<Plan, StagingRefusal> {
    let all: Vec<_> = declared
        .iter()
        .map(|(path, form)| Declared {
            path,
            form: *form,
            standing: standing(path, entries),
        })
        .collect();
    refuse(&all, entries, version, is_merging)?;
    let wanted = all.iter().filter(|it| it.is_changed(version));
    let plan = Plan {
        changed: wanted.clone().map(|it| it.path.clone()).collect(),
        unknown_to_git: wanted
            .filter(|it| version != Version::Staged && it.is_unknown_to_git())
            .map(|it| it.path.clone())
            .collect(),
        replacing: replacing(&all, version),
    };
    if plan.changed.is_empty() && is_merging == Merging::No {
        return Err(StagingRefusal::Unchanged);
    }
    Ok(plan)
}

/// A path that git knows as a file, and that is a directory by now with a declared file in it.
fn replacing(all: &[Declared<'_>], version: Version) -> Replacing {
    let is_below = |path: &TreePath, it: &Declared<'_>| {
        let rest = it.path.as_bytes().strip_prefix(path.as_bytes());
        rest.is_some_and(|rest| rest.starts_with(b"/"))
    };
    let is_replaced = |old: &&Declared<'_>| {
        old.form == Form::Directory && all.iter().any(|it| is_below(old.path, it))
    };
    match all.iter().find(is_replaced) {
        Some(_) if version != Version::Staged => Replacing::Yes,
        Some(_) | None => Replacing::No,
    }
}

/// Whether a commit would conclude a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Merging {
    No,
    Yes,
}

/// A path below an ignored directory is ignored, though git names only the directory.
fn standing(path: &TreePath, entries: &[Entry]) -> Vec<Standing> {
    let is_meant = |entry: &&Entry| {
        let (own, named) = (path.as_bytes(), entry.path.as_bytes());
        own == named
            || named.strip_suffix(b"/") == Some(own)
            || (entry.standing == Standing::Ignored
                && named.ends_with(b"/")
                && own.starts_with(named))
    };
    let found = entries.iter().filter(is_meant);
    found.map(|entry| entry.standing).collect()
}

/// How it is called that these are declared.
type Rule = (fn(Vec<TreePath>) -> StagingRefusal, Vec<TreePath>);

fn refuse(
    all: &[Declared<'_>],
    entries: &[Entry],
    version: Version,
    is_merging: Merging,
) -> Result<(), StagingRefusal> {
    let those = |test: &dyn Fn(&Declared<'_>) -> bool| -> Vec<TreePath> {
        let found = all.iter().filter(|it| test(it));
        found.map(|it| it.path.clone()).collect()
    };
    let table: [Rule; 5] = [
        (
            StagingRefusal::NestedRepository,
            those(&|it| it.is_nested_repository()),
        ),
        (StagingRefusal::Ignored, those(&|it| it.is_ignored())),
        (StagingRefusal::Unknown, those(&|it| it.is_unknown())),
        (
            StagingRefusal::Conflict,
            those(&|it| is_merging == Merging::No && it.has(Standing::Unmerged)),
        ),
        (
            StagingRefusal::TwoVersions,
            those(&|it| version == Version::Only && it.has_two_versions()),
        ),
    ];
    let directories = those(&|it| it.is_directory());
    if !directories.is_empty() {
        let changed = below(&directories, entries);
        return Err(StagingRefusal::Directory {
            paths: directories,
            changed,
        });
    }
    match table.into_iter().find(|(_, paths)| !paths.is_empty()) {
        Some((refusal, paths)) => Err(refusal(paths)),
        None => Ok(()),
    }
}

fn below(directories: &[TreePath], entries: &[Entry]) -> Vec<TreePath> {
    let is_below = |path: &TreePath| {
        directories.iter().any(|directory| {
            path.as_bytes()
                .strip_prefix(directory.as_bytes())
                .is_some_and(|rest| rest.starts_with(b"/"))
        })
    };
    let found = entries
        .iter()
        .filter(|entry| entry.standing != Standing::Ignored && is_below(&entry.path));
    let found: BTreeSet<_> = found.map(|entry| entry.path.clone()).collect();
    found.into_iter().collect()
}

impl Declared<'_> {
    fn has(&self, standing: Standing) -> bool {
        self.standing.contains(&standing)
    }

    fn is_tracked(&self) -> bool {
        let is = |it: &Standing| matches!(it, Standing::Tracked { .. } | Standing::Unmerged);
        self.standing.iter().any(is)
    }

    fn is_staged(&self) -> bool {
        let is = |it: &Standing| {
            matches!(
                it,
                Standing::Tracked {
                    staged: Change::Some,
                    ..
                }
            )
        };
        self.standing.iter().any(is)
    }

    fn is_edited(&self) -> bool {
        let is = |it: &Standing| match it {
            Standing::Tracked { edited, .. } => *edited == Change::Some,
            Standing::Unmerged | Standing::Untracked => true,
            Standing::Ignored => false,
        };
        self.standing.iter().any(is)
    }

    /// A file that was taken out of the index and is still in the tree is one of these as well.
    fn has_two_versions(&self) -> bool {
        self.is_staged() && self.is_edited()
    }

    /// A submodule is a directory to the file system, and one entry to git.
    fn is_directory(&self) -> bool {
        self.form == Form::Directory && !self.is_tracked()
    }

    fn is_nested_repository(&self) -> bool {
        self.form == Form::Repository && self.has(Standing::Untracked)
    }

    fn is_ignored(&self) -> bool {
        self.has(Standing::Ignored) && !self.is_tracked()
    }

    fn is_unknown(&self) -> bool {
        self.form == Form::Absent && self.standing.is_empty()
    }

    fn is_changed(&self, version: Version) -> bool {
        match version {
            Version::Staged => self.is_staged() || self.has(Standing::Unmerged),
            Version::Only | Version::Tree => self.is_staged() || self.is_edited(),
        }
    }

    fn is_unknown_to_git(&self) -> bool {
        self.has(Standing::Untracked) || self.has(Standing::Unmerged)
    }
}

#[cfg(test)]
mod tests;
