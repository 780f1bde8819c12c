//! Which commands of a repository a person has allowed to run, by their content.
//!
//! A command that comes out of a repository can be changed by whoever changes the repository, so what is trusted is the digest
//! of all its checks together with the place they stand in: another command, or the same one in another place, is not
//! trusted. Each is a file of its own, named by the digest, in the state directory of the person: a pull cannot bring trust
//! along, and nothing has to be locked.

use std::path::{Path, PathBuf};

use handoff_core::Digest;
use handoff_files::atomic::{self, Mode};
use handoff_files::{Dir, DirError, WriteError};

use crate::config::Check;

/// Where it is kept, below the state directory.
const FOLDER: &str = "trust";

/// What a person has allowed.
#[derive(Debug)]
pub struct Trust {
    path: PathBuf,
}

/// Trust could not be looked up or changed.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// Its folder cannot be used.
    #[error("cannot use the folder of what is trusted")]
    Place(#[from] DirError),
    /// It could not be written down.
    #[error("cannot write down what is trusted")]
    Write(#[from] WriteError),
}

impl Trust {
    /// What is kept below this state directory.
    #[must_use]
    pub fn below(home: &Path) -> Self {
        Self {
            path: home.join(FOLDER),
        }
    }

    /// Whether this content may run.
    pub fn covers(&self, digest: &Digest) -> Result<bool, TrustError> {
        let found = Dir::open(&self.path).and_then(|dir| dir.read(digest.as_str(), 64 * 1024));
        match found {
            Ok(_) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Allows this content from now on. `note` is for people who look at the file.
    pub fn grant(&self, digest: &Digest, note: &str) -> Result<(), TrustError> {
        let dir = Dir::create_private(&self.path)?;
        match atomic::create_new(&dir, digest.as_str(), note.as_bytes(), Mode::Private) {
            Ok(()) | Err(WriteError::AlreadyExists(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes it back; whether there was anything to take back.
    pub fn revoke(&self, digest: &Digest) -> Result<bool, TrustError> {
        let removed = Dir::open(&self.path).and_then(|dir| dir.remove(digest.as_str()));
        match removed {
            Ok(()) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// What is trusted when these checks are: all of them, in the workspace below `root`.
#[must_use]
pub fn digest(root: &Path, checks: &[Check]) -> Digest {
    let mut sorted: Vec<_> = checks.iter().collect();
    sorted.sort_by(|a, b| a.name.cmp(&b.name));
    let mut content = Vec::new();
    let mut push = |part: &[u8]| {
        content.extend((part.len() as u64).to_le_bytes());
        content.extend(part);
    };
    push(b"handoff checks 1");
    push(root.as_os_str().as_encoded_bytes());
    for check in sorted {
        push(check.name.as_str().as_bytes());
        push(check.command.as_str().as_bytes());
    }
    Digest::of(&content)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, command: &str) -> Check {
        Check {
            name: name.parse().unwrap(),
            command: command.parse().unwrap(),
        }
    }

    #[test]
    fn any_other_command_name_or_project_is_other_content() {
        let trusted = digest(Path::new("/p"), &[check("a", "x"), check("b", "y")]);
        assert_eq!(
            trusted,
            digest(Path::new("/p"), &[check("b", "y"), check("a", "x")])
        );
        let others = [
            digest(Path::new("/q"), &[check("a", "x"), check("b", "y")]),
            digest(Path::new("/p"), &[check("a", "x"), check("b", "z")]),
            digest(Path::new("/p"), &[check("a", "x"), check("c", "y")]),
            digest(Path::new("/p"), &[check("a", "x")]),
            digest(Path::new("/p"), &[check("ax", "b"), check("y", "x")]),
        ];
        assert!(!others.contains(&trusted));
    }

    #[test]
    fn what_was_granted_is_covered_until_it_is_revoked() {
        let home = tempfile::tempdir().unwrap();
        let trust = Trust::below(home.path());
        let digest = digest(Path::new("/p"), &[check("a", "x")]);
        assert!(!trust.covers(&digest).unwrap());
        assert!(!trust.revoke(&digest).unwrap());
        trust.grant(&digest, "a").unwrap();
        trust.grant(&digest, "a").unwrap();
        assert!(trust.covers(&digest).unwrap());
        assert!(trust.revoke(&digest).unwrap());
        assert!(!trust.covers(&digest).unwrap());
    }
}
