//! Whether a path lies on a filesystem where locks and syncs mean what we need them to mean.
//!
//! The decision is by type, never by trial: over a FUSE mount `flock` and SQLite's WAL *seem* to
//! work and then do not hold across machines. A type not in the table is taken for local, because
//! new local filesystems appear more often than new network ones.
//!
//! It refuses nothing itself; callers refuse to keep state on what is not [`Filesystem::Local`].

use crate::failure::at;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Where the bytes of a path really are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filesystem {
    Local,
    /// On another machine, or shared with one.
    Network {
        kind: NetworkKind,
    },
    /// Served by a program, which may keep the bytes anywhere.
    Fuse,
}

/// Which protocol or product a network filesystem speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkKind {
    Acfs,
    Afs,
    BeeGfs,
    Ceph,
    Cifs,
    Coda,
    Gfs2,
    Gpfs,
    Lustre,
    Ncp,
    Nfs,
    NineP,
    Ocfs2,
    OrangeFs,
    PanFs,
    Parallels,
    Smb,
    StorNext,
    VirtualBox,
    VmWare,
}

/// A filesystem could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum FilesystemError {
    #[error("cannot tell the filesystem of `{0}`")]
    Type(PathBuf, #[source] io::Error),
    #[error("cannot tell the free space at `{0}`")]
    Space(PathBuf, #[source] io::Error),
}

/// Superblock numbers from `linux/magic.h` and, for filesystems outside the kernel tree, from
/// the table in coreutils' `stat`.
const NETWORK: &[(i64, NetworkKind)] = &[
    (0x0000_6969, NetworkKind::Nfs),
    (0x0000_517B, NetworkKind::Smb),
    (0xFF53_4D42, NetworkKind::Cifs),
    (0xFE53_4D42, NetworkKind::Smb),
    (0x0102_1997, NetworkKind::NineP),
    (0x5346_414F, NetworkKind::Afs),
    (0x6B41_4653, NetworkKind::Afs),
    (0x00C3_6400, NetworkKind::Ceph),
    (0x7375_7245, NetworkKind::Coda),
    (0x0000_564C, NetworkKind::Ncp),
    (0x0BD0_0BD0, NetworkKind::Lustre),
    (0x0116_1970, NetworkKind::Gfs2),
    (0x7461_636F, NetworkKind::Ocfs2),
    (0x4750_4653, NetworkKind::Gpfs),
    (0x1983_0326, NetworkKind::BeeGfs),
    (0x2003_0528, NetworkKind::OrangeFs),
    (0xAAD7_AAEA, NetworkKind::PanFs),
    (0x6163_6673, NetworkKind::Acfs),
    (0xBEEF_DEAD, NetworkKind::StorNext),
    (0x786F_4256, NetworkKind::VirtualBox),
    (0x7C7C_6673, NetworkKind::Parallels),
    (0xBACB_ACBC, NetworkKind::VmWare),
];

/// virtiofs and ntfs-3g carry it too.
const FUSE: i64 = 0x6573_5546;

impl Filesystem {
    /// The filesystem `path` lies on, or would lie on once it is created.
    pub fn of(path: &Path) -> Result<Self, FilesystemError> {
        let status = ask_existing(path, |path| rustix::fs::statfs(path))
            .map_err(at(path, FilesystemError::Type))?;
        Ok(classify(status.f_type))
    }
}

/// Bytes that this user may still write at `path`, or at its nearest existing ancestor.
pub fn free_space(path: &Path) -> Result<u64, FilesystemError> {
    let status = ask_existing(path, |path| rustix::fs::statvfs(path))
        .map_err(at(path, FilesystemError::Space))?;
    Ok(status.f_bavail.saturating_mul(status.f_frsize))
}

/// Decides by the number `statfs` reports as the filesystem's type.
#[must_use]
pub fn classify(magic: i64) -> Filesystem {
    if magic == FUSE {
        return Filesystem::Fuse;
    }
    NETWORK
        .iter()
        .find(|(known, _)| *known == magic)
        .map_or(Filesystem::Local, |(_, kind)| Filesystem::Network {
            kind: *kind,
        })
}

/// Asks at `path`, or where it does not exist yet at the ancestor it will be created in.
fn ask_existing<T>(
    path: &Path,
    ask: impl Fn(&Path) -> rustix::io::Result<T>,
) -> rustix::io::Result<T> {
    let missing = rustix::io::Errno::NOENT;
    for ancestor in path.ancestors() {
        let ancestor = if ancestor.as_os_str().is_empty() {
            Path::new(".")
        } else {
            ancestor
        };
        match ask(ancestor) {
            Err(errno) if errno == missing => {}
            answer => return answer,
        }
    }
    Err(missing)
}

impl fmt::Display for Filesystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local => f.write_str("a local filesystem"),
            Self::Network { kind } => write!(f, "a network filesystem ({kind})"),
            Self::Fuse => f.write_str("a FUSE filesystem"),
        }
    }
}

impl fmt::Display for NetworkKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Acfs => "ACFS",
            Self::Afs => "AFS",
            Self::BeeGfs => "BeeGFS",
            Self::Ceph => "Ceph",
            Self::Cifs => "CIFS",
            Self::Coda => "Coda",
            Self::Gfs2 => "GFS2",
            Self::Gpfs => "GPFS",
            Self::Lustre => "Lustre",
            Self::Ncp => "NCP",
            Self::Nfs => "NFS",
            Self::NineP => "9P",
            Self::Ocfs2 => "OCFS2",
            Self::OrangeFs => "OrangeFS",
            Self::PanFs => "PanFS",
            Self::Parallels => "Parallels shared folder",
            Self::Smb => "SMB",
            Self::StorNext => "StorNext",
            Self::VirtualBox => "VirtualBox shared folder",
            Self::VmWare => "VMware shared folder",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_alone_decides() {
        let table = [
            (0xEF53, "a local filesystem"),
            (0x5846_5342, "a local filesystem"),
            (0x9123_683E, "a local filesystem"),
            (0x0102_1994, "a local filesystem"),
            (0x794C_7630, "a local filesystem"),
            (0x6573_5546, "a FUSE filesystem"),
            (0x6969, "a network filesystem (NFS)"),
            (0x517B, "a network filesystem (SMB)"),
            (0xFE53_4D42, "a network filesystem (SMB)"),
            (0xFF53_4D42, "a network filesystem (CIFS)"),
            (0x0102_1997, "a network filesystem (9P)"),
            (0x5346_414F, "a network filesystem (AFS)"),
            (0x6B41_4653, "a network filesystem (AFS)"),
            (0x00C3_6400, "a network filesystem (Ceph)"),
            (0x7375_7245, "a network filesystem (Coda)"),
            (0x564C, "a network filesystem (NCP)"),
            (0x0BD0_0BD0, "a network filesystem (Lustre)"),
        ];
        for (magic, expected) in table {
            assert_eq!(classify(magic).to_string(), expected, "{magic:#x}");
        }
    }

    #[test]
    fn no_type_is_in_the_table_twice() {
        for (index, (magic, _)) in NETWORK.iter().enumerate() {
            assert!(
                NETWORK[..index].iter().all(|(other, _)| other != magic),
                "{magic:#x}"
            );
        }
    }
}
