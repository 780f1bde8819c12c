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
    std::fs::read_link(directory.join("git"))
        .is_ok_and(|target| target.file_name().is_some_and(|name| name == OURS))
}
