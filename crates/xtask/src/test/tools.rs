//! The programs that tests use, installed where we may.

use std::path::Path;

use anyhow::{Result, bail};
use handoff_testkit::{Need, postgres};

use handoff_chores::output;
use handoff_chores::program::{cargo, find_program, program, run};

/// A Debian package and what shows that it is there.
struct Tool {
    package: &'static str,
    is_present: fn() -> bool,
}

const TOOLS: [Tool; 14] = [
    Tool {
        package: "postgresql",
        is_present: postgres::is_installed,
    },
    Tool {
        package: "strace",
        is_present: || has("strace"),
    },
    Tool {
        package: "tmux",
        is_present: || has("tmux"),
    },
    Tool {
        package: "faketime",
        is_present: || Need::Faketime.is_met(),
    },
    Tool {
        package: "xfsprogs",
        is_present: || has("mkfs.xfs"),
    },
    Tool {
        package: "e2fsprogs",
        is_present: || has("mkfs.ext4"),
    },
    Tool {
        package: "util-linux",
        is_present: || has("unshare") && has("setpriv"),
    },
    Tool {
        package: "git",
        is_present: || has("git"),
    },
    Tool {
        package: "bindfs",
        is_present: || has("bindfs"),
    },
    Tool {
        package: "fuse3",
        is_present: || has("fusermount3"),
    },
    Tool {
        package: "openssh-server",
        // It is on the path of the superuser only.
        is_present: || Path::new("/usr/sbin/sshd").exists() && has("ssh"),
    },
    Tool {
        package: "python3-pygit2",
        is_present: || Need::Libgit2.is_met(),
    },
    Tool {
        package: "python3-pytest",
        is_present: || Need::Pytest.is_met(),
    },
    Tool {
        package: "nodejs",
        is_present: || Need::Node.is_met(),
    },
];

pub(super) fn provide() -> Result<()> {
    let missing = missing_packages();
    if !missing.is_empty() && may_install() {
        install(&missing)?;
    }
    let still_missing = missing_packages();
    if !still_missing.is_empty() {
        bail!("install the Debian packages {}", still_missing.join(" "));
    }
    if !has("cargo-nextest") {
        output::say("cargo-nextest is missing and takes some minutes to build");
        run(&mut cargo(["install", "--locked", "cargo-nextest"]))?;
    }
    Ok(())
}

fn missing_packages() -> Vec<&'static str> {
    let missing = TOOLS.iter().filter(|tool| !(tool.is_present)());
    missing.map(|tool| tool.package).collect()
}

fn may_install() -> bool {
    Need::Root.is_met() && has("apt-get")
}

fn install(packages: &[&str]) -> Result<()> {
    run(program("apt-get").arg("update"))?;
    let mut install = program("apt-get");
    install
        .args(["install", "-y", "--no-install-recommends"])
        .args(packages);
    run(install.env("DEBIAN_FRONTEND", "noninteractive"))
}

fn has(name: &str) -> bool {
    find_program(name).is_some()
}
