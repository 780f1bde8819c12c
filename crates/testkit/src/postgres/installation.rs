//! Where PostgreSQL's programs are, and as whom its server may run.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{Prefix, ambient};

/// The directory that holds `initdb`, `postgres` and `psql` of one version.
#[derive(Clone, Debug)]
pub(super) struct Installation {
    bindir: PathBuf,
}

impl Installation {
    /// The newest version in Debian's place, which is in nobody's PATH; else the one in PATH.
    pub(super) fn find() -> Option<Self> {
        let debian = newest_version(Path::new("/usr/lib/postgresql"));
        let bindir = debian.or_else(|| {
            let initdb = ambient::find_program("initdb")?.canonicalize().ok()?;
            initdb.parent().map(Path::to_owned)
        });
        bindir.map(|bindir| Self { bindir })
    }

    pub(super) fn program(&self, name: &str) -> PathBuf {
        self.bindir.join(name)
    }
}

fn newest_version(versions: &Path) -> Option<PathBuf> {
    let versions = fs::read_dir(versions).ok()?.flatten();
    versions
        .filter_map(|entry| {
            let version: u32 = entry.file_name().to_str()?.parse().ok()?;
            let bindir = entry.path().join("bin");
            bindir.join("initdb").is_file().then_some((version, bindir))
        })
        .max()
        .map(|(_, bindir)| bindir)
}

/// The user a server runs as. PostgreSQL refuses to run as root.
#[derive(Clone, Copy, Debug)]
pub(super) enum ServerUser {
    Ourselves,
    Other { uid: u32, gid: u32 },
}

impl ServerUser {
    /// Nobody but ourselves without root; with it `postgres`, or `nobody` where that is missing.
    pub(super) fn choose() -> Option<Self> {
        if !ambient::is_root() {
            return Some(Self::Ourselves);
        }
        let users = fs::read_to_string("/etc/passwd").ok()?;
        ["postgres", "nobody"]
            .into_iter()
            .find_map(|name| find_user(&users, name))
    }

    pub(super) fn prefix(self) -> Prefix {
        match self {
            Self::Ourselves => Prefix::none(),
            Self::Other { uid, gid } => {
                let (uid, gid) = (uid.to_string(), gid.to_string());
                Prefix::of([
                    "setpriv",
                    "--reuid",
                    &uid,
                    "--regid",
                    &gid,
                    "--clear-groups",
                ])
            }
        }
    }
}

fn find_user(users: &str, name: &str) -> Option<ServerUser> {
    users.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let [user, _password, uid, gid, ..] = fields[..] else {
            return None;
        };
        let (uid, gid) = (uid.parse().ok()?, gid.parse().ok()?);
        (user == name).then_some(ServerUser::Other { uid, gid })
    })
}

/// `setpriv` where it exists: the kernel ends the server when whoever started it dies, by the
/// signal that PostgreSQL takes as an immediate shutdown.
pub(super) fn die_with_parent() -> Prefix {
    match ambient::find_program("setpriv") {
        Some(setpriv) => Prefix::of([
            setpriv.as_os_str(),
            OsStr::new("--pdeathsig"),
            OsStr::new("QUIT"),
        ]),
        None => Prefix::none(),
    }
}
