//! Where the running program lies, held so that nobody else replaces it at the same time.
//!
//! The lock is on the directory itself: it is what two upgrades share, whoever runs them and wherever their state is, and no
//! lock file stays behind among the programs of a person.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use handoff_files::{Dir, DirError};
use rustix::fs::{Access, FlockOperation};
use rustix::io::Errno;

use super::image::{HEAD_LEN, Image};

/// What the kernel says was started, whatever has its name now.
const RUNNING: &str = "/proc/self/exe";

/// The directory of the running program, locked, and its name there.
#[derive(Debug)]
pub(crate) struct Place {
    /// Holding it open holds the lock.
    pub(super) dir: Dir,
    pub(super) name: String,
    /// The permissions of the program, which its successor gets.
    pub(super) mode: u32,
    /// What runs here.
    pub(super) image: Image,
}

/// The running program cannot be replaced where it lies.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlaceError {
    #[error("`{0}` has no name that can be worked with")]
    Name(PathBuf),
    #[error("cannot open the directory of `{0}`")]
    Open(PathBuf, #[source] DirError),
    #[error("you may not write to `{0}`")]
    NotWritable(PathBuf, #[source] io::Error),
    #[error("cannot lock `{0}`")]
    Lock(PathBuf, #[source] io::Error),
    #[error("another upgrade is at work in `{0}`")]
    Busy(PathBuf),
    #[error("cannot look at `{0}`")]
    Look(PathBuf, #[source] io::Error),
    #[error("`{0}` was replaced while this command ran")]
    Replaced(PathBuf),
}

impl Place {
    /// Locks the directory of `program`, which must be the one that runs.
    pub(crate) fn lock(program: &Path) -> Result<Self, PlaceError> {
        let name = program.file_name().and_then(OsStr::to_str);
        let (Some(parent), Some(name)) = (program.parent(), name) else {
            return Err(PlaceError::Name(program.to_owned()));
        };
        let dir = Dir::open(parent).map_err(|error| PlaceError::Open(program.to_owned(), error))?;
        let access = Access::WRITE_OK | Access::EXEC_OK;
        rustix::fs::access(parent, access)
            .map_err(|errno| PlaceError::NotWritable(parent.to_owned(), errno.into()))?;
        match rustix::fs::flock(&dir, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Err(PlaceError::Busy(parent.to_owned())),
            Err(errno) => return Err(PlaceError::Lock(parent.to_owned(), errno.into())),
        }
        Ok(Self {
            mode: mode_of_running(program)?,
            image: image_of_running()?,
            name: name.to_owned(),
            dir,
        })
    }

    /// A file beside the program.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

/// An upgrade that ended just before we got the lock left another program under our name, and our idea of what is
/// installed is out of date.
fn mode_of_running(program: &Path) -> Result<u32, PlaceError> {
    let look = |path: &Path| {
        let metadata = path.metadata();
        metadata.map_err(|error| PlaceError::Look(path.to_owned(), error))
    };
    let running = look(Path::new(RUNNING))?;
    let installed = match program.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(PlaceError::Replaced(program.to_owned()));
        }
        Err(error) => return Err(PlaceError::Look(program.to_owned(), error)),
    };
    let identity = |it: &std::fs::Metadata| (it.dev(), it.ino());
    if identity(&running) == identity(&installed) {
        Ok(installed.mode() & 0o777)
    } else {
        Err(PlaceError::Replaced(program.to_owned()))
    }
}

fn image_of_running() -> Result<Image, PlaceError> {
    let mut head = vec![];
    File::open(RUNNING)
        .and_then(|file| file.take(HEAD_LEN as u64).read_to_end(&mut head))
        .map_err(|error| PlaceError::Look(RUNNING.into(), error))?;
    Ok(Image::of(&head))
}
