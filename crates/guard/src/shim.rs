//! Telling a guard from git: a `git` beside a link to the `handoff` that it asks.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The link beside a guard. It leads to the program that decides what the guard does not, and it is how one guard
/// knows another, whatever version and home it is of: becoming each other would never end.
pub const MARK: &str = ".handoff";
/// What a guard of the first kind was a link to.
const OURS: &str = "handoff";

/// The PATH without the directories whose `git` is a guard.
pub fn without_shims(path: &OsStr) -> OsString {
    let directories: Vec<PathBuf> = std::env::split_paths(path).collect();
    if !directories.iter().any(|it| is_shimmed(it)) {
        return path.to_owned();
    }
    let honest = directories.iter().filter(|it| !is_shimmed(it));
    std::env::join_paths(honest).unwrap_or_else(|_| path.to_owned())
}

/// The first git in PATH that is none of ours.
#[must_use]
pub fn real_git(path: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(path)
        .filter(|directory| !is_shimmed(directory))
        .map(|directory| directory.join("git"))
        .find(|git| is_program(git))
}

/// Whether the `git` of this directory is a guard.
#[must_use]
pub fn is_shimmed(directory: &Path) -> bool {
    let git = directory.join("git");
    let is_marked = directory.join(MARK).symlink_metadata().is_ok();
    let is_link = || {
        let target = std::fs::read_link(&git);
        target.is_ok_and(|target| target.file_name().is_some_and(|name| name == OURS))
    };
    is_marked || is_link() || is_this_program(&git)
}

/// A hard link, or a copy of one, to the program that runs: becoming it would never end.
fn is_this_program(git: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let file = |path: &Path| path.metadata().map(|it| (it.dev(), it.ino())).ok();
    file(git).is_some_and(|git| Some(git) == file(Path::new("/proc/self/exe")))
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata()
        .is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}
