//! Git's own directory: how to tell one, and where its parts are.

use std::fs;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use handoff_files::{Dir, Mode, atomic};

use super::DiscoverError;

/// More than any path; git itself allows a `.git` file of a megabyte.
const LINE_LIMIT: u64 = 16 * 1024;

/// The git directory of a tree with root `dir`, if it is one.
pub(super) fn of_tree(dir: &Path) -> Result<Option<PathBuf>, DiscoverError> {
    let dot_git = dir.join(".git");
    match fs::metadata(&dot_git) {
        Ok(metadata) if metadata.is_file() => pointed_to(&dot_git, dir).map(Some),
        // As git does, a directory `.git` that is no repository is passed over.
        Ok(_) if is_git_dir(&dot_git)? => canonical(&dot_git).map(Some),
        Ok(_) => Ok(None),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(DiscoverError::Read(dot_git, error)),
    }
}

fn pointed_to(file: &Path, dir: &Path) -> Result<PathBuf, DiscoverError> {
    let content = read(file)?;
    let target = content
        .strip_prefix(b"gitdir: ")
        .map(trim_line_end)
        .filter(|path| !path.is_empty() && !path.contains(&0) && !path.contains(&b'\n'));
    let Some(target) = target else {
        return Err(DiscoverError::MalformedGitFile(file.to_owned()));
    };
    let target = dir.join(path(target));
    if is_git_dir(&target)? {
        canonical(&target)
    } else {
        Err(DiscoverError::PointsNowhere {
            file: file.to_owned(),
            target,
        })
    }
}

/// Whether `dir` has what git requires: a HEAD that names a ref or a commit, objects and refs.
pub(super) fn is_git_dir(dir: &Path) -> Result<bool, DiscoverError> {
    if !is_head(&dir.join("HEAD")) {
        return Ok(false);
    }
    let Ok(common) = common_dir(dir) else {
        return Ok(false);
    };
    Ok(common.join("objects").is_dir() && common.join("refs").is_dir())
}

fn is_head(head: &Path) -> bool {
    if let Ok(target) = fs::read_link(head) {
        return target.starts_with("refs");
    }
    let Ok(content) = read(head) else {
        return false;
    };
    let content = trim_line_end(&content);
    match content.strip_prefix(b"ref:") {
        Some(name) => name.trim_ascii_start().starts_with(b"refs/"),
        None => matches!(content.len(), 40 | 64) && content.iter().all(u8::is_ascii_hexdigit),
    }
}

/// What the git directory shares with its other worktrees: itself, unless it says otherwise.
pub(super) fn common_dir(git_dir: &Path) -> Result<PathBuf, DiscoverError> {
    let file = git_dir.join("commondir");
    match read(&file) {
        Ok(content) => canonical(&git_dir.join(path(trim_line_end(&content)))),
        Err(DiscoverError::Read(_, error)) if is_absent(&error) => canonical(git_dir),
        Err(error) => Err(error),
    }
}

/// The record of the linked worktree with this root, among those that git keeps in `worktrees`.
pub(super) fn recorded(common_dir: &Path, root: &Path) -> Option<PathBuf> {
    let is_of_root = |record: &PathBuf| {
        let Ok(line) = read(&record.join("gitdir")) else {
            return false;
        };
        let dot_git = record.join(path(trim_line_end(&line)));
        let tree = dot_git.parent().and_then(|tree| tree.canonicalize().ok());
        tree.is_some_and(|tree| tree == root)
    };
    let records = fs::read_dir(common_dir.join("worktrees")).ok()?;
    let mut records = records.filter_map(|record| Some(record.ok()?.path()));
    records.find(is_of_root)
}

/// Makes `.git` in the tree name this git directory; what else is there gets another name.
pub(super) fn relink(root: &Path, git_dir: &Path) -> io::Result<()> {
    let dot_git = root.join(".git");
    let line = [b"gitdir: ", git_dir.as_os_str().as_bytes(), b"\n"].concat();
    let metadata = fs::symlink_metadata(&dot_git);
    let is_right = metadata.as_ref().is_ok_and(fs::Metadata::is_file)
        && fs::read(&dot_git).is_ok_and(|found| found == line);
    if is_right {
        return Ok(());
    }
    if metadata.is_ok() && !is_stale(&dot_git) {
        fs::rename(&dot_git, root.join(free_name(root)))?;
    }
    // In one step: whoever works there always finds one, and two who do it do the same.
    let dir = Dir::open(root).map_err(io::Error::other)?;
    atomic::replace_view(&dir, ".git", &line, Mode::Shared).map_err(io::Error::other)
}

/// Whether it is what git writes, and names a place that is gone: the repository was moved.
pub(super) fn is_stale(dot_git: &Path) -> bool {
    let is_file = fs::symlink_metadata(dot_git).is_ok_and(|it| it.is_file());
    let Ok(content) = read(dot_git) else {
        return false;
    };
    let named = content.strip_prefix(b"gitdir: ").map(trim_line_end);
    is_file && named.is_some_and(|it| path(it).is_absolute() && !path(it).exists())
}

/// A name for what took the place of `.git`.
fn free_name(root: &Path) -> String {
    let names = (1..).map(|number| format!("displaced-git-{number}"));
    let mut free = names.filter(|name| root.join(name).symlink_metadata().is_err());
    free.next().unwrap_or_default()
}

fn read(file: &Path) -> Result<Vec<u8>, DiscoverError> {
    let mut content = Vec::new();
    fs::File::open(file)
        .and_then(|open| open.take(LINE_LIMIT).read_to_end(&mut content))
        .map_err(|error| DiscoverError::Read(file.to_owned(), error))?;
    Ok(content)
}

fn canonical(path: &Path) -> Result<PathBuf, DiscoverError> {
    path.canonicalize()
        .map_err(|error| DiscoverError::Read(path.to_owned(), error))
}

fn trim_line_end(line: &[u8]) -> &[u8] {
    let end = line
        .iter()
        .rposition(|byte| !b"\r\n".contains(byte))
        .map_or(0, |last| last + 1);
    &line[..end]
}

fn path(bytes: &[u8]) -> &Path {
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
