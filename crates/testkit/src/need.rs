//! What a test needs of the machine, and whether it is there.

use std::path::Path;

use crate::{ambient, fake_time, namespace, postgres};

/// Something that not every machine offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// User id 0, for mounts, namespaces and other users.
    Root,
    /// A server whose address the test run passes on: start tests with `cargo xtask`.
    Postgres,
    /// The programs of PostgreSQL, for a test that starts a server itself.
    PostgresPrograms,
    Strace,
    Tmux,
    /// Loop devices, with root and the tools of ext4.
    LoopDevice,
    /// The tools of XFS.
    Xfs,
    MountNamespace,
    TimeNamespace,
    Faketime,
    /// `/dev/fuse` and `bindfs`.
    Fuse,
    /// A kernel that holds a sandbox: Landlock as of Linux 6.2.
    Landlock,
    /// The Python of the system with `pygit2`.
    Libgit2,
    /// The Python of the system with `pytest`.
    Pytest,
    /// node with a test runner of its own.
    Node,
}

impl Need {
    #[must_use]
    pub fn is_met(self) -> bool {
        let has = |name| ambient::find_program(name).is_some();
        match self {
            Self::Root => ambient::is_root(),
            Self::Postgres => postgres::is_available(),
            Self::PostgresPrograms => postgres::is_installed(),
            Self::Strace => has("strace"),
            Self::Tmux => has("tmux"),
            Self::LoopDevice => {
                ambient::is_root() && Path::new("/dev/loop-control").exists() && has("mkfs.ext4")
            }
            Self::Xfs => has("mkfs.xfs"),
            Self::MountNamespace => namespace::works(&["--mount"]),
            Self::TimeNamespace => namespace::works(&["--time", "--fork"]),
            Self::Faketime => fake_time::library().is_some(),
            Self::Fuse => Path::new("/dev/fuse").exists() && has("bindfs"),
            Self::Landlock => holds_sandboxes(),
            Self::Libgit2 => has_module("pygit2"),
            Self::Pytest => has_module("pytest"),
            Self::Node => has("node"),
        }
    }

    /// The word for its absence, as `skips.toml` has it.
    #[must_use]
    pub fn absence(self) -> &'static str {
        match self {
            Self::Root => "no-root",
            Self::Postgres => "no-postgres",
            Self::PostgresPrograms => "no-postgres-programs",
            Self::Strace => "no-strace",
            Self::Tmux => "no-tmux",
            Self::LoopDevice => "no-loop-device",
            Self::Xfs => "no-xfs",
            Self::MountNamespace => "no-mount-namespace",
            Self::TimeNamespace => "no-time-namespace",
            Self::Faketime => "no-faketime",
            Self::Fuse => "no-fuse",
            Self::Landlock => "no-landlock",
            Self::Libgit2 => "no-libgit2",
            Self::Pytest => "no-pytest",
            Self::Node => "no-node",
        }
    }
}

fn holds_sandboxes() -> bool {
    use landlock::{ABI, AccessFs, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _};
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_write(ABI::V3))
        .and_then(Ruleset::create)
        .is_ok()
}

/// The Python of the system has what its packages bring.
fn has_module(name: &str) -> bool {
    let mut python = ambient::program("/usr/bin/python3");
    ambient::run(python.args(["-c", &format!("import {name}")])).is_ok()
}
