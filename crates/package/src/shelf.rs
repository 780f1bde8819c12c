//! Sealed packages and attachments on disk: whole under their names, or not there.

mod contents;

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use handoff_core::{Digest, PackageId};
use handoff_files::atomic::{self, create_new};
use handoff_files::{Access, Dir, DirError, Mode, WriteError};

use crate::frame;
use crate::seal::{LIMIT, OpenError, Opened, Sealed, open};

/// The packages of a project, and their attachments.
#[derive(Debug, Clone)]
pub struct Shelf {
    path: PathBuf,
}

/// Something was not put on the shelf, or could not be taken from it.
#[derive(Debug, thiserror::Error)]
pub enum ShelfError {
    /// The directory cannot be used.
    #[error("cannot use the directory of the packages")]
    Place(#[from] DirError),
    /// It could not be written.
    #[error("cannot write the package")]
    Write(#[from] WriteError),
    /// Its name has other bytes; they were left as they are.
    #[error("`{}` is another package", .0.display())]
    Differs(PathBuf),
    /// Leftovers cannot be cleared away.
    #[error("cannot clear away what dead writers left")]
    Sweep(#[from] atomic::SweepError),
}

/// A package cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It cannot be read.
    #[error("cannot read the package")]
    Read(#[source] DirError),
    /// It is not the one that was sealed.
    #[error("the package is not the one that was sealed")]
    Replaced,
    /// It is not sound.
    #[error("cannot open the package")]
    Open(#[source] OpenError),
}

/// Whether the header of a package on the shelf is the one that the ledger knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It is.
    Whole,
    /// There is something else.
    Damaged,
    /// There is nothing.
    Missing,
}

impl Shelf {
    /// The packages in this directory.
    #[must_use]
    pub const fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where bundles lie while they are sent.
    #[must_use]
    pub fn outbox(&self) -> PathBuf {
        self.path.join("outbox")
    }

    /// The locks of those who do something with one of the packages.
    #[must_use]
    pub fn grasps(&self) -> PathBuf {
        self.path.join("grasps")
    }

    /// Puts a sealed package there. Putting the same one again is no error.
    pub fn put(&self, sealed: &Sealed) -> Result<PathBuf, ShelfError> {
        let dir = Dir::create_private(&self.path)?;
        let name = file_name(sealed.id());
        let path = dir.path().join(&name);
        match create_new(&dir, &name, sealed.bytes(), Mode::Private) {
            Ok(()) => Ok(path),
            Err(WriteError::AlreadyExists(_)) => {
                let is_same = dir.read(&name, LIMIT as u64)? == sealed.bytes();
                is_same
                    .then_some(path.clone())
                    .ok_or(ShelfError::Differs(path))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Reads a package, if it is the one with this digest. What is returned was verified, and nothing is read again.
    pub fn load(&self, id: PackageId, digest: &Digest) -> Result<Opened, LoadError> {
        let bytes = self.bytes(id).map_err(LoadError::Read)?;
        let opened = open(&bytes).map_err(LoadError::Open)?;
        if opened.digest != *digest || opened.package.label.id != id {
            return Err(LoadError::Replaced);
        }
        Ok(opened)
    }

    /// The bytes of a package, unverified.
    pub fn bytes(&self, id: PackageId) -> Result<Vec<u8>, DirError> {
        Dir::open(&self.path)?.read(file_name(id), LIMIT as u64)
    }

    /// Takes a package away; whether it was there.
    pub fn remove(&self, id: PackageId) -> Result<bool, ShelfError> {
        match Dir::open(&self.path).and_then(|dir| dir.remove(file_name(id))) {
            Ok(()) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// The packages that are there, by their names.
    pub fn ids(&self) -> Result<Vec<PackageId>, ShelfError> {
        let names = match Dir::open(&self.path).and_then(|dir| dir.names()) {
            Ok(names) => names,
            Err(error) if error.is_not_found() => vec![],
            Err(error) => return Err(error.into()),
        };
        let id = |name: &str| {
            let id = name.strip_prefix("hof-")?.strip_suffix(".json")?;
            id.parse().ok()
        };
        Ok(names.iter().filter_map(|it| id(it.to_str()?)).collect())
    }

    /// How much of each package is there.
    pub fn sizes(&self) -> Result<BTreeMap<PackageId, u64>, ShelfError> {
        let sized = |id| {
            // One that is removed meanwhile is not there.
            let metadata = self.file(id).symlink_metadata().ok()?;
            Some((id, metadata.len()))
        };
        Ok(self.ids()?.into_iter().filter_map(sized).collect())
    }

    /// Where a package lies, or would.
    #[must_use]
    pub fn file(&self, id: PackageId) -> PathBuf {
        self.path.join(file_name(id))
    }

    /// A reader of headers, for lists.
    #[must_use]
    pub fn headers(&self) -> Headers {
        Headers(Dir::open(&self.path).ok())
    }

    /// Removes what dead writers left, and says how much that was.
    pub fn sweep(&self) -> Result<usize, ShelfError> {
        let mut swept = 0;
        for path in [self.path.clone(), self.blobs(), self.outbox()] {
            match Dir::open(&path) {
                Ok(dir) => swept += atomic::sweep(&dir)?,
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(swept)
    }
}

/// Reads the headers of packages, and no more of them.
pub struct Headers(Option<Dir>);

impl Headers {
    /// Whether the header of a package is the one with this digest, which pins the rest.
    #[must_use]
    pub fn presence(&self, id: PackageId, digest: &Digest) -> Presence {
        match self.line(id) {
            Ok(line) if Digest::of(&line) == *digest => Presence::Whole,
            Ok(_) => Presence::Damaged,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Presence::Missing,
            Err(_) => Presence::Damaged,
        }
    }

    fn line(&self, id: PackageId) -> io::Result<Vec<u8>> {
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        let dir = self.0.as_ref().ok_or_else(missing)?;
        let file = dir.open_beneath(file_name(id), Access::Read);
        let mut file = file.map_err(|error| match error.is_not_found() {
            true => missing(),
            false => io::Error::other(error),
        })?;
        let mut buffer = vec![0; 2048];
        let mut length = 0;
        loop {
            let count = file.read(&mut buffer[length..])?;
            length += count;
            if let Some(end) = buffer[..length].iter().position(|it| *it == b'\n') {
                buffer.truncate(end + 1);
                return Ok(buffer);
            }
            if count == 0 || length >= frame::LIMIT {
                return Err(io::Error::from(io::ErrorKind::InvalidData));
            }
            buffer.resize(frame::LIMIT, 0);
        }
    }
}

fn file_name(id: PackageId) -> String {
    format!("hof-{id}.json")
}
