//! A directory on which something is mounted, unmounted before it is removed.

use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::ambient;

#[derive(Debug)]
pub(crate) struct MountPoint {
    directory: TempDir,
    is_mounted: bool,
}

impl MountPoint {
    pub(crate) fn create() -> Self {
        let directory = tempfile::Builder::new()
            .prefix("ho-mount-")
            .tempdir()
            .expect("a temporary directory can be created");
        std::fs::create_dir(directory.path().join("m")).expect("the directory is empty");
        Self {
            directory,
            is_mounted: false,
        }
    }

    /// The directory that holds the mount point, on the filesystem of the machine.
    pub(crate) fn outside(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("m")
    }

    pub(crate) fn mount(&mut self, options: &[&str], source: &Path) -> io::Result<()> {
        ambient::run(
            ambient::program("mount")
                .args(options)
                .arg(source)
                .arg(self.path()),
        )?;
        self.is_mounted = true;
        Ok(())
    }

    pub(crate) fn unmount(&mut self) -> io::Result<()> {
        ambient::run(ambient::program("umount").arg(self.path()))?;
        self.is_mounted = false;
        Ok(())
    }
}

impl Drop for MountPoint {
    fn drop(&mut self) {
        if !self.is_mounted {
            return;
        }
        if let Err(error) = self.unmount() {
            // A process that a failing test left behind may still sit in it. The mount must go
            // from here all the same, or removing the directory would empty it.
            ambient::say(&format!("{error}; detaching it"));
            let mut detach = ambient::program("umount");
            if let Err(error) = ambient::run(detach.arg("--lazy").arg(self.path())) {
                ambient::say(&error.to_string());
            }
        }
    }
}
