//! Telling a guard from git: a `git` that is a link to a program called `handoff`.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

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

/// Whether the `git` of this directory is a guard.
#[must_use]
pub fn is_shimmed(directory: &Path) -> bool {
    let git = directory.join("git");
    let is_link = std::fs::read_link(&git)
        .is_ok_and(|target| target.file_name().is_some_and(|name| name == OURS));
    is_link || is_this_program(&git)
}

/// A hard link, or a copy of one, to the program that runs: becoming it would never end.
fn is_this_program(git: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let file = |path: &Path| path.metadata().map(|it| (it.dev(), it.ino())).ok();
    let this = file(Path::new("/proc/self/exe"));
    this.is_some() && file(git) == this
}
