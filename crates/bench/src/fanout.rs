//! handoff-fanout from its Python package, in an environment of its own.

use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};

use handoff_chores::program;

/// The newest that was published.
const PACKAGE: &str = "handoff-fanout==1.9.0";

/// Installs it if it is not there yet, and says where one of its programs is.
pub(super) fn provide(name: &str) -> Result<PathBuf> {
    let home = program::workspace_root().join("target/bench/fanout");
    let wanted = home.join("bin").join(name);
    if wanted.is_file() {
        return Ok(wanted);
    }
    ensure!(
        program::find_program("python3").is_some(),
        "there is no Python"
    );
    let mut make = program::program("python3");
    program::run(make.args(["-m", "venv"]).arg(&home)).context("cannot make an environment")?;
    let mut install = program::program(home.join("bin/pip"));
    install.args(["install", "--quiet", "--disable-pip-version-check", PACKAGE]);
    program::run(&mut install).context("pip cannot install it")?;
    ensure!(wanted.is_file(), "its package has no `{name}`");
    Ok(wanted)
}
