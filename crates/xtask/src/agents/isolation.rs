//! A network namespace with nothing but a loopback.

use std::ffi::OsString;

use anyhow::{Result, bail};

use handoff_chores::program;

/// Runs the hidden half of this chore where nobody can be reached.
pub(super) fn enter(options: &[OsString]) -> Result<()> {
    // A user may have a network namespace only inside a user namespace of its own.
    let how = if rustix::process::geteuid().is_root() {
        "-n"
    } else {
        "-rn"
    };
    let mut command = program::program("unshare");
    command.args([how, "--"]).arg(program::own()?);
    program::run(command.arg("agents-inside").args(options))
}

/// Switches the loopback on.
pub(super) fn loopback() -> Result<()> {
    let Some(ip) = program::find_program("ip") else {
        bail!("there is no `ip`, so the loopback stays off");
    };
    let status = program::program(ip)
        .args(["link", "set", "lo", "up"])
        .status()?;
    if !status.success() {
        bail!("the loopback stays off: {status}");
    }
    Ok(())
}
