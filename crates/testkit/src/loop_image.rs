//! A filesystem in a file, which can lose its power. Needs root.

mod shutdown;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::ambient;
use crate::mount_point::MountPoint;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filesystem {
    Ext4,
    Xfs,
}

impl Filesystem {
    fn mkfs(self) -> &'static str {
        match self {
            Self::Ext4 => "mkfs.ext4",
            Self::Xfs => "mkfs.xfs",
        }
    }

    /// The image is sparse, so only what is written takes space.
    fn image_size(self) -> u64 {
        const MEBIBYTE: u64 = 1024 * 1024;
        match self {
            Self::Ext4 => 64 * MEBIBYTE,
            // mkfs.xfs refuses less than 300.
            Self::Xfs => 400 * MEBIBYTE,
        }
    }
}

/// A mounted filesystem image, unmounted on drop.
///
/// What a test learns from it must be written outside, and all writers must be stopped before
/// [`go_down`](Self::go_down): an acknowledgement that arrives after it looks like lost data.
#[derive(Debug)]
pub struct LoopImage {
    mount_point: MountPoint,
}

impl LoopImage {
    #[must_use]
    pub fn ext4() -> Self {
        Self::create(Filesystem::Ext4)
    }

    #[must_use]
    pub fn xfs() -> Self {
        Self::create(Filesystem::Xfs)
    }

    /// # Panics
    /// When it cannot be made or mounted: ask for [`Need::LoopDevice`](crate::Need) first.
    #[must_use]
    pub fn create(filesystem: Filesystem) -> Self {
        let mut image = Self {
            mount_point: MountPoint::create(),
        };
        let file = File::create(image.file()).expect("the directory is ours");
        file.set_len(filesystem.image_size())
            .expect("a sparse file takes no space");
        let mut mkfs = ambient::program(find(filesystem.mkfs()));
        ambient::run(mkfs.arg("-q").arg(image.file())).expect("the image can be formatted");
        image.mount();
        image
    }

    /// The root of the mounted filesystem.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.mount_point.path()
    }

    /// A directory on the machine's own filesystem, for what must outlive the power loss.
    #[must_use]
    pub fn outside(&self) -> &Path {
        self.mount_point.outside()
    }

    /// Cuts the power: what is not on disk is lost, the journal in memory too. Every later call on
    /// the filesystem fails with EIO until [`remount`](Self::remount).
    ///
    /// # Panics
    /// When the filesystem refuses.
    pub fn go_down(&self) {
        shutdown::go_down(&self.path()).expect("root may shut a filesystem down");
    }

    /// Starts the machine again: the filesystem recovers from its journal.
    ///
    /// # Panics
    /// When a process still uses it, or recovery fails.
    pub fn remount(&mut self) {
        self.mount_point
            .unmount()
            .expect("nothing uses the filesystem");
        self.wait_until_free();
        self.mount();
    }

    /// A mount namespace that another test made meanwhile has a copy of the mount: as long as it
    /// lives the filesystem stays up, and mounting it again would give the one that lost its power.
    fn wait_until_free(&self) {
        let is_free = ambient::wait_until(Duration::from_secs(20), || {
            !is_backing_a_device(&self.file())
        });
        assert!(is_free, "another mount namespace keeps the filesystem");
    }

    /// [`go_down`](Self::go_down) and [`remount`](Self::remount).
    pub fn lose_power(&mut self) {
        self.go_down();
        self.remount();
    }

    /// `mount` takes a loop device and the kernel frees it at the unmount, so none can leak.
    fn mount(&mut self) {
        let file = self.file();
        self.mount_point
            .mount(&["-o", "loop"], &file)
            .expect("the image can be mounted");
    }

    fn file(&self) -> PathBuf {
        self.outside().join("image")
    }
}

fn is_backing_a_device(image: &Path) -> bool {
    let devices = fs::read_dir("/sys/block").expect("the kernel lists its devices");
    devices
        .flatten()
        .filter_map(|device| fs::read_to_string(device.path().join("loop/backing_file")).ok())
        .any(|backing| Path::new(backing.trim_end()) == image)
}

fn find(program: &str) -> PathBuf {
    ambient::find_program(program).unwrap_or_else(|| panic!("`{program}` is not installed"))
}
