//! The user's hooks, run from a booth as if there were none.
//!
//! In a booth `GIT_DIR` is set, and git would hand it on. A hook that changes its directory, or asks
//! for the branch, would then be led astray. So each hook gets a wrapper that takes it away again.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::booth::{Booth, BoothError};
use super::grip::Grip;
use crate::git::{Git, GitError};
use crate::private_objects::{PrivateObjects, listed};
use crate::repository::Repository;

/// What `git commit` runs before the commit is made. `post-commit` and `reference-transaction` have
/// their time when it lands.
const BEFORE: [&str; 3] = ["pre-commit", "prepare-commit-msg", "commit-msg"];
const MERGING: &str = "pre-merge-commit";
/// The hooks of a repository.
#[derive(Debug)]
pub(super) struct Hooks {
    directory: PathBuf,
}

impl Git {
    pub(super) fn hooks(&self, at: &Repository) -> Result<Hooks, GitError> {
        Ok(Hooks {
            directory: self.user_hooks_directory(at)?,
        })
    }
}

impl Hooks {
    /// Whether there is a hook of this name that git would run.
    pub(super) fn path(&self, name: &str) -> Option<PathBuf> {
        let path = self.directory.join(name);
        let metadata = fs::metadata(&path).ok()?;
        (metadata.is_file() && metadata.permissions().mode() & 0o111 != 0).then_some(path)
    }

    /// The hook that has a grip on files which are not committed, in the tree with this root.
    pub(super) fn grip(&self, root: &Path) -> Option<(PathBuf, Grip)> {
        let path = self.path("pre-commit")?;
        let grip = Grip::of(&path, root)?;
        Some((path, grip))
    }

    /// Puts wrappers for the hooks that run before a commit into the booth, and returns their
    /// directory; it is empty if there are none.
    pub(super) fn wrap(
        &self,
        booth: &Booth,
        private: Option<&PrivateObjects>,
    ) -> Result<Wrapped, BoothError> {
        let objects = objects_line(private);
        let mut count = 0;
        for name in BEFORE.into_iter().chain([MERGING]) {
            if let Some(hook) = self.path(name) {
                wrap(booth, &format!("hooks/{name}"), &objects, &hook)?;
                count += 1;
            }
        }
        let landing = self.path("reference-transaction");
        if let Some(hook) = &landing {
            wrap(booth, "landing/reference-transaction", &[], hook)?;
        }
        Ok(Wrapped {
            before: booth.file("hooks"),
            landing: booth.file("landing"),
            is_any: count > 0,
            post_commit: self.path("post-commit"),
        })
    }
}

/// The wrappers in a booth.
#[derive(Debug)]
pub(super) struct Wrapped {
    pub(super) before: PathBuf,
    pub(super) landing: PathBuf,
    /// Whether a hook runs that could change what is committed.
    pub(super) is_any: bool,
    /// The hook whose time is after the commit.
    pub(super) post_commit: Option<PathBuf>,
}

/// A hook that moves refs must not leave objects in a private directory, but it reads those that are there.
fn objects_line(private: Option<&PrivateObjects>) -> Vec<u8> {
    let Some(private) = private else {
        return vec![];
    };
    let path = quoted(listed(private.path()).as_bytes());
    let name = b"unset GIT_OBJECT_DIRECTORY\nexport GIT_ALTERNATE_OBJECT_DIRECTORIES=";
    [name, path.as_slice(), b"\n"].concat()
}

fn wrap(booth: &Booth, name: &str, objects: &[u8], hook: &Path) -> Result<(), BoothError> {
    let quoted = quoted(hook.as_os_str().as_bytes());
    let head = b"#!/bin/sh\nunset GIT_DIR GIT_WORK_TREE GIT_CONFIG_PARAMETERS GIT_CONFIG_COUNT\n";
    let text = [head, objects, b"exec ", quoted.as_slice(), b" \"$@\"\n"].concat();
    let file = booth.write(name, &text)?;
    fs::set_permissions(&file, fs::Permissions::from_mode(0o700))
        .map_err(|error| BoothError::File(file, error))
}

/// One word of a shell.
pub(crate) fn quoted(word: &[u8]) -> Vec<u8> {
    let inner: Vec<u8> = word
        .iter()
        .flat_map(|&byte| match byte {
            b'\'' => b"'\\''".to_vec(),
            _ => vec![byte],
        })
        .collect();
    [b"'".as_slice(), &inner, b"'"].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_a_shell_is_one_word() {
        assert_eq!(quoted(b"a b$(c)'d"), b"'a b$(c)'\\''d'");
    }
}
