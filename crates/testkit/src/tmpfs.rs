//! A filesystem in memory of a given size, for full disks. Needs root.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use crate::mount_point::MountPoint;

/// A mounted filesystem, unmounted on drop.
#[derive(Debug)]
pub struct Tmpfs {
    mount_point: MountPoint,
}

impl Tmpfs {
    /// # Panics
    /// When it cannot be mounted: ask for [`Need::Root`](crate::Need) first.
    #[must_use]
    pub fn mount(bytes: u64) -> Self {
        let mut mount_point = MountPoint::create();
        let options = ["-t", "tmpfs", "-o", &format!("size={bytes}")];
        mount_point
            .mount(&options, Path::new("tmpfs"))
            .expect("root may mount a tmpfs");
        Self { mount_point }
    }

    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.mount_point.path()
    }

    /// Takes all the space that is left.
    ///
    /// # Panics
    /// When writing fails for another reason than a full disk.
    pub fn fill(&self) {
        let mut file = File::create(self.filler()).expect("an empty file takes no block");
        let page = [0; 4096];
        loop {
            match file.write_all(&page) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::StorageFull => return,
                Err(error) => panic!("cannot fill {}: {error}", self.path().display()),
            }
        }
    }

    /// Gives back what [`fill`](Self::fill) took.
    ///
    /// # Panics
    /// When it was not called before.
    pub fn free(&self) {
        fs::remove_file(self.filler()).expect("`fill` was called before");
    }

    fn filler(&self) -> PathBuf {
        self.path().join("filler")
    }
}
