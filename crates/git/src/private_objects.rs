//! A directory for new objects, outside of the repository's own: `git prune` does not look there.
//!
//! Hooks and filters may move refs to what they make while such a directory is in use, and git does not write there what it finds
//! here. So the repository gets all of it when the directory goes.
//!
//! Git still finds an object that the repository has already, and does not write it again. Such an object may be pruned before
//! it is packed; then packing fails, and whoever made it begins anew.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use handoff_files::Lock;
use handoff_process::mint;

use crate::git::Git;
use crate::repository::Repository;

const PLACE: &str = "objects";
const OWNER: &str = "owner";

/// The directory; removed on drop. What a killed process left is removed by the next one.
#[derive(Debug)]
pub(crate) struct PrivateObjects {
    path: PathBuf,
    shared: PathBuf,
    _owner: Lock,
}

impl PrivateObjects {
    pub(crate) fn make(at: &Repository) -> io::Result<Self> {
        let place = at.own_dir().map_err(io::Error::other)?;
        let place = place.create_dir(PLACE).map_err(io::Error::other)?;
        let shared = at.common_dir().join("objects");
        remove_abandoned(place.path(), &shared);
        loop {
            let path = place.path().join(mint().simple().to_string());
            fs::create_dir(&path)?;
            match Lock::try_acquire(&path.join(OWNER), "objects") {
                Ok(Some(owner)) => {
                    return Ok(Self {
                        path,
                        shared,
                        _owner: owner,
                    });
                }
                Ok(None) => {}
                // Somebody who clears away found it before it was locked.
                Err(_) if !path.exists() => {}
                Err(error) => return Err(io::Error::other(error)),
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for PrivateObjects {
    fn drop(&mut self) {
        remove(&self.path, &self.shared);
    }
}

fn remove(path: &Path, shared: &Path) {
    if give(path, shared).is_ok() {
        // A leftover is a directory that nobody reads.
        fs::remove_dir_all(path).ok();
    }
}

/// Links each object that lies in a file of its own into the repository's directory.
fn give(path: &Path, shared: &Path) -> io::Result<()> {
    for directory in fs::read_dir(path)? {
        let directory = directory?;
        if directory.file_name().len() != 2 || !directory.path().is_dir() {
            continue;
        }
        let to = shared.join(directory.file_name());
        fs::create_dir_all(&to)?;
        for object in fs::read_dir(directory.path())? {
            let object = object?;
            match fs::hard_link(object.path(), to.join(object.file_name())) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
    }
    Ok(())
}

fn remove_abandoned(place: &Path, shared: &Path) {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    for path in entries.map(|it| it.path()) {
        if let Ok(Some(_owner)) = Lock::try_acquire(&path.join(OWNER), "objects") {
            remove(&path, shared);
        }
    }
}

impl Git {
    /// The same, but new objects go into a private directory.
    pub(crate) fn writing_to(&self, private: &PrivateObjects) -> Self {
        let mut git = self.clone();
        git.set("GIT_OBJECT_DIRECTORY", private.path().as_os_str());
        git.set("GIT_ALTERNATE_OBJECT_DIRECTORIES", &listed(&private.shared));
        git
    }
}

/// A path as an entry of a list that is separated by colons.
pub(crate) fn listed(path: &Path) -> OsString {
    let bytes = path.as_os_str().as_bytes();
    if !bytes.contains(&b':') && !bytes.starts_with(b"\"") {
        return path.into();
    }
    let escaped = bytes.iter().flat_map(|&byte| match byte {
        b'"' | b'\\' => vec![b'\\', byte],
        _ => vec![byte],
    });
    let quoted = [b'"'].into_iter().chain(escaped).chain([b'"']);
    OsString::from_vec(quoted.collect())
}
